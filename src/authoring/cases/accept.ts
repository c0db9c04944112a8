import { linkPolicySet } from '../../policies/link.ts'
import type { PolicySet } from '../../policies/set.ts'
import { compareDiagnostics, type Diagnostic } from '../diagnostics/diagnostics.ts'
import { quoted } from '../diagnostics/quote.ts'
import { createReport } from '../diagnostics/report.ts'
import type { PolicySource } from '../load/files.ts'
import { LIMITS } from '../load/limits.ts'
import { type CompiledPolicies, compilePolicySet } from '../load/load.ts'
import { casesIn, type PolicyTest } from '../test-files/cases.ts'
import type { Place } from '../yaml/node.ts'
import { casesOf, combinationText } from './cases.ts'
import { differenceText } from './differences.ts'
import { type CaseResult, runCase } from './run.ts'

/**
 * Compiles the files of a tenant and runs their tests. A test that fails is an error like any other, so that the set does
 * not come into force.
 */
export async function compileAndTest(source: PolicySource): Promise<CompiledPolicies> {
  const { data, tests, diagnostics } = compilePolicySet(source)
  if (data === undefined || tests.length === 0) return { data, tests: [], diagnostics }
  const failures = await failuresOf(linkPolicySet(data), tests)
  const all = [...diagnostics, ...quoted(failures, source)].sort(compareDiagnostics)
  // The data goes on to be put in force, without its tests.
  return { data: failures.length === 0 ? data : undefined, tests: [], diagnostics: all }
}

/** The expectations that cases miss, each at its place; tests that would take too long are one fault, and are not run. */
async function failuresOf(set: PolicySet, tests: readonly PolicyTest[]): Promise<readonly Diagnostic[]> {
  const report = createReport()
  const run = tests.filter(({ skip }) => skip === undefined)
  const tooMuch = firstBeyondLimit(set, run)
  if (tooMuch !== undefined) {
    const message = `The cases of the tests ask more than ${LIMITS.comparisonsOfTests} comparisons; ask fewer combinations.`
    report.add('GATE1509', tooMuch.place, message)
    return report.diagnostics()
  }
  for (const asked of run.flatMap(casesOf)) {
    const result = await runCase(set, asked)
    for (const place of new Set(result.differences.map((difference) => difference.place)))
      report.add('GATE1506', place, failureText(result, place))
  }
  return report.diagnostics()
}

/** `Test "refunds" fails for payment.refund, context large: decision is deny, wanted allow.` */
function failureText({ asked, differences }: CaseResult, place: Place): string {
  const here = differences.filter((difference) => difference.place === place)
  const all = here.map(differenceText).join('; ')
  return `Test ${JSON.stringify(asked.test.name)} fails for ${combinationText(asked)}: ${all}.`
}

/** The first test at which the comparisons exceed the limit. Each case counts all comparisons about its action. */
export function firstBeyondLimit({ evaluator }: PolicySet, tests: readonly PolicyTest[]): PolicyTest | undefined {
  let comparisons = 0
  return tests.find((test) => {
    for (const action of test.actions) {
      const { rules, factors } = evaluator.about(action)
      const leaves = [...rules, ...factors].map(evaluator.leavesOf)
      comparisons += casesIn({ ...test, actions: [action] }) * leaves.reduce((sum, { length }) => sum + length + 1, 0)
      if (comparisons > LIMITS.comparisonsOfTests) return true
    }
    return false
  })
}
