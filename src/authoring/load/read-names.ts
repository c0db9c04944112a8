import type { FactType } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import { lineOf, memberOf } from '../yaml/node.ts'
import { collectEntries } from './declarations.ts'
import { meantFact, meantFacts } from './fact-names.ts'
import { checkAgainstSchemas, factKey, misspeltFacts, readFacts } from './facts.ts'
import type { PolicySource } from './files.ts'
import { readDomains } from './globs.ts'
import { LIMITS } from './limits.ts'
import { readLists } from './lists.ts'
import type { Names } from './names.ts'
import { overTimeFacts } from './over-time.ts'
import type { PolicyFile, ReadFiles } from './read-files.ts'

/** Names that the files declare; faults of their declarations are reported. */
export function readNames(source: PolicySource, files: ReadFiles, report: Report): Names {
  const facts = collectEntries(files.policies, 'facts', report, factKey)
  const declared = readFacts(facts.all, report)
  checkAgainstSchemas(declared, facts.byName, files.policies, report)
  const conditions = collectEntries(files.policies, 'conditions', report)
  // A user of the name that a faulty declaration meant is not at fault too.
  const declaredFacts = new Set([
    ...[...facts.byName.keys()].flatMap((name) => [name, meantFact(name, [], true) ?? name]),
    ...misspeltFacts(facts.byName, files.policies, report),
  ])
  const overTime = readOverTimeNames(files.policies, report)
  const { lists, sources } = readLists(collectEntries(files.policies, 'lists', report).all, source, report)
  const declaresFacts = files.policies.some(({ root }) => memberOf(root, 'facts')?.entries !== undefined)
  return {
    report,
    facts: declaresFacts ? declared : undefined,
    declaredFacts,
    overTime,
    factNames: [...meantFacts(declaredFacts), ...overTime.keys()],
    lists,
    listSources: sources,
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

/** True for a document with a section of names that is not a mapping: its declarations are unknown. */
function hasUnreadSection(root: PolicyFile['root']): boolean {
  return ['facts', 'lists', 'conditions', 'domains'].some((section) => {
    const node = memberOf(root, section)
    return node !== undefined && node.entries === undefined
  })
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
