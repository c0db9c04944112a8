import type { PolicySet } from '../../policies/set.ts'
import { actionKinds } from './actions.ts'
import { changesBetween, type SetChange } from './changes.ts'
import { searchOf } from './search.ts'
import { DIFFERENCES, type Witness } from './witness.ts'

/** Requests that are decided by both sets, in all, and about one kind of action. */
const MAX_CELLS = 40_000
const MIN_PER_KIND = 1000
/** Witnesses in a result. */
const MAX_WITNESSES = 50

export interface Diff {
  from: string
  to: string
  changes: (SetChange & {
    /** Position in `witnesses` of a request that shows it; null where none was found. */
    witness: number | null
  })[]
  witnesses: Witness[]
  /** Requests that both sets decided. */
  cells: number
  /** True when every combination of the values at hand was tried. */
  exhaustive: boolean
  /** Kinds of actions about which both say the same, and others. */
  actions: { same: number; tried: number }
}

/**
 * Differences in meaning between two sets: what their texts say differently, and requests that they decide differently,
 * found from the constants at hand and decided by both. A search that finds none proves nothing.
 *
 * @param onProgress called with the share that is done
 */
export function diffSets(a: PolicySet, b: PolicySet, onProgress: (share: number) => void = () => undefined): Diff {
  const changes = changesBetween(a, b)
  const { differing, same } = actionKinds(a, b)
  const witnesses = new Map<string, Witness>()
  const limit = Math.max(MIN_PER_KIND, Math.floor(MAX_CELLS / Math.max(1, differing.length)))
  let [cells, exhaustive] = [0, true]
  for (const [i, action] of differing.entries()) {
    const search = searchOf([a, b], action, witnesses)
    const tried = search(limit)
    cells += tried.cells
    exhaustive &&= tried.exhaustive
    onProgress((i + 1) / differing.length)
  }
  const found = [...witnesses.values()].sort(
    (x, y) => DIFFERENCES.indexOf(x.difference) - DIFFERENCES.indexOf(y.difference),
  )
  const listed = found.slice(0, MAX_WITNESSES)
  return {
    ...{ from: a.digest, to: b.digest, cells, exhaustive, witnesses: listed },
    changes: changes.map((change) => ({ ...change, witness: witnessOf(change, listed) })),
    actions: { same, tried: differing.length },
  }
}

/** A witness in which the rule decides on one side; for others, any that shows a difference of that kind. */
function witnessOf({ what, name }: SetChange, witnesses: readonly Witness[]): number | null {
  const at = witnesses.findIndex(({ from, to }) => what === 'rule' && (from.rule === name || to.rule === name))
  if (at >= 0) return at
  const other = witnesses.findIndex(
    ({ difference }) => what !== 'rule' && (what === 'setting' || difference === 'risk' || difference === 'decision'),
  )
  return other < 0 ? null : other
}
