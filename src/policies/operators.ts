import type { Json } from '../base/json.ts'
import { compilePattern, type Pattern } from '../base/pattern.ts'
import { parseRfc3339 } from '../base/time.ts'
import { spend, type Work } from '../base/work.ts'
import { cidrContains, parseCidr } from './cidr.ts'
import type { FactType, Truth } from './set.ts'

/**
 * One comparison with its constant compiled in. `seen` is a value, never missing and never null. A comparison that
 * takes more work than is left is unknown.
 */
export type Test = (seen: Json, work: Work) => Truth

export interface Operator {
  readonly name: string
  /** Kind of its constant; `none` for operators that only look at whether the fact is there. */
  readonly value: 'none' | 'scalar' | 'scalars' | 'number' | 'text' | 'pattern' | 'list' | 'cidr' | 'time'
  /** Declared types of the facts to which it applies. */
  readonly factTypes: readonly FactType[]
  /** The operator that it negates; the two share everything else. */
  readonly opposite: string | undefined
  /** One line for the documentation. */
  readonly help: string
}

export type Scalar = string | number | boolean

const SCALARS: readonly FactType[] = ['number', 'integer', 'string', 'boolean']
const NUMBERS: readonly FactType[] = ['number', 'integer']
const EVERY: readonly FactType[] = ['number', 'integer', 'string', 'boolean', 'date', 'list', 'object']

function row(
  name: string,
  value: Operator['value'],
  factTypes: readonly FactType[],
  help: string,
  opposite?: string,
): Operator {
  return { name, value, factTypes, opposite, help }
}

/** The one table of operators: loading, evaluation, documentation and tests read it. */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map(
  [
    row('equal', 'scalar', SCALARS, 'the fact is this text, number or boolean'),
    row('notEqual', 'scalar', SCALARS, 'the fact is another value of the same type', 'equal'),
    row('in', 'scalars', SCALARS, 'the fact is one of these'),
    row('notIn', 'scalars', SCALARS, 'the fact is none of these', 'in'),
    row('contains', 'scalar', ['list'], 'the list has this item'),
    row('doesNotContain', 'scalar', ['list'], 'the list does not have this item', 'contains'),
    row('lessThan', 'number', NUMBERS, 'the number is smaller'),
    row('lessThanInclusive', 'number', NUMBERS, 'the number is smaller or equal'),
    row('greaterThan', 'number', NUMBERS, 'the number is larger'),
    row('greaterThanInclusive', 'number', NUMBERS, 'the number is larger or equal'),
    row('exists', 'none', EVERY, 'the fact has a value'),
    row('missing', 'none', EVERY, 'the fact has no value', 'exists'),
    row('startsWith', 'text', ['string'], 'the text begins with this text'),
    row('endsWith', 'text', ['string'], 'the text ends with this text'),
    row('matches', 'pattern', ['string'], 'some part of the text matches the RE2 pattern; anchor it with ^ and $'),
    row('inList', 'list', SCALARS, 'the fact is in the named list'),
    row('notInList', 'list', SCALARS, 'the fact is not in the named list', 'inList'),
    row('inCidr', 'cidr', ['string'], 'the address is in the range, or in one of them'),
    row('before', 'time', ['date'], 'the time is earlier'),
    row('after', 'time', ['date'], 'the time is later'),
  ].map((operator) => [operator.name, operator]),
)

export type Lists = ReadonlyMap<string, readonly Json[]>

/** Compiles an operator with its constant; the test of an opposite is not negated. Undefined for an unsuitable constant. */
export function compileTest(operator: Operator, value: Json | undefined, lists: Lists): Test | undefined {
  const name = operator.opposite ?? operator.name
  switch (operator.value) {
    case 'none':
      return () => 'true'
    case 'scalar':
      if (!isScalar(value)) return undefined
      return name === 'contains' ? containsTest(value) : equalTest(value)
    case 'scalars':
      return Array.isArray(value) && value.length > 0 && value.every(isScalar) ? memberTest(value) : undefined
    case 'number':
      return typeof value === 'number' ? numberTest(name, value) : undefined
    case 'list': {
      const items = typeof value === 'string' ? lists.get(value) : undefined
      return items && memberTest(items.filter(isScalar))
    }
    case 'cidr':
      return cidrTest([value ?? null].flat())
    default:
      return typeof value === 'string' ? textTest(operator.value, name, value) : undefined
  }
}

export function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

const truth = (holds: boolean): Truth => (holds ? 'true' : 'false')

/** A value of another type is not comparable, so unknown. */
function equalTest(wanted: Scalar): Test {
  return (seen) => (typeof seen === typeof wanted ? truth(seen === wanted) : 'unknown')
}

/** Membership by type and value: a value of a type that no member has is not comparable, so unknown. */
function memberTest(members: readonly Scalar[]): Test {
  const values = new Set<Json>(members)
  const types = new Set(members.map((member) => typeof member))
  // A longer text is not a member, and looking it up would read all of it.
  const longest = members.reduce<number>(
    (most, one) => (typeof one === 'string' ? Math.max(most, one.length) : most),
    0,
  )
  const isMember = (seen: Scalar): boolean =>
    typeof seen === 'string' && seen.length > longest ? false : values.has(seen)
  // An empty list has no types, and certainly not this member.
  if (members.length === 0) return (seen) => (isScalar(seen) ? 'false' : 'unknown')
  return (seen) => (isScalar(seen) && types.has(typeof seen) ? truth(isMember(seen)) : 'unknown')
}

function containsTest(wanted: Scalar): Test {
  return (seen, work) => {
    if (!Array.isArray(seen) || !spend(work, 'item', seen.length)) return 'unknown'
    if (seen.includes(wanted)) return 'true'
    return seen.every((item) => typeof item === typeof wanted) ? 'false' : 'unknown'
  }
}

function numberTest(name: string, wanted: number): Test {
  const compare: Record<string, (seen: number) => boolean> = {
    lessThan: (seen) => seen < wanted,
    lessThanInclusive: (seen) => seen <= wanted,
    greaterThan: (seen) => seen > wanted,
    greaterThanInclusive: (seen) => seen >= wanted,
  }
  const holds = compare[name]
  if (holds === undefined) throw new TypeError(`no comparison of numbers is called ${name}`)
  return (seen) => (typeof seen === 'number' && Number.isFinite(seen) ? truth(holds(seen)) : 'unknown')
}

function cidrTest(texts: readonly Json[]): Test | undefined {
  const ranges = texts.flatMap((text) => (typeof text === 'string' ? (parseCidr(text) ?? []) : []))
  if (ranges.length === 0 || ranges.length < texts.length) return undefined
  return (seen) => {
    const inside = typeof seen === 'string' ? cidrContains(ranges, seen) : undefined
    return inside === undefined ? 'unknown' : truth(inside)
  }
}

function textTest(kind: 'text' | 'pattern' | 'time', name: string, wanted: string): Test | undefined {
  if (kind === 'time') return timeTest(name, wanted)
  if (kind === 'pattern') {
    const pattern = compilePattern(wanted)
    return 'fault' in pattern ? undefined : patternTest(pattern)
  }
  // Every text begins and ends with the empty text.
  if (wanted === '') return undefined
  return testOfTexts(name === 'startsWith' ? (seen) => seen.startsWith(wanted) : (seen) => seen.endsWith(wanted))
}

function patternTest(pattern: Pattern): Test {
  return (seen, work) => {
    const found = typeof seen === 'string' ? pattern.find(seen, work) : undefined
    return found === undefined ? 'unknown' : truth(found)
  }
}

function testOfTexts(holds: (seen: string) => boolean): Test {
  return (seen) => (typeof seen === 'string' ? truth(holds(seen)) : 'unknown')
}

function timeTest(name: string, wanted: string): Test | undefined {
  const wantedMs = parseRfc3339(wanted)
  if (wantedMs === undefined) return undefined
  return (seen) => {
    const seenMs = typeof seen === 'string' ? parseRfc3339(seen) : undefined
    if (seenMs === undefined) return 'unknown'
    return truth(name === 'before' ? seenMs < wantedMs : seenMs > wantedMs)
  }
}
