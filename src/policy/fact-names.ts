import type { Names } from './names.ts'
import type { Node } from './node.ts'
import { type FactPath, isPlural, parseFactPath } from './path.ts'
import type { FactType } from './set.ts'
import { closest } from './suggest.ts'

/** The facts that are always there, with their types. `domain` has no value for an action in no domain. */
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

/** The roots under which a request brings facts of its own. */
export const REQUEST_ROOTS: ReadonlySet<string> = new Set(['context', 'plan'])

export interface KnownFact {
  readonly path: FactPath
  /** Undefined when nothing is known about it. */
  readonly type: FactType | undefined
}

/** The fact that a text names, if it names one that exists; else the fault is reported at `node`. */
export function readFactName(node: Node | undefined, names: Names): KnownFact | undefined {
  if (node === undefined) return undefined
  if (typeof node.value !== 'string') {
    names.report.add('GATE1103', node, 'A fact is named by a text.')
    return undefined
  }
  const path = parseFactPath(node.value)
  if (path === undefined) {
    const message =
      'A fact path is made of names with dots between; other characters are written ["a b"], and * at most once.'
    names.report.add('GATE1204', node, message)
    return undefined
  }
  const builtIn = BUILT_IN_FACTS.get(path.text)
  if (builtIn !== undefined) return { path, type: builtIn }
  if (!REQUEST_ROOTS.has(path.root)) return unknownFact(node, path, names)
  if (path.segments.length === 0) return { path, type: 'object' }
  return declaredFact(node, path, names)
}

function unknownFact(node: Node, path: FactPath, names: Names): undefined {
  const suggestion = closest(path.text, knownNames(names)) ?? bareName(path, names)
  names.report.add(
    'GATE1205',
    node,
    `There is no fact ${path.text}; facts of the request begin with context. or plan.`,
    suggestion,
  )
}

/** `amount` written for `context.amount`. */
function bareName(path: FactPath, names: Names): string | undefined {
  return knownNames(names).find((name) => name.slice(name.indexOf('.') + 1) === path.text)
}

function declaredFact(node: Node, path: FactPath, names: Names): KnownFact | undefined {
  const plural = isPlural(path)
  if (names.facts === undefined) return { path, type: plural ? 'list' : undefined }
  const declared = names.facts.get(path.text) ?? (plural ? names.facts.get(prefixOf(path)) : undefined)
  if (declared !== undefined) return { path, type: plural ? 'list' : declared.type }
  if (!names.partial && !names.declaredFacts.has(path.text)) {
    names.report.add(
      'GATE1203',
      node,
      `The fact ${path.text} is not declared under facts.`,
      closest(path.text, knownNames(names)),
    )
  }
  return undefined
}

/** What stands before the `*`: declaring an object or list declares what it holds. */
function prefixOf(path: FactPath): string {
  return path.text.slice(0, path.text.indexOf('.*'))
}

function knownNames(names: Names): string[] {
  return [...names.declaredFacts, ...BUILT_IN_FACTS.keys()]
}
