import type { Json, JsonObject } from '../base/json.ts'
import { isJsonObject } from '../base/json.ts'
import { schemaCompiler } from '../base/schema.ts'
import { actionNodes, readAction } from './actions.ts'
import { indexCandidates } from './candidates.ts'
import { collectEntries, collectItems, collectSettings } from './declarations.ts'
import type { Diagnostic } from './diagnostics.ts'
import { setDigest } from './digest.ts'
import { leafPreparer } from './engine.ts'
import { checkAgainstSchemas, factKey, readFacts } from './facts.ts'
import { type PolicyFile, type PolicySource, type ReadFiles, readFiles } from './files.ts'
import { readDomains } from './globs.ts'
import { leavesOf } from './kleene.ts'
import { LIMITS } from './limits.ts'
import { lint } from './lint.ts'
import { type ListFiles, readList } from './lists.ts'
import { localClock } from './local-time.ts'
import { readNamedConditions } from './named-conditions.ts'
import type { Names } from './names.ts'
import { type Entry, itemsOf, memberOf, textOf } from './node.ts'
import { createReport, type Report } from './report.ts'
import { readFactor, readRule } from './rules.ts'
import type { ActionDeclaration, Candidate, Evaluator, Leaf, PolicySet, Question } from './set.ts'
import { readSettings } from './settings.ts'
import { policyCode, shapeCheck } from './shape-check.ts'
import { PolicyDocument } from './shapes.ts'
import { checkTestFile } from './testfile.ts'

export { listFilesOf, type PolicySource } from './files.ts'

/** `set` is undefined when any diagnostic is an error. */
export interface LoadResult {
  set: PolicySet | undefined
  diagnostics: readonly Diagnostic[]
}

const checkShape = shapeCheck(PolicyDocument, policyCode)

/**
 * The policy set that the files of a tenant make, or every fault that keeps it from being one. The
 * only way from text to a set.
 */
export function loadPolicySet(source: PolicySource): LoadResult {
  const report = createReport()
  const files = readFiles(source, report)
  if (hasTooManyRules(files.policies, report)) return { set: undefined, diagnostics: report.diagnostics() }
  for (const { root } of files.policies) {
    checkShape(root, report)
    checkTenant(root, source.tenant, report)
  }
  const set = readSet(source, files, report)
  return { set: report.failed() ? undefined : set, diagnostics: report.diagnostics() }
}

/** Asked before anything else is checked, so that what is too much is not also checked in full. */
function hasTooManyRules(files: readonly PolicyFile[], report: Report): boolean {
  const rules = files.flatMap(({ root }) => itemsOf(memberOf(root, 'rules')))
  const tooMany = rules[LIMITS.rulesPerSet]
  if (tooMany === undefined) return false
  report.add('GATE1017', tooMany, `The set has ${rules.length} rules; at most ${LIMITS.rulesPerSet} are allowed.`)
  return true
}

function checkTenant(root: PolicyFile['root'], tenant: string, report: Report): void {
  const node = memberOf(root, 'tenant')
  const name = textOf(node)
  if (node === undefined || name === undefined || name === tenant) return
  report.add(
    'GATE1110',
    node,
    `The tenant is ${JSON.stringify(name)}, but the folder is called ${JSON.stringify(tenant)}.`,
    tenant,
  )
}

/** Of a set that is still being read. */
const NOTHING_ASKED: Evaluator = {
  about: () => ({ rules: [], factors: [], facts: [], answer: async () => new Map() }),
  ruleLeaves: [],
  factorLeaves: [],
}

function readSet(source: PolicySource, files: ReadFiles, report: Report): PolicySet {
  const { policies } = files
  const settings = readSettings(collectSettings(policies, report), report)
  const names = readNames(source, files, report)
  const actions = readActions(policies, report)
  const conditions = readNamedConditions(names)
  const ruleNodes = collectItems(policies, 'rules', report)
  const rules = ruleNodes.flatMap((node) => readRule(node, names, settings.approval) ?? [])
  const factors = collectItems(policies, 'risk', report).flatMap((node) => readFactor(node, names) ?? [])
  const set: PolicySet = {
    tenant: source.tenant,
    digest: '',
    ...settings,
    localTime: localClock(settings.timezone),
    domains: names.domains,
    facts: names.facts ?? new Map(),
    actions,
    conditions,
    rules,
    factors,
    files: policies.map(({ name }) => name),
    documents: policies.map(({ root }) => root.value).filter(isJsonObject),
    evaluator: NOTHING_ASKED,
  }
  for (const { root } of files.tests) checkTestFile(root, set, report)
  if (!files.partial) lint(set, names, files)
  if (report.failed()) return set
  return {
    ...set,
    digest: setDigest(set.documents, usedListFiles(set.documents, names)),
    evaluator: evaluatorOf(set, names),
  }
}

function readActions(files: readonly PolicyFile[], report: Report): Map<string, ActionDeclaration> {
  const compiler = schemaCompiler({ allErrors: false, checked: true })
  collectEntries(files, 'actions', report)
  const nodes = files.flatMap(({ root }) => actionNodes(root))
  return new Map(nodes.map(({ name, node }) => [name, readAction(name, node, compiler, report)]))
}

function readNames(source: PolicySource, files: ReadFiles, report: Report): Names {
  const factEntries = collectEntries(files.policies, 'facts', report, factKey)
  const facts = readFacts(factEntries, report)
  checkAgainstSchemas(facts, factEntries, files.policies, report)
  const conditions = collectEntries(files.policies, 'conditions', report)
  const declaresFacts = files.policies.some(({ root }) => memberOf(root, 'facts') !== undefined)
  return {
    report,
    facts: declaresFacts ? facts : undefined,
    declaredFacts: new Set(factEntries.keys()),
    lists: readLists(collectEntries(files.policies, 'lists', report), source.lists, report),
    conditions: new Map([...conditions].map(([name, { value }]) => [name, value])),
    domains: readDomains(collectEntries(files.policies, 'domains', report), report),
    partial: files.partial,
    used: { lists: new Set(), conditions: new Set() },
    nodes: new Map(),
    tests: [],
    indexes: new Map(),
  }
}

/** A list that cannot be read is known all the same, so that its users are not at fault too. */
function readLists(
  entries: ReadonlyMap<string, Entry>,
  files: ListFiles,
  report: Report,
): Map<string, readonly Json[]> {
  return new Map([...entries].map(([name, { value }]) => [name, readList(value, files, report) ?? []]))
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

/** Questions are kept for this many actions; a caller that makes up more only makes its own checks slower. */
const MAX_KEPT_QUESTIONS = 1000

function evaluatorOf(set: PolicySet, names: Names): Evaluator {
  const prepare = leafPreparer(names.tests)
  const distinct = (leaves: readonly Leaf[]): Leaf[] => [...new Map(leaves.map((leaf) => [leaf.index, leaf])).values()]
  const leaves = ({ condition }: Candidate): Leaf[] => (condition ? distinct(leavesOf(condition, set.conditions)) : [])
  const ruleLeaves = set.rules.map(leaves)
  const factorLeaves = set.factors.map(leaves)
  const rulesOf = indexCandidates(set.rules)
  const factorsOf = indexCandidates(set.factors)
  const makeQuestion = (action: string): Question => {
    const rules = rulesOf(action)
    const factors = factorsOf(action)
    const all = distinct([
      ...rules.flatMap((i) => ruleLeaves[i] ?? []),
      ...factors.flatMap((i) => factorLeaves[i] ?? []),
    ])
    const facts = [...new Map(all.map(({ fact }) => [fact.text, fact])).values()]
    return { rules, factors, facts, answer: prepare(all) }
  }
  const kept = new Map<string, Question>()
  return {
    ruleLeaves,
    factorLeaves,
    about(action) {
      const question = kept.get(action) ?? makeQuestion(action)
      if (kept.size >= MAX_KEPT_QUESTIONS) kept.clear()
      kept.set(action, question)
      return question
    },
  }
}
