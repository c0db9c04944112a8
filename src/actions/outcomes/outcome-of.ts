import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import type { EventType } from '../../audit/events.ts'
import type { Deps } from '../deps.ts'

/** The outcomes of an action after its decision. A failed action may have had effects. */
export const OUTCOME_STATUSES = ['succeeded', 'failed', 'not_run'] as const
export type OutcomeStatus = (typeof OUTCOME_STATUSES)[number]

/** Event types that record an outcome, and those that settle whether one came. */
export const RECORDED: readonly EventType[] = ['outcome.recorded']
export const SETTLED: readonly EventType[] = ['outcome.recorded', 'outcome.missing']

export type OutcomeData = {
  status: OutcomeStatus
  /** The action ran without an allow. */
  possibleBypass: boolean
  observed: boolean
  durationMs: number | null
}

export interface Outcome extends Omit<OutcomeData, 'status'> {
  /** `missing`: the action was allowed, and no outcome came. */
  status: OutcomeStatus | 'missing'
  /** Null also when it has been erased. */
  error: string | null
  recordedAt: string
  entryId: string
}

/** The recorded outcome of a decision of a trail; a late one replaces `missing`. */
export async function outcomeOf({ store }: Deps, trail: string, decisionId: string): Promise<Outcome | undefined> {
  const entries = await store.outcomeEntries(trail, decisionId, SETTLED)
  const entry = entries.find(({ header }) => RECORDED.includes(header.type as EventType)) ?? entries[0]
  return entry && outcomeIn(entry)
}

/** The outcome in an entry of SETTLED. */
export function outcomeIn(entry: StoredEntry): Outcome {
  const { id: entryId, ts: recordedAt, type } = entry.header
  if (type === 'outcome.missing') return { ...MISSING, recordedAt, entryId }
  // Only the service writes entries of the type.
  const { status, possibleBypass, observed, durationMs } = sectionValue(entry, 'data') as unknown as OutcomeData
  const detail = sectionValue(entry, 'detail') as { error: string } | undefined
  return { status, possibleBypass, observed, durationMs, error: detail?.error ?? null, recordedAt, entryId }
}

const MISSING = { status: 'missing', possibleBypass: true, observed: false, durationMs: null, error: null } as const
