import type { Json, JsonObject } from '../base/json.ts'
import { isJsonObject } from '../base/json.ts'
import { actionNodes, actionSchemaCompiler, readAction } from './actions.ts'
import { isAdvice } from './codes.ts'
import { collectEntries, collectItems, collectSettings } from './declarations.ts'
import type { Diagnostic } from './diagnostics.ts'
import { setDigest } from './digest.ts'
import { meantFact, meantFacts } from './fact-names.ts'
import { checkAgainstSchemas, factKey, readFacts } from './facts.ts'
import { type PolicyFile, type PolicySource, type ReadFiles, readFiles } from './files.ts'
import { readDomains } from './globs.ts'
import { leavesOf } from './kleene.ts'
import { LIMITS } from './limits.ts'
import { linkPolicySet } from './link.ts'
import { type Ignore, readIgnores, withoutIgnored } from './lint/ignore.ts'
import { type LintLevel, lint } from './lint/lint.ts'
import { type FindUntested, reportUntested } from './lint/untested.ts'
import { readLists } from './lists.ts'
import { withMeantNames } from './meant-names.ts'
import { readNamedConditions } from './named-conditions.ts'
import type { Names } from './names.ts'
import { itemsOf, lineOf, memberOf } from './node.ts'
import { type QuotedDiagnostic, quoted } from './output/quote.ts'
import { overTimeFacts, readOverTime } from './over-time.ts'
import { createReport, type Report } from './report.ts'
import { readFactor, readRule } from './rules.ts'
import type { ActionDeclaration, FactType, PolicyData, PolicySet } from './set.ts'
import { checkTenant, readSettings } from './settings.ts'
import { policyCode, shapeCheck } from './shape-check.ts'
import { PolicyDocument } from './shapes.ts'
import type { PolicyTest } from './tests/cases.ts'
import { readTests } from './tests/read.ts'

export { listFilesOf, MISSING, mayNameLists, type PolicySource, type TenantFolder } from './files.ts'

/** `set` is undefined when any diagnostic is an error. */
export interface LoadResult {
  set: PolicySet | undefined
  /** The tests of the folder; none without a set. */
  tests: readonly PolicyTest[]
  diagnostics: readonly Diagnostic[]
}

/** `data` is undefined when any diagnostic is an error. */
export interface CompiledPolicies {
  data: PolicyData | undefined
  /** The tests of the folder; none without data. They are not run here. */
  tests: readonly PolicyTest[]
  diagnostics: readonly QuotedDiagnostic[]
}

/**
 * What came of parsing that is bounded in time and memory; or why it did not end, as a predicate such as `takes more than
 * 20 s to load`.
 */
export type Outcome<T> = { value: T } | { fault: string }

/** What did not end is tried again after this long, though it is the same: it may have been the machine that was busy. */
export const RETRY_MS = 60_000

const checkShape = shapeCheck(PolicyDocument, policyCode)

/** The policy set that the files of a tenant make, or every fault that keeps it from being one. */
export function loadPolicySet(source: PolicySource): LoadResult {
  const { data, tests, diagnostics } = compilePolicySet(source)
  return { set: data && linkPolicySet(data), tests, diagnostics }
}

/**
 * Everything that can be said of the files: what loading says, and advice.
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

/** The only way from text to a set; what is left is to link it. Takes all the time that loading takes. */
export function compilePolicySet(source: PolicySource): CompiledPolicies {
  const report = createReport()
  const read = readSource(source, 'doubts', report)
  if (read === undefined) return { data: undefined, tests: [], diagnostics: quoted(report.diagnostics(), source) }
  const { data, tests, ignores, isLinted } = read
  // What was not looked for may be there.
  const shown = withoutIgnored(report, ignores, (code) => isLinted && !isAdvice(code))
  const diagnostics = quoted(shown, source)
  return report.failed() ? { data: undefined, tests: [], diagnostics } : { data, tests, diagnostics }
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
  return { ...set, tests, ignores: readIgnores([...files.policies, ...files.tests], report) }
}

function withNames(files: ReadFiles, policies: readonly PolicyFile[]): ReadFiles {
  return { ...files, policies: policies.map(({ name, root }) => ({ name, root: withMeantNames(root) })) }
}

/** Asked before anything else is checked, so that what is too much is not also checked in full. */
function hasTooManyRules(files: readonly PolicyFile[], report: Report): boolean {
  const rules = files.flatMap(({ root }) => itemsOf(memberOf(root, 'rules')))
  const tooMany = rules[LIMITS.rulesPerSet]
  if (tooMany === undefined) return false
  report.add('GATE1017', tooMany, `The set has ${rules.length} rules; at most ${LIMITS.rulesPerSet} are allowed.`)
  return true
}

interface ReadSet {
  data: PolicyData
  names: Names
  /** True when nothing was left unsaid about it. */
  isLinted: boolean
}

function readSet(source: PolicySource, files: ReadFiles, level: LintLevel, report: Report): ReadSet {
  const { policies } = files
  const [first = new Map(), ...more] = collectSettings(policies, report)
  const settings = readSettings(first, report)
  for (const other of more) readSettings(other, report)
  const names = readNames(source, files, report)
  const actions = readActions(policies, report)
  const overTime = readOverTime(policies, first.get('session'), names)
  for (const other of more) readOverTime([], other.get('session'), names)
  const conditions = readNamedConditions(names)
  const ruleNodes = collectItems(policies, 'rules', report)
  const rules = ruleNodes.flatMap((node) => readRule(node, names, settings.approval) ?? [])
  const factors = collectItems(policies, 'risk', report).flatMap((node) => readFactor(node, names) ?? [])
  const data: PolicyData = {
    tenant: source.tenant,
    digest: '',
    ...settings,
    domains: names.domains,
    facts: names.facts ?? new Map(),
    actions,
    ...overTime,
    conditions,
    conditionPlaces: names.conditionPlaces,
    rules,
    factors,
    lists: names.lists,
    comparisons: names.comparisons,
    files: policies.map(({ name }) => name),
  }
  checkLeaves(data, names)
  // Which of two keys is meant is not known, nor what follows from it.
  const isLinted = files.again.length === 0 && lint(data, names, files, level)
  if (report.failed()) return { data, names, isLinted }
  const documents = policies.map(({ root }) => root.value).filter(isJsonObject)
  return { data: { ...data, digest: setDigest(documents, usedListFiles(documents, names)) }, names, isLinted }
}

/** A check may ask all leaves of all candidates, so that their number is its cost. */
function checkLeaves({ rules, factors, conditions }: PolicyData, { nodes, report }: Names): void {
  let count = 0
  for (const candidate of [...rules, ...factors]) {
    count += candidate.condition === undefined ? 0 : leavesOf(candidate.condition, conditions).length
    if (count <= LIMITS.leavesPerSet) continue
    const place = nodes.get(candidate)
    const message = `Rules and factors ask more than ${LIMITS.leavesPerSet} comparisons, those of named conditions counted at each use.`
    if (place !== undefined) report.add('GATE1020', place, message)
    return
  }
}

function readActions(files: readonly PolicyFile[], report: Report): Map<string, ActionDeclaration> {
  const compiler = actionSchemaCompiler()
  collectEntries(files, 'actions', report)
  const nodes = files.flatMap(({ root }) => actionNodes(root))
  return new Map(nodes.map(({ name, node }) => [name, readAction(name, node, compiler, report)]))
}

function readOverTimeNames(files: readonly PolicyFile[], report: Report): Map<string, FactType> {
  const facts = files.flatMap(({ root }) => overTimeFacts(root))
  const tooMany = facts[LIMITS.overTimePerSet]
  if (tooMany !== undefined) {
    const message = `The set declares ${facts.length} facts over time; at most ${LIMITS.overTimePerSet} are allowed.`
    report.add('GATE1021', tooMany.key, message)
  }
  return new Map(facts.map(({ text, type }) => [text, type]))
}

function readNames(source: PolicySource, files: ReadFiles, report: Report): Names {
  const facts = collectEntries(files.policies, 'facts', report, factKey)
  const declared = readFacts(facts.all, report)
  checkAgainstSchemas(declared, facts.byName, files.policies, report)
  const conditions = collectEntries(files.policies, 'conditions', report)
  // Who asks for what a faulty name was meant to declare is not at fault too.
  const declaredFacts = new Set([...facts.byName.keys()].flatMap((name) => [name, meantFact(name, [], true) ?? name]))
  const overTime = readOverTimeNames(files.policies, report)
  const declaresFacts = files.policies.some(({ root }) => memberOf(root, 'facts')?.entries !== undefined)
  return {
    report,
    facts: declaresFacts ? declared : undefined,
    declaredFacts,
    overTime,
    factNames: [...meantFacts(declaredFacts), ...overTime.keys()],
    lists: readLists(collectEntries(files.policies, 'lists', report).all, source.lists, report),
    conditions: new Map([...conditions.byName].map(([name, { value }]) => [name, value])),
    conditionKeys: new Map([...conditions.byName].map(([name, { key }]) => [name, key])),
    conditionPlaces: new Map([...conditions.byName].map(([name, { key }]) => [name, lineOf(key)])),
    repeatedConditions: conditions.all.flatMap(({ name, value }) =>
      conditions.byName.get(name)?.value === value ? [] : [value],
    ),
    domains: readDomains(collectEntries(files.policies, 'domains', report).all, report),
    unsure: files.partial || files.policies.some(({ root }) => hasUnreadSection(root)),
    used: { lists: new Set(), conditions: new Set(), overTime: new Set() },
    nodes: new Map(),
    comparisons: [],
    indexes: new Map(),
  }
}

/** A section of names that is no mapping: what it declares is not known. */
function hasUnreadSection(root: PolicyFile['root']): boolean {
  return ['facts', 'lists', 'conditions', 'domains'].some((section) => {
    const node = memberOf(root, section)
    return node !== undefined && node.entries === undefined
  })
}

function usedListFiles(documents: readonly JsonObject[], names: Names): Map<string, readonly Json[]> {
  const files = new Map<string, readonly Json[]>()
  for (const { lists } of documents) {
    if (!isJsonObject(lists)) continue
    for (const [name, list] of Object.entries(lists)) {
      if (isJsonObject(list) && typeof list.file === 'string') files.set(list.file, names.lists.get(name) ?? [])
    }
  }
  return files
}
