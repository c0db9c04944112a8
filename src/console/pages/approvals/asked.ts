import type { Approval } from '../../../client/api.ts'
import { useAt } from '../../data/clock.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { useLoad } from '../../data/load.ts'
import { approvalIn } from '../../data/pending.ts'
import type { VoteKind } from './vote.ts'

/** One approval, checked against its chain by the service, and what helps to decide it. It follows what others do. */
export function useAsked(id: string) {
  const { gate, may } = useConsole()
  const approval = useLoad((signal) => gate.approvals.get(id, { signal }), [id])
  const background = useLoad(
    async (signal) => (may('approvalBackground') ? gate.approvals.background(id, { signal }) : undefined),
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

/** Why nothing can be voted now, as the service would say; undefined where it can be, or where that is not known. */
export function obstacleTo(kind: VoteKind, { background }: Pick<Asked, 'background'>): string | undefined {
  const permission = kind === 'approve' ? background.data?.mayVote : background.data?.mayReject
  return permission?.allowed === false ? (permission.reason ?? 'You may not decide this one.') : undefined
}

/** Who decided it, where that is known. */
export function deciderOf({ votes }: Approval): string | undefined {
  return votes.at(-1)?.principal
}
