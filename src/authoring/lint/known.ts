import { ENVIRONMENTS } from '../../base/environment.ts'
import { type Glob, globContains, globMatches, globsIntersect, isActionName } from '../../base/glob.ts'
import type { Json } from '../../base/json.ts'
import { isScalar } from '../../policies/operators.ts'
import { type FactPath, isPlural, OVER_TIME_ROOTS, SESSION_ACTIONS } from '../../policies/path.ts'
import type { Counter, PolicyData } from '../../policies/set.ts'
import { WEEKDAYS } from '../load/fact-names.ts'
import { schemaAt, typesOf } from '../schemas/actions.ts'
import { isRequired } from '../schemas/presence.ts'
import { itemsOf, memberOf, type Node, numberOf } from '../yaml/node.ts'

export const JSON_KINDS = ['number', 'string', 'boolean', 'array', 'object'] as const
type JsonKind = (typeof JSON_KINDS)[number]

/** Certain knowledge about the values of a fact where a rule is evaluated. Uncertain values are admitted. */
export interface Known {
  /** Values that must be tried, since admission changes at them. */
  readonly constants: readonly (string | number | boolean)[]
  /** True when the fact can have this text, number or boolean. */
  readonly admits: (value: Json) => boolean
  /** True when the fact can have values of this kind beside the constants. */
  readonly admitsOther: (kind: JsonKind) => boolean
  readonly mayBeMissing: boolean
  /** The declared default, which replaces a missing value. */
  readonly standIn: Json | undefined
  /** Reason why the values are limited, as a part of a sentence; undefined when they are not. */
  readonly because: string | undefined
}

/** Declarations that analyses read beside conditions. */
export interface Declared {
  /** The set with the rules, factors and conditions that were read without fault. */
  readonly set: PolicyData
  /** The declared actions; undefined when some declaration is not known, so that no fact is certain. */
  readonly actionNodes: ReadonlyMap<string, Node> | undefined
  /** Names of the lists whose values may be others: those kept in files, or at fault. */
  readonly openLists: ReadonlySet<string>
}

/** Actions for which a condition is evaluated; undefined for a named condition, which may be evaluated for any. */
export type Scope = readonly Glob[] | undefined

const ANY_VALUE: Known = {
  constants: [],
  admits: () => true,
  admitsOther: () => true,
  mayBeMissing: true,
  standIn: undefined,
  because: undefined,
}

function oneOf(values: Known['constants'], because: Known['because']): Known {
  return {
    ...ANY_VALUE,
    constants: values,
    admits: (value) => values.some((known) => known === value),
    admitsOther: () => false,
    mayBeMissing: false,
    because,
  }
}

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)

export function knownOf(fact: FactPath, scope: Scope, { set, actionNodes }: Declared): Known {
  switch (fact.text) {
    case 'time.hour':
      return oneOf(HOURS, 'it is 0 to 23')
    case 'time.weekday':
      return oneOf(WEEKDAYS, `it is ${WEEKDAYS.join(', ')}`)
    case 'environment':
      return oneOf(ENVIRONMENTS, `it is ${ENVIRONMENTS.join(' or ')}`)
    case 'tenant':
      return oneOf([set.tenant], `it is always ${set.tenant} here`)
    case 'agent':
      return { ...ANY_VALUE, ...textOnly(() => true), mayBeMissing: false }
    case 'action':
      return actionKnown(scope)
    case 'domain':
      return actionNodes === undefined ? ANY_VALUE : domainKnown(scope, set)
    default:
      if (OVER_TIME_ROOTS.has(fact.root)) return overTimeKnown(fact, set.counters.get(fact.text), scope)
      return requestKnown(fact, scope, set, actionNodes)
  }
}

function overTimeKnown(fact: FactPath, counter: Counter | undefined, scope: Scope): Known {
  if (fact.text === SESSION_ACTIONS) return { ...ANY_VALUE, ...kindOnly('array') }
  if (fact.root === 'session') return { ...oneOf([true, false], undefined), mayBeMissing: true }
  if (counter?.sum !== undefined) {
    return { ...ANY_VALUE, admits: (value) => typeof value === 'number', admitsOther: (kind) => kind === 'number' }
  }
  // The action asked for counts as well.
  const isCounted = scope?.every((own) => counter?.actions.some((glob) => globContains(glob, own))) ?? false
  const least = isCounted ? 1 : 0
  return {
    ...ANY_VALUE,
    constants: [least],
    mayBeMissing: counter?.by === 'session',
    admits: (value) => typeof value === 'number' && Number.isInteger(value) && value >= least,
    admitsOther: (kind) => kind === 'number',
    because: isCounted ? 'it counts this action too, so it is 1 or more' : 'it is a whole number, 0 or more',
  }
}

function textOnly(admits: (text: string) => boolean): Pick<Known, 'admits' | 'admitsOther'> {
  return {
    admits: (value) => typeof value === 'string' && admits(value),
    admitsOther: (kind) => kind === 'string',
  }
}

function actionKnown(scope: Scope): Known {
  if (scope?.every(({ exact }) => exact)) {
    const names = scope.map(({ text }) => text)
    return oneOf(names, names.length === 1 ? `it is always ${names[0]} here` : `it is ${names.join(' or ')}`)
  }
  const matches = (text: string): boolean =>
    isActionName(text) && (scope === undefined || scope.some((glob) => globMatches(glob, text)))
  const because = scope && `the rule is about ${scope.map(({ text }) => text).join(', ')}`
  return { ...ANY_VALUE, ...textOnly(matches), mayBeMissing: false, because }
}

function domainKnown(scope: Scope, { domains }: PolicyData): Known {
  const meets = (globs: readonly Glob[]): boolean =>
    scope === undefined || scope.some((own) => globs.some((glob) => globsIntersect(own, glob)))
  const possible = [...domains].filter(([, globs]) => meets(globs)).map(([name]) => name)
  // A domain that contains an action pattern also meets it.
  const near = possible.flatMap((name) => domains.get(name) ?? [])
  const covered = scope?.every((own) => near.some((glob) => globContains(glob, own))) ?? false
  const because =
    possible.length === 0 ? 'no domain has any of these actions' : `the actions are of ${possible.join(' or ')}`
  return { ...oneOf(possible, because), mayBeMissing: !covered }
}

function requestKnown(fact: FactPath, scope: Scope, set: PolicyData, actionNodes: Declared['actionNodes']): Known {
  // Unknown declarations may say anything.
  if (actionNodes === undefined) return ANY_VALUE
  const standIn = set.facts.get(fact.text)?.default
  const open: Known = { ...ANY_VALUE, mayBeMissing: standIn === undefined, standIn }
  if (isPlural(fact)) return { ...open, ...kindOnly('array') }
  if (fact.segments.length === 0) return { ...open, ...kindOnly('object') }
  const segments = fact.segments.filter((segment) => segment !== null)
  const limits = limitsOf(fact.root, segments, scope, actionNodes)
  if (limits === undefined) return { ...open, because: standIn === undefined ? undefined : 'it has a default' }
  return {
    constants: limits.flatMap(({ constants }) => constants),
    admits: (value) => limits.some(({ admits }) => admits(value)),
    admitsOther: (kind) => limits.some(({ admitsOther }) => admitsOther(kind)),
    mayBeMissing: standIn === undefined && (fact.root === 'plan' || limits.some(({ mayBeMissing }) => mayBeMissing)),
    standIn,
    because: 'the schema of the action lets no other value through',
  }
}

function kindOnly(wanted: JsonKind): Pick<Known, 'admits' | 'admitsOther'> {
  return { admits: () => false, admitsOther: (kind) => kind === wanted }
}

/**
 * Limits by the schema of each action; undefined when one of them sets none. Rules are evaluated only for requests
 * that fit the schemas.
 */
function limitsOf(
  root: string,
  segments: readonly string[],
  scope: Scope,
  actionNodes: ReadonlyMap<string, Node>,
): Known[] | undefined {
  if (scope === undefined) return undefined
  const limits: Known[] = []
  for (const { exact, text } of scope) {
    const schema = exact ? memberOf(actionNodes.get(text), root) : undefined
    const limit = schema && limitAt(schema, segments)
    if (limit === undefined) return undefined
    limits.push(limit)
  }
  return limits
}

function limitAt(schema: Node, segments: readonly string[]): Known | undefined {
  // A parent that need not be an object can be a list or a text, which `properties` does not restrict.
  for (let i = 1; i < segments.length; i += 1) {
    const types = typesOfNode(schemaAt(schema, segments.slice(0, i)))
    if (types?.length !== 1 || types[0] !== 'object') return undefined
  }
  const node = schemaAt(schema, segments)
  const required = isRequired(schema.value, segments)
  if (node === undefined && !required) return undefined
  const types = typesOfNode(node)
  const values = valuesOf(node)
  const bounds = boundsOf(node)
  const takesNull = (types === undefined || types.includes('null')) && (values === undefined || values.includes(null))
  return {
    constants: [...(values?.filter(isScalar) ?? []), ...bounds.map(({ at }) => at)],
    admits: (value) =>
      hasTypeOf(value, types) &&
      (values === undefined || values.includes(value)) &&
      (typeof value !== 'number' || bounds.every(({ holds }) => holds(value))),
    admitsOther: (kind) =>
      values === undefined &&
      (types === undefined || types.includes(kind) || (kind === 'number' && types.includes('integer'))),
    mayBeMissing: !required || takesNull,
    standIn: undefined,
    because: undefined,
  }
}

export function typesOfNode(node: Node | undefined): readonly string[] | undefined {
  return node && typesOf(node)
}

export function hasTypeOf(value: Json, types: readonly string[] | undefined): boolean {
  if (types === undefined) return true
  return types.includes(typeof value) || (Number.isInteger(value) && types.includes('integer'))
}

/** Values that `enum` or `const` allow; undefined when they allow others, or values that are not scalar. */
export function valuesOf(node: Node | undefined): readonly Json[] | undefined {
  const only = memberOf(node, 'const')
  const listed = memberOf(node, 'enum')
  const values = only === undefined ? listed && itemsOf(listed).map(({ value }) => value) : [only.value]
  return values?.every((value) => value === null || isScalar(value)) ? values : undefined
}

const BOUNDS: Readonly<Record<string, (value: number, at: number) => boolean>> = {
  minimum: (value, at) => value >= at,
  exclusiveMinimum: (value, at) => value > at,
  maximum: (value, at) => value <= at,
  exclusiveMaximum: (value, at) => value < at,
}

export function boundsOf(node: Node | undefined) {
  return Object.entries(BOUNDS).flatMap(([keyword, holds]) => {
    const at = numberOf(memberOf(node, keyword))
    return at === undefined ? [] : [{ at, holds: (value: number) => holds(value, at) }]
  })
}
