import { SERVICE } from '../../audit/draft.ts'
import { DAY_MS, formatTimestamp } from '../../base/time.ts'
import type { Reporter, Unreported, UnreportedQuery } from '../../store/queries.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { SETTLED } from './outcome-of.ts'

/** Age up to which allows without an outcome are sought. */
const LOOK_BACK_MS = DAY_MS
/** Limit of one agent's entries in a commit, for which other writes wait. */
const BATCH = 200

/**
 * Records allows whose outcome is missing. An agent is expected to report all of them from its first outcome on;
 * nothing is recorded of others.
 *
 * @param withinMs time limit of an outcome
 * @param onMissing called with the outcomes recorded as missing
 * @returns a function that searches all chains once
 */
export function outcomeWatch(
  deps: Deps,
  { withinMs, onMissing }: { withinMs: number; onMissing(chain: string, missing: readonly Unreported[]): void },
): () => Promise<void> {
  /** The seq before which all allows were checked, by chain and agent. */
  const seen = new Map<string, number>()
  const { store, clock } = deps

  const lookAt = async (chain: string, { agent, since }: Reporter, oldest: number, end: number): Promise<void> => {
    const name = `${chain} ${agent}`
    for (let first = Math.max(since, oldest, seen.get(name) ?? 0); first < end; ) {
      const missing = await recordMissing(deps, { chain, agent, first, end, limit: BATCH })
      if (missing.length > 0) onMissing(chain, missing)
      first = missing.length < BATCH ? end : (missing.at(-1)?.seq ?? end) + 1
      seen.set(name, first)
    }
  }

  return async () => {
    for (const chain of await store.chains()) {
      const reporters = await store.reporters(chain)
      if (reporters.length === 0) continue
      const nowMs = clock()
      const oldest = await store.seqNotBefore(chain, formatTimestamp(nowMs - LOOK_BACK_MS - withinMs))
      const end = await store.seqNotBefore(chain, formatTimestamp(nowMs - withinMs))
      for (const reporter of reporters) await lookAt(chain, reporter, oldest, end)
    }
  }
}

function recordMissing(deps: Deps, query: UnreportedQuery): Promise<readonly Unreported[]> {
  const { chain, agent } = query
  return decideAndCommit(deps.store, async () => {
    const missing = await deps.store.unreported(query)
    const entries = missing.map(({ decisionId, action }) =>
      eventEntry(deps, chain, 'outcome.missing', { decisionId, action, agent }, SERVICE),
    )
    const guards = missing.map(({ decisionId }) => ({ kind: 'noOutcome' as const, chain, decisionId, types: SETTLED }))
    const submission = missing.length === 0 ? null : { guards, writes: [], entries }
    return { submission, reply: () => missing }
  })
}
