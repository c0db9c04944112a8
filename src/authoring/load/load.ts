import { linkPolicySet } from '../../policies/link.ts'
import type { PolicyData, PolicySet } from '../../policies/set.ts'
import { isAdvice } from '../diagnostics/codes.ts'
import type { Diagnostic } from '../diagnostics/diagnostics.ts'
import { type QuotedDiagnostic, quoted } from '../diagnostics/quote.ts'
import { createReport, type Report } from '../diagnostics/report.ts'
import { type Ignore, readIgnores, withoutIgnored } from '../lint/ignore.ts'
import type { LintLevel } from '../lint/lint.ts'
import { type FindUntested, reportUntested } from '../lint/untested.ts'
import { policyCode, shapeCheck } from '../shapes/check.ts'
import { PolicyDocument } from '../shapes/document.ts'
import { withMeantNames } from '../suggest/meant-names.ts'
import type { PolicyTest } from '../test-files/cases.ts'
import { readTests } from '../test-files/read.ts'
import { itemsOf, memberOf } from '../yaml/node.ts'
import { type PolicySource, policyFilesOf } from './files.ts'
import { LIMITS } from './limits.ts'
import { type PolicyFile, type ReadFiles, readFiles } from './read-files.ts'
import { type ReadSet, readSet } from './read-set.ts'
import { checkTenant } from './settings.ts'
import type { PolicyValidation } from './validation.ts'

/** `set` is undefined when any diagnostic is an error. */
export interface LoadResult {
  set: PolicySet | undefined
  /** Tests of the folder; none without a set. */
  tests: readonly PolicyTest[]
  diagnostics: readonly Diagnostic[]
}

/** `data` is undefined when any diagnostic is an error. */
export interface CompiledPolicies {
  data: PolicyData | undefined
  /** Tests of the folder, not run; none without data. */
  tests: readonly PolicyTest[]
  diagnostics: readonly QuotedDiagnostic[]
}

const checkShape = shapeCheck(PolicyDocument, policyCode)

/** The policy set of a tenant's files, or every fault that keeps it from being one. */
export function loadPolicySet(source: PolicySource): LoadResult {
  const { data, tests, diagnostics } = compilePolicySet(source)
  return { set: data && linkPolicySet(data), tests, diagnostics }
}

/**
 * All diagnostics of the files: those of loading, and advice.
 *
 * @param findUntested runs the tests of a set without errors, if its folder has test files
 */
export async function lintPolicySet(source: PolicySource, findUntested: FindUntested): Promise<readonly Diagnostic[]> {
  const report = createReport()
  const read = readSource(source, 'advice', report)
  if (read === undefined) return report.diagnostics()
  const { data, names, tests, ignores, isLinted } = read
  const untested = tests.length === 0 || report.failed() ? undefined : await findUntested(data, tests)
  if (untested !== undefined) reportUntested(data, names, untested)
  return withoutIgnored(report, ignores, (code) => (code === 'GATE2101' ? untested !== undefined : isLinted))
}

/** The only way from text to a set, which is then linked. Takes nearly all the time of loading. */
export function compilePolicySet(source: PolicySource): CompiledPolicies {
  const report = createReport()
  const read = readSource(source, 'doubts', report)
  if (read === undefined) return { data: undefined, tests: [], diagnostics: quoted(report.diagnostics(), source) }
  const { data, tests, ignores, isLinted } = read
  // A fault that was not looked for may still be there.
  const shown = withoutIgnored(report, ignores, (code) => isLinted && !isAdvice(code))
  const diagnostics = quoted(shown, source)
  return report.failed() ? { data: undefined, tests: [], diagnostics } : { data, tests, diagnostics }
}

/** Summary of the set and every fault; nothing of the set is kept. */
export function validatePolicySet(source: PolicySource): PolicyValidation {
  const { data, diagnostics } = compilePolicySet(source)
  return {
    valid: data !== undefined,
    digest: data?.digest ?? null,
    files: policyFilesOf(source),
    rules: data?.rules.length ?? 0,
    factors: data?.factors.length ?? 0,
    diagnostics,
  }
}

interface ReadSource extends ReadSet {
  tests: readonly PolicyTest[]
  ignores: readonly Ignore[]
}

/** Undefined when the set is too large to be read. */
function readSource(source: PolicySource, level: LintLevel, report: Report): ReadSource | undefined {
  const files = readFiles(source, report)
  if (hasTooManyRules(files.policies, report)) return undefined
  for (const { root } of [...files.policies, ...files.again]) {
    checkShape(root, report)
    checkTenant(root, source.tenant, report)
  }
  const set = readSet(source, withNames(files, files.policies), level, report)
  if (files.again.length > 0) readSet(source, withNames(files, files.again), level, report)
  const tests = readTests(source.tenant, files, report)
  return {
    ...set,
    tests,
    ignores: readIgnores([...files.policies, ...files.tests], [...set.names.listSources.values()], report),
  }
}

function withNames(files: ReadFiles, policies: readonly PolicyFile[]): ReadFiles {
  return { ...files, policies: policies.map(({ name, root }) => ({ name, root: withMeantNames(root) })) }
}

/** Checked before anything else, so that an oversized set is not checked in full. */
function hasTooManyRules(files: readonly PolicyFile[], report: Report): boolean {
  const rules = files.flatMap(({ root }) => itemsOf(memberOf(root, 'rules')))
  const tooMany = rules[LIMITS.rulesPerSet]
  if (tooMany === undefined) return false
  report.add('GATE1017', tooMany, `The set has ${rules.length} rules; at most ${LIMITS.rulesPerSet} are allowed.`)
  return true
}
