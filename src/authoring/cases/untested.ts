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

/** Everything that can be said of the files: what loading says, advice, and what their tests leave out. */
export function lintWithTests(source: PolicySource): Promise<readonly Diagnostic[]> {
  return lintPolicySet(source, untestedBy)
}

/**
 * The rules and factors that no case makes match. Undefined where the tests would take too long, and are not run. Whether a
 * case passes is not asked.
 */
async function untestedBy(data: PolicyData, tests: readonly PolicyTest[]): Promise<readonly Untested[] | undefined> {
  const set = linkPolicySet(data)
  const run = tests.filter(({ skip }) => skip === undefined)
  if (firstBeyondLimit(set, run) !== undefined) return undefined
  const coverage = coverageOf(set)
  for (const asked of run.flatMap(casesOf)) coverage.add((await runCase(set, asked)).judgement)
  return coverage.items().flatMap(({ kind, name, asked, seen }) => {
    // Whatever else is never true is said by the analysis of conditions.
    const isUntested = kind !== 'comparison' && (asked === 0 || seen.get('true') === 0)
    return isUntested ? [{ kind, name, isAsked: asked > 0 }] : []
  })
}
