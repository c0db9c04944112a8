import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { ActionDeclaration, PolicyData } from '../../policies/set.ts'
import { actionSchemaCompiler } from '../../policies/validators.ts'
import type { Report } from '../diagnostics/report.ts'
import { type LintLevel, lint } from '../lint/lint.ts'
import { actionNodes, readAction } from '../schemas/actions.ts'
import { collectEntries, collectItems, collectSettings } from './declarations.ts'
import { setDigest } from './digest.ts'
import type { PolicySource } from './files.ts'
import { readNamedConditions } from './named-conditions.ts'
import type { Names } from './names.ts'
import { readOverTime } from './over-time.ts'
import type { PolicyFile, ReadFiles } from './read-files.ts'
import { readNames } from './read-names.ts'
import { readFactor, readRule } from './rules.ts'
import { readSettings } from './settings.ts'
import { checkWork } from './work.ts'

export interface ReadSet {
  data: PolicyData
  names: Names
  /** True when lint omitted nothing. */
  isLinted: boolean
}

/** Reads the documents and lints them; faults are reported. The digest is empty when there is an error. */
export function readSet(source: PolicySource, files: ReadFiles, level: LintLevel, report: Report): ReadSet {
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
  checkWork(data, names)
  // It is unknown which of two equal keys is meant, and what follows from it.
  const isLinted = files.again.length === 0 && lint(data, names, files, level)
  if (report.failed()) return { data, names, isLinted }
  const documents = policies.map(({ root }) => root.value).filter(isJsonObject)
  return { data: { ...data, digest: setDigest(documents, usedListFiles(documents, names)) }, names, isLinted }
}

function readActions(files: readonly PolicyFile[], report: Report): Map<string, ActionDeclaration> {
  const compiler = actionSchemaCompiler()
  collectEntries(files, 'actions', report)
  const nodes = files.flatMap(({ root }) => actionNodes(root))
  return new Map(nodes.map(({ name, node }) => [name, readAction(name, node, compiler, report)]))
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
