import { linkPolicySet } from '../../policies/link.ts'
import type { PolicyData } from '../../policies/set.ts'
import type { Diagnostic } from '../diagnostics/diagnostics.ts'
import type { Untested } from '../lint/untested.ts'
import type { PolicySource } from '../load/files.ts'
import { lintPolicySet } from '../load/load.ts'
import type { PolicyTest } from '../test-files/cases.ts'
import { firstBeyondLimit } from './accept.ts'
import { casesOf } from './cases.ts'
import { coverageOf } from './coverage.ts'
import { runCase } from './run.ts'

/** All diagnostics of the files: those of loading, advice, and gaps of their tests. */
export function lintWithTests(source: PolicySource): Promise<readonly Diagnostic[]> {
  return lintPolicySet(source, untestedBy)
}

/**
 * Rules and factors that no case makes match, whether or not the case passes. Undefined where the tests would take
 * too long, and are not run.
 */
async function untestedBy(data: PolicyData, tests: readonly PolicyTest[]): Promise<readonly Untested[] | undefined> {
  const set = linkPolicySet(data)
  const run = tests.filter(({ skip }) => skip === undefined)
  if (firstBeyondLimit(set, run) !== undefined) return undefined
  const coverage = coverageOf(set)
  for (const asked of run.flatMap(casesOf)) coverage.add((await runCase(set, asked)).judgement)
  return coverage.items().flatMap(({ kind, name, asked, seen }) => {
    // The analysis of conditions reports comparisons that are never true.
    const isUntested = kind !== 'comparison' && (asked === 0 || seen.get('true') === 0)
    return isUntested ? [{ kind, name, isAsked: asked > 0 }] : []
  })
}
