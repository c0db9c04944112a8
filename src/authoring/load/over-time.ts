import type { Glob } from '../../base/glob.ts'
import { factPath, isPlural, SESSION_ACTIONS } from '../../policies/path.ts'
import { COUNTED_BY, type Counter, type FactType, type PolicyData } from '../../policies/set.ts'
import { type Entry, entriesOf, memberOf, type Node, type Place, textOf } from '../yaml/node.ts'
import { collectEntries } from './declarations.ts'
import { type KnownFact, REQUEST_ROOTS, readFactName, SESSION_HINT } from './fact-names.ts'
import { readGlobs } from './globs.ts'
import type { Names } from './names.ts'
import type { PolicyFile } from './read-files.ts'
import { readDuration } from './settings.ts'

const KINDS = [
  { kind: 'count', type: 'integer' },
  { kind: 'sum', type: 'number' },
] as const
type Kind = (typeof KINDS)[number]['kind']

/** Facts over time of a set. */
export type OverTime = Pick<PolicyData, 'session' | 'counters'>

interface DeclaredFact {
  readonly text: string
  readonly type: FactType
  /** Place of its declaration. */
  readonly key: Place
}

/** Facts over time that a document declares, by path text; those of faulty declarations too. */
export function overTimeFacts(root: Node): DeclaredFact[] {
  const section = root.entries?.get('session')
  const taken = entriesOf(memberOf(section?.value, 'taken'))
  const history = memberOf(root, 'history')
  return [
    ...(section === undefined ? [] : [{ text: SESSION_ACTIONS, type: 'list' as const, key: section.key }]),
    ...taken.map(({ name, key }) => ({ text: takenText(name), type: 'boolean' as const, key })),
    ...KINDS.flatMap(({ kind, type }) =>
      entriesOf(memberOf(history, kind)).map(({ name, key }) => ({ text: counterText(kind, name), type, key })),
    ),
  ]
}

/** The path text of the fact that a name under `session.taken` declares. */
function takenText(name: string): string {
  return factPath('session', ['taken', name]).text
}

/** The path text of the fact that a name under `history.count` or `history.sum` declares. */
function counterText(kind: Kind, name: string): string {
  return factPath('history', [kind, name]).text
}

/** Reads session and history; reports faults that their shapes cannot express. */
export function readOverTime(files: readonly PolicyFile[], session: Node | undefined, names: Names): OverTime {
  const counters = new Map<string, Counter>()
  for (const { kind } of KINDS) {
    for (const entry of collectEntries(files, `history.${kind}`, names.report).all) {
      const counter = readCounter(kind, entry, session !== undefined, names)
      const text = counterText(kind, entry.name)
      if (counter !== undefined && !counters.has(text)) counters.set(text, counter)
    }
  }
  return { session: session && readSession(session, names), counters }
}

function readSession(node: Node, names: Names): PolicyData['session'] {
  const taken = new Map<string, readonly Glob[]>()
  for (const { name, value } of entriesOf(memberOf(node, 'taken'))) {
    taken.set(takenText(name), readGlobs(value, names.report))
  }
  const fact = readRequestFact(memberOf(node, 'fact'), ['string'], 'A session is named by a text', names)
  return fact && { fact: fact.path, taken }
}

function readCounter(kind: Kind, { value }: Entry, hasSession: boolean, names: Names): Counter | undefined {
  const actions = readGlobs(memberOf(value, 'actions'), names.report)
  const within = memberOf(value, 'within')
  const withinMs = within && readDuration(within, names.report)
  const byNode = memberOf(value, 'by')
  const by = COUNTED_BY.find((known) => known === byNode?.value)
  const types = ['number', 'integer'] as const
  const sum = kind === 'sum' ? readRequestFact(memberOf(value, 'fact'), types, 'A sum is of numbers', names) : undefined
  if (by === 'session' && !hasSession && byNode !== undefined && !names.unsure) {
    names.report.add('GATE1216', byNode, `by: session needs ${SESSION_HINT}`)
  }
  if (withinMs === undefined || by === undefined || (kind === 'sum' && sum === undefined)) return undefined
  return { actions, sum: sum?.path, withinMs, by }
}

/** A fact of the request that is one value of one of these types. */
function readRequestFact(
  node: Node | undefined,
  types: readonly FactType[],
  rule: string,
  names: Names,
): KnownFact | undefined {
  const fact = readFactName(textOf(node) === undefined ? undefined : node, names)
  if (node === undefined || fact === undefined) return undefined
  const { path, type } = fact
  if (!REQUEST_ROOTS.has(path.root))
    return names.report.add('GATE1315', node, `${rule} of the request, under context or plan; ${path.text} is none.`)
  if (isPlural(path) || (type !== undefined && !types.includes(type)))
    return names.report.add('GATE1315', node, `${rule}; ${path.text} has the type ${type ?? 'list'}.`)
  return fact
}
