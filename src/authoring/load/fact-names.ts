import { type FactPath, isPlural, parseFactPath } from '../../policies/path.ts'
import type { FactType } from '../../policies/set.ts'
import { closest, editDistance, folded, synonyms } from '../suggest/closest.ts'
import { inAscii } from '../suggest/look-alikes.ts'
import type { Node } from '../yaml/node.ts'
import type { Names } from './names.ts'

/** Facts that are always present, with their types. `domain` has no value for an action in no domain. */
export const BUILT_IN_FACTS: ReadonlyMap<string, FactType> = new Map<string, FactType>([
  ['action', 'string'],
  ['domain', 'string'],
  ['tenant', 'string'],
  ['environment', 'string'],
  ['agent', 'string'],
  ['time.hour', 'integer'],
  ['time.weekday', 'string'],
])

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** Roots of the facts that a request brings. */
export const REQUEST_ROOTS: ReadonlySet<string> = new Set(['context', 'plan'])

const OVER_TIME_PATH = /^(?:session\.actions$|session\.taken[.[]|history\.(?:count|sum)[.[])/

/** Setting that facts about sessions need. */
export const SESSION_HINT = 'the setting session, such as session: {fact: context.session}.'

export interface KnownFact {
  readonly path: FactPath
  /** Undefined when nothing is known about it. */
  readonly type: FactType | undefined
}

/** The existing fact that a text names; otherwise the fault is reported at `node`. */
export function readFactName(node: Node | undefined, names: Names): KnownFact | undefined {
  if (node === undefined) return undefined
  if (typeof node.value !== 'string')
    return names.report.add('GATE1103', node, 'A fact is named by a text such as context.amount.')
  const path = parseFactPath(node.value)
  if (path === undefined) {
    const message =
      'A fact path is made of names with dots between; other characters are written ["a b"], and * at most once.'
    // A malformed path may well mean a path that is not declared.
    return names.report.add('GATE1204', node, message, meantBy(node.value, names, true))
  }
  const builtIn = BUILT_IN_FACTS.get(path.text)
  if (builtIn !== undefined) return { path, type: builtIn }
  if (OVER_TIME_PATH.test(path.text)) return overTimeFact(node, path, names)
  if (!REQUEST_ROOTS.has(path.root)) return unknownFact(node, path, names)
  if (path.segments.length === 0) return { path, type: 'object' }
  return declaredFact(node, path, names)
}

function unknownFact(node: Node, path: FactPath, names: Names): undefined {
  const known =
    path.root === 'time' ? 'use time.hour or time.weekday.' : 'facts of the request begin with context. or plan.'
  const message = `There is no fact ${path.text}; ${known}`
  names.report.add('GATE1205', node, message, meantBy(path.text, names))
}

function overTimeFact(node: Node, path: FactPath, names: Names): KnownFact | undefined {
  names.used.overTime.add(path.text)
  const type = names.overTime.get(path.text)
  if (type !== undefined) return { path, type }
  if (names.unsure) return undefined
  if (path.root === 'session' && !names.overTime.has('session.actions')) {
    const message = `${path.text} needs ${SESSION_HINT}`
    return names.report.add('GATE1216', node, message)
  }
  const section = path.root === 'history' ? `history.${path.segments[0]}` : 'session.taken'
  const suggestion = meantBy(path.text, names, false)
  // The fact that was meant counts as used.
  if (suggestion !== undefined) names.used.overTime.add(suggestion)
  return names.report.add(
    'GATE1203',
    node,
    `The fact ${path.text} is not declared under ${section}; declare it there, or correct it.`,
    suggestion,
  )
}

function declaredFact(node: Node, path: FactPath, names: Names): KnownFact | undefined {
  const plural = isPlural(path)
  if (names.facts === undefined) return { path, type: plural ? 'list' : undefined }
  const declared = names.facts.get(path.text) ?? (plural ? names.facts.get(prefixOf(path)) : undefined)
  if (declared !== undefined) return { path, type: plural ? 'list' : declared.type }
  if (!names.unsure && !names.declaredFacts.has(path.text)) {
    names.report.add(
      'GATE1203',
      node,
      `The fact ${path.text} is not declared under facts; declare it there, or correct it.`,
      meantBy(path.text, names),
    )
  }
  return undefined
}

/** The path before the `*`: declaring an object or list declares its members too. */
function prefixOf(path: FactPath): string {
  return path.text.slice(0, path.text.indexOf('.*'))
}

/** Path texts of all facts that a misspelt one may mean; malformed names are left out. */
export function meantFacts(declared: Iterable<string>): string[] {
  return [...[...declared].filter((name) => parseFactPath(name) !== undefined), ...BUILT_IN_FACTS.keys()]
}

function meantBy(
  text: string,
  { report, facts, factNames }: Names,
  mayBeNew = facts === undefined,
): string | undefined {
  return report.search(factNames, (known) => meantFact(text, known, mayBeNew))
}

// Prefixes that other languages put before a path, and signs around it.
const FOREIGN_ROOT = /^(?:\$|ctx|context|request|req|input|event|data|payload|args|arguments|params|resource|body)[.[]/i
const AROUND = /^[\s"'`“”‘’«»{$(]*|[\s"'`“”‘’«»})]*$/g
/** Names of other languages for the facts that are always present. */
const BUILT_IN_WORDS = synonyms({
  action: 'tool toolname operation method actionname',
  domain: 'category',
  tenant: 'org organization tenantname',
  environment: 'env stage mode',
  agent: 'user principal subject identity actor agentid agent.id agentname userid agent.name principal.id caller',
  'time.hour': 'hour hourofday now.hour',
  'time.weekday': 'weekday day dayofweek now.weekday time.day time.dayofweek',
})

/** The fact that a text probably means. */
export function meantFact(text: string, known: readonly string[], mayBeNew: boolean): string | undefined {
  if (text.length > 200) return undefined
  const plain = inAscii(text)
    .replace(AROUND, '')
    .replace(/^\$?\.?(?=context|plan)|^\.+/, '')
    .replace(/\[['"]?([A-Za-z0-9_*-]+)['"]?\]/g, '.$1')
    .replace(/\//g, '.')
    .replace(/\.{2,}/g, '.')
    .replace(/(?<=.)[.\s]+$/, '')
  const whole = closest(plain, known, BUILT_IN_WORDS)
  if (whole !== undefined && folded(whole) === folded(plain)) return whole
  // A shared beginning brings no two names nearer to each other.
  const near = whole === undefined || !isFarBelow(plain, whole) ? whole : undefined
  // A path below a foreign root, or below none, is read as one below context.
  let rest = plain
  while (FOREIGN_ROOT.test(rest)) rest = rest.slice(rest.search(/[.[]/) + 1)
  const below = known.find((name) => folded(name.slice(name.indexOf('.') + 1)) === folded(rest))
  if (below !== undefined) return below
  const bare = new Map([...known].reverse().map((name) => [name.slice(name.indexOf('.') + 1), name]))
  const nearest = near ?? bare.get(closest(rest, bare.keys()) ?? '')
  if (nearest !== undefined) return nearest
  return mayBeNew ? newFact(plain, rest, text) : undefined
}

/** True for two facts whose names below the same root have little in common. */
function isFarBelow(a: string, b: string): boolean {
  const [ofA, ofB] = [a, b].map((path) => /^(?:context|plan|time)\.(.+)$/.exec(path)?.[1])
  if (ofA === undefined || ofB === undefined || closest(ofA, [ofB]) !== undefined) return false
  return editDistance(ofA, ofB) > Math.max(ofA.length, ofB.length) / 3
}

/** A fact that need not be declared. Only a path with a foreign root, or with none, surely means one below context. */
function newFact(plain: string, rest: string, text: string): string | undefined {
  if (plain === '') return undefined
  const [root = '', ...below] = plain.split('.')
  const meantRoot = below.length === 0 ? undefined : closest(root, REQUEST_ROOTS)
  if (meantRoot !== undefined && meantRoot !== root) return newFact([meantRoot, ...below].join('.'), rest, text)
  const isOurs = /^(?:context|plan)\./.test(plain)
  if (BUILT_IN_ROOTS.has(rest) || (!isOurs && rest === plain && rest.includes('.'))) return undefined
  const segments = (isOurs ? plain : `context.${rest}`).split('.')
  // A segment with other characters is written ["a b"].
  const made = segments.map((one, i) =>
    i === 0 || /^(?:[\w-]+|\*)$/.test(one) ? `.${one}` : `[${JSON.stringify(one)}]`,
  )
  const path = made.join('').slice(1)
  return path !== text && parseFactPath(path) !== undefined ? path : undefined
}

/** Parts of the names of built-in facts, which are not facts of the request. */
const BUILT_IN_ROOTS: ReadonlySet<string> = new Set(['time', 'context', 'plan'])
