import { useEffect, useState } from 'preact/hooks'
import type { PolicyTexts, Replay } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { failure, useLoad } from '../../data/load.ts'
import { addressOf, go, usePlace } from '../../data/place.ts'
import { draftOf, type Form } from './dry-run-state.ts'

const HOUR_MS = 3_600_000
/** Ranges of time up to now, by the labels of their buttons. */
export const RANGES = { '1 hour': HOUR_MS, '24 hours': 24 * HOUR_MS, '7 days': 168 * HOUR_MS, '30 days': 720 * HOUR_MS }
export type Range = keyof typeof RANGES

export type ReplayReport = NonNullable<Replay['report']>

/** Interval between two looks at a replay under way. */
const LOOK_MS = 500

/** The choice of changed decisions, as in the address. */
export interface ChangeFilter {
  from: string
  to: string
  rule: string
}

/** The address of a replay, and of changed decisions in it. */
export function replayAddress(id = '', filter: Partial<ChangeFilter> = {}): string {
  return addressOf(['policies', 'replay'], { id, ...filter })
}

/** The input of a replay, which begins with the draft of the dry run. */
export function useReplayForm(draft: Form, texts: PolicyTexts | undefined) {
  const { gate } = useConsole()
  const [range, setRange] = useState<Range>('24 hours')
  const [history, setHistory] = useState<Replay['history']>('recorded')
  const [action, setAction] = useState('')
  const [error, setError] = useState<GateError | undefined>()
  const [isBusy, setIsBusy] = useState(false)
  const begin = async (): Promise<void> => {
    setIsBusy(true)
    setError(undefined)
    try {
      const from = new Date(Date.now() - RANGES[range]).toISOString()
      const pattern = action.trim()
      const chosen = { from, history, ...(pattern !== '' && { action: pattern }) }
      const { id } = await gate.replays.begin({ ...draftOf(draft, texts), ...chosen })
      go(replayAddress(id))
    } catch (caught) {
      setError(failure(caught))
    } finally {
      setIsBusy(false)
    }
  }
  return { range, setRange, history, setHistory, action, setAction, error, isBusy, begin }
}

/** The replay of the address, looked at until it ends. */
export function useReplay(id: string) {
  const { gate } = useConsole()
  const replay = useLoad((signal) => gate.replays.get(id, { signal }), [id])
  const isOpen = replay.error === undefined && (replay.data === undefined || isUnderWay(replay.data))
  useEffect(() => {
    if (!isOpen) return
    const timer = setInterval(replay.poll, LOOK_MS)
    return () => clearInterval(timer)
  }, [isOpen, id])
  return replay
}

export function isUnderWay({ status }: Pick<Replay, 'status'>): boolean {
  return status === 'waiting' || status === 'running'
}

/** The replay, and the choice among its changes, that the address names. */
export function useReplayPlace(): { id: string; filter: ChangeFilter } {
  const { query } = usePlace()
  const [id = '', from = '', to = '', rule = ''] = ['id', 'from', 'to', 'rule'].map((name) => query.get(name) ?? '')
  return { id, filter: { from, to, rule } }
}
