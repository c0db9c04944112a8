import { SERVICE } from '../../audit/entry.ts'
import { DAY_MS, formatTimestamp } from '../../base/time.ts'
import type { Reporter, Unreported, UnreportedQuery } from '../../store/queries.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { SETTLED } from './outcome-of.ts'

/** Allows are looked back at for this long. */
const LOOK_BACK_MS = DAY_MS
/** Of one agent, at once: others wait for it. */
const BATCH = 200

export interface OutcomeWatch {
  /** Looks at all chains once. */
  look(): Promise<void>
}

/**
 * Looks for allows whose outcome never came. From its first outcome on, an agent is taken to report them all: of others nothing is
 * known, and nothing said.
 *
 * @param withinMs an outcome has so long to come
 * @param onMissing told of what has been recorded as missing
 */
export function outcomeWatch(
  deps: Deps,
  { withinMs, onMissing }: { withinMs: number; onMissing(chain: string, missing: readonly Unreported[]): void },
): OutcomeWatch {
  /** By chain and agent, all before has been looked at. */
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

  return {
    async look() {
      for (const chain of await store.chains()) {
        const reporters = await store.reporters(chain)
        if (reporters.length === 0) continue
        const nowMs = clock()
        const oldest = await store.seqNotBefore(chain, formatTimestamp(nowMs - LOOK_BACK_MS - withinMs))
        const end = await store.seqNotBefore(chain, formatTimestamp(nowMs - withinMs))
        for (const reporter of reporters) await lookAt(chain, reporter, oldest, end)
      }
    },
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
