import type { Glob } from '../../base/glob.ts'
import { memo } from '../../base/memo.ts'
import { ANYWHERE, indexCandidates, startOf } from '../../policies/candidates.ts'
import { leavesOf } from '../../policies/kleene.ts'
import type { Factor, Leaf, PolicyData, Rule } from '../../policies/set.ts'
import { LIMITS } from './limits.ts'
import type { Names } from './names.ts'

/** Most actions whose comparisons are counted. */
const MAX_ACTIONS = 1000
/** An action that only patterns for any action meet. */
const ANY_ACTION = 'any-other-action'

/** Reports a set of which a single check may have to do too much, as far as the set alone tells. */
export function checkWork(data: PolicyData, names: Names): void {
  const candidates = [...data.rules, ...data.factors]
  const leavesBelow = memo(({ condition }: Rule | Factor) =>
    condition === undefined ? [] : leavesOf(condition, data.conditions),
  )
  const fault =
    tooManyLeaves(candidates, leavesBelow) ??
    tooManyOfAction(data, candidates, leavesBelow) ??
    tooManyGlobs(data, candidates)
  const place = fault && names.nodes.get(fault.at)
  if (place !== undefined) names.report.add('GATE1020', place, fault?.message ?? '')
}

interface Fault {
  at: Rule | Factor
  message: string
}
type LeavesBelow = (candidate: Rule | Factor) => readonly Leaf[]

function tooManyLeaves(candidates: readonly (Rule | Factor)[], leavesBelow: LeavesBelow): Fault | undefined {
  let count = 0
  for (const at of candidates) {
    count += leavesBelow(at).length
    const message = `Rules and factors ask more than ${LIMITS.leavesPerSet} comparisons, those of named conditions counted at each use.`
    if (count > LIMITS.leavesPerSet) return { at, message }
  }
  return undefined
}

/** Tries the actions that the set names, and one that it does not: a check of others may still want more. */
function tooManyOfAction(
  { actions, comparisons }: PolicyData,
  candidates: readonly (Rule | Factor)[],
  leavesBelow: LeavesBelow,
): Fault | undefined {
  if (comparisons.length <= LIMITS.leavesPerAction) return undefined
  const exact = candidates.flatMap((candidate) => candidate.actions.filter((glob) => glob.exact))
  const named = new Set([ANY_ACTION, ...actions.keys(), ...exact.map(({ text }) => text)])
  const positionsAt = indexCandidates(candidates)
  for (const action of [...named].slice(0, MAX_ACTIONS)) {
    const asked = new Set<number>()
    for (const position of positionsAt(action)) {
      const at = candidates[position]
      if (at === undefined) continue
      for (const { index } of leavesBelow(at)) asked.add(index)
      const of = action === ANY_ACTION ? 'any action' : action
      const message = `Rules and factors about ${of} ask more than ${LIMITS.leavesPerAction} comparisons; a check has no time for more.`
      if (asked.size > LIMITS.leavesPerAction) return { at, message }
    }
  }
  return undefined
}

/** An action that was not asked before is compared with the patterns with a `*` that begin as it does, or with a `*`. */
function tooManyGlobs(
  { domains, counters, session }: PolicyData,
  candidates: readonly (Rule | Factor)[],
): Fault | undefined {
  const byStart = new Map<string, number>()
  const add = (start: string, globs: readonly Glob[]): number => {
    const sum = globs.reduce((characters, glob) => characters + glob.text.length, byStart.get(start) ?? 0)
    byStart.set(start, sum)
    return sum
  }
  const beside = [...domains.values(), ...[...counters.values()].map(({ actions }) => actions)]
  for (const globs of [...beside, ...(session?.taken.values() ?? [])]) {
    add(
      ANYWHERE,
      globs.filter((glob) => !glob.exact),
    )
  }
  for (const at of candidates) {
    for (const glob of at.actions.filter((one) => !one.exact)) {
      const start = startOf(glob)
      const sum = add(start, [glob]) + (start === ANYWHERE ? 0 : add(ANYWHERE, []))
      const message = `Action patterns with a * that begin alike have more than ${LIMITS.globCharacters} characters together; name actions, or use fewer patterns.`
      if (sum > LIMITS.globCharacters) return { at, message }
    }
  }
  return undefined
}
