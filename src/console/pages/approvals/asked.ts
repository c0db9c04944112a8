import type { Approval } from '../../../client/api.ts'
import { pause } from '../../../client/pause.ts'
import { useAt } from '../../data/clock.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { useLoad } from '../../data/load.ts'
import { approvalIn } from '../../data/pending.ts'

/**
 * One approval, verified against its chain by the service, and its background. It follows changes by others.
 *
 * @param restMs pause before the service is asked
 */
export function useAsked(id: string, restMs = 0) {
  const { gate, may } = useConsole()
  const approval = useLoad(
    async (signal) => {
      await pause(restMs, signal)
      return gate.approvals.get(id, { signal })
    },
    [id],
  )
  const background = useLoad(
    async (signal) => {
      await pause(restMs, signal)
      return may('approvalBackground') ? gate.approvals.background(id, { signal }) : undefined
    },
    [id],
  )
  const reload = (): void => {
    approval.reload()
    background.reload()
  }
  useChanges(['killswitch'], reload)
  useChanges(['approval'], reload, (event) => approvalIn(event)?.id === id)
  const { status, expiresAt } = approval.data ?? {}
  useAt(status === 'pending' && expiresAt !== undefined ? Date.parse(expiresAt) : undefined, approval.data, reload)
  return { approval, background }
}

export type Asked = ReturnType<typeof useAsked>

/** The deciding vote, if known. A cancelled approval may have votes, but none of them decided it. */
export function deciderOf({ votes, status }: Approval): Approval['votes'][number] | undefined {
  return ['approved', 'consumed', 'rejected'].includes(status) ? votes.at(-1) : undefined
}
