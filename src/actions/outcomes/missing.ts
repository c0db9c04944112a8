import { inTrailOrder, trailOf } from '../../audit/chain.ts'
import { SERVICE } from '../../audit/draft.ts'
import { DAY_MS, formatTimestamp } from '../../base/time.ts'
import type { Reporter, Unreported, UnreportedQuery } from '../../store/queries.ts'
import type { Store } from '../../store/store.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { SETTLED } from './outcome-of.ts'

/** Age up to which allows without an outcome are sought. */
const LOOK_BACK_MS = DAY_MS
/** Limit of one agent's entries in a commit, for which other writes wait. */
const BATCH = 200

/**
 * Records allows whose outcome is missing. An agent is expected to report all of them from its first outcome on, in
 * whichever lanes they stand; nothing is recorded of others.
 *
 * @param withinMs time limit of an outcome
 * @param onMissing called with the outcomes of a trail recorded as missing
 * @returns a function that searches all chains once
 */
export function outcomeWatch(
  deps: Deps,
  { withinMs, onMissing }: { withinMs: number; onMissing(trail: string, missing: readonly Unreported[]): void },
): () => Promise<void> {
  /** The seq before which all allows were checked, by chain and agent. */
  const seen = new Map<string, number>()
  const { store, clock } = deps

  const lookAt = async (chain: string, reporter: Reporter, oldest: number, end: number): Promise<void> => {
    const { agent } = reporter
    const name = `${chain} ${agent}`
    for (let first = Math.max(oldest, seen.get(name) ?? (await firstAfter(store, chain, reporter))); first < end; ) {
      const missing = await recordMissing(deps, { chain, agent, first, end, limit: BATCH })
      if (missing.length > 0) onMissing(trailOf(chain), missing)
      first = missing.length < BATCH ? end : (missing.at(-1)?.seq ?? end) + 1
      seen.set(name, first)
    }
  }

  const searchChain = async (chain: string, reporters: readonly Reporter[]): Promise<void> => {
    const nowMs = clock()
    const oldest = await store.seqNotBefore(chain, formatTimestamp(nowMs - LOOK_BACK_MS - withinMs))
    const end = await store.seqNotBefore(chain, formatTimestamp(nowMs - withinMs))
    if (oldest < end) for (const reporter of reporters) await lookAt(chain, reporter, oldest, end)
  }

  return async () => {
    for (const trail of new Set((await store.chains()).map(trailOf))) {
      const reporters = await store.reporters(trail)
      if (reporters.length === 0) continue
      for (const chain of await store.lanes(trail)) await searchChain(chain, reporters)
    }
  }
}

/** First seq of a chain that lies after the first report, in the order of their trail. */
async function firstAfter(store: Store, chain: string, report: Reporter): Promise<number> {
  if (chain === report.chain) return report.seq + 1
  const isBehind = inTrailOrder({ ...report, chain, seq: 0 }, report) > 0
  return store.seqNotBefore(chain, isBehind ? report.ts : formatTimestamp(Date.parse(report.ts) + 1))
}

function recordMissing(deps: Deps, query: UnreportedQuery): Promise<readonly Unreported[]> {
  const { agent } = query
  const chain = trailOf(query.chain)
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
