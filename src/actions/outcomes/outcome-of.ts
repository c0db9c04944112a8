import { type StoredEntry, sectionValue } from '../../audit/chain.ts'
import type { EventType } from '../../audit/events.ts'
import type { Deps } from '../deps.ts'

/** What can become of an action after its decision. A failed one may have had effects. */
export const OUTCOME_STATUSES = ['succeeded', 'failed', 'not_run'] as const
export type OutcomeStatus = (typeof OUTCOME_STATUSES)[number]

/** The entries that tell an outcome, and those that settle whether one came. */
export const RECORDED: readonly EventType[] = ['outcome.recorded']
export const SETTLED: readonly EventType[] = ['outcome.recorded', 'outcome.missing']

/** What an agent says of an outcome. */
export type OutcomeData = {
  status: OutcomeStatus
  /** It ran without an allow. */
  possibleBypass: boolean
  observed: boolean
  durationMs: number | null
}

export interface Outcome extends Omit<OutcomeData, 'status'> {
  /** `missing`: it was allowed, and its outcome never came. */
  status: OutcomeStatus | 'missing'
  /** Null also where it has been erased. */
  error: string | null
  recordedAt: string
  /** Of its audit entry. */
  entryId: string
}

/** What is recorded of the outcome of a decision; one that came late counts, and not that it was missing. */
export async function outcomeOf({ store }: Deps, chain: string, decisionId: string): Promise<Outcome | undefined> {
  const entries = await store.outcomeEntries(chain, decisionId, SETTLED)
  const entry = entries.find(({ header }) => RECORDED.includes(header.type as EventType)) ?? entries[0]
  return entry && outcomeIn(entry)
}

/** What an entry of SETTLED says. */
export function outcomeIn(entry: StoredEntry): Outcome {
  const { id: entryId, ts: recordedAt, type } = entry.header
  if (type === 'outcome.missing') return { ...MISSING, recordedAt, entryId }
  // Only the service writes entries of the type.
  const { status, possibleBypass, observed, durationMs } = sectionValue(entry, 'data') as unknown as OutcomeData
  const detail = sectionValue(entry, 'detail') as { error: string } | undefined
  return { status, possibleBypass, observed, durationMs, error: detail?.error ?? null, recordedAt, entryId }
}

const MISSING = { status: 'missing', possibleBypass: true, observed: false, durationMs: null, error: null } as const
