import type { Json } from '../base/json.ts'
import { compilePattern } from '../base/schema.ts'
import { parseRfc3339 } from '../base/time.ts'
import { type Cidr, cidrContains, isAddress, parseCidr } from './cidr.ts'
import type { DiagnosticCode } from './codes.ts'
import { LIMITS } from './limits.ts'
import type { FactType, Truth } from './set.ts'

/** One comparison with its constant compiled in. `seen` is a value, never missing and never null. */
export type Test = (seen: Json) => Truth

/** Why a constant does not suit its operator. `item` is the position in a list, when one item is at fault. */
export interface ValueFault {
  code: DiagnosticCode
  message: string
  item?: number | undefined
  suggestion?: string | undefined
}

export interface Compiled {
  test: Test
  /** What is doubtful about the constant, but can be meant. */
  doubts?: readonly ValueFault[]
}

export interface Operator {
  readonly name: string
  /** What kind of constant it takes; `none` for those that look only at whether the fact is there. */
  readonly value: 'none' | 'scalar' | 'scalars' | 'number' | 'text' | 'pattern' | 'list' | 'cidr' | 'time'
  /** Declared types of a fact that it can be asked of. */
  readonly factTypes: readonly FactType[]
  /** The operator of which it is the opposite; the two share everything else. */
  readonly opposite: string | undefined
  /** One line for the documentation. */
  readonly help: string
}

type Scalar = string | number | boolean
export type CompileResult = Compiled | { fault: ValueFault }

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
    row('startsWith', 'text', ['string'], 'the text begins so'),
    row('endsWith', 'text', ['string'], 'the text ends so'),
    row('matches', 'pattern', ['string'], 'some part of the text matches the RE2 pattern; anchor it with ^ and $'),
    row('inList', 'list', SCALARS, 'the fact is in the named list'),
    row('notInList', 'list', SCALARS, 'the fact is not in the named list', 'inList'),
    row('inCidr', 'cidr', ['string'], 'the address is in the range, or in one of them'),
    row('before', 'time', ['date'], 'the time is earlier'),
    row('after', 'time', ['date'], 'the time is later'),
  ].map((operator) => [operator.name, operator]),
)

/** Compiles the constant of a base operator (not of an opposite, which is its negation). */
export function compileValue(
  operator: Operator,
  value: Json | undefined,
  lists: ReadonlyMap<string, readonly Json[]>,
): CompileResult {
  const name = operator.opposite ?? operator.name
  switch (operator.value) {
    case 'none':
      return value === undefined || value === true ? { test: () => 'true' } : takesNoValue(operator)
    case 'scalar':
      if (!isScalar(value)) return unsuitable(operator, 'a text, a number or a boolean')
      return { test: name === 'contains' ? containsTest(value) : memberTest([value]) }
    case 'scalars':
      return compileScalars(operator, value)
    case 'number':
      if (typeof value === 'number') return { test: numberTest(name, value) }
      return { fault: { ...unsuitable(operator, 'a number').fault, suggestion: numberIn(value) } }
    case 'text':
      return compileText(operator, name, value)
    case 'pattern':
      return typeof value === 'string' ? compileMatches(value) : unsuitable(operator, 'a pattern in quotes')
    case 'list': {
      const items = typeof value === 'string' ? lists.get(value) : undefined
      return items === undefined
        ? unsuitable(operator, 'the name of a list')
        : { test: memberTest(items.filter(isScalar)) }
    }
    case 'cidr':
      return compileCidr(operator, value)
    case 'time':
      return compileTime(operator, name, value)
  }
}

export function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

const truth = (holds: boolean): Truth => (holds ? 'true' : 'false')

function unsuitable(operator: Operator, wanted: string): { fault: ValueFault } {
  return { fault: { code: 'GATE1301', message: `${operator.name} needs ${wanted}.` } }
}

/** `"10"` written for `10`. */
export function numberIn(value: Json | undefined): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined
  return Number.isFinite(Number(value)) ? String(Number(value)) : undefined
}

function takesNoValue(operator: Operator): { fault: ValueFault } {
  const other = operator.name === 'exists' ? 'missing' : 'exists'
  const message = `${operator.name} takes no value; leave it out, or write ${other} for the opposite.`
  return { fault: { code: 'GATE1303', message } }
}

/** Membership by type and value: a value of a type that no member has is not comparable, so unknown. */
function memberTest(members: readonly Scalar[]): Test {
  const values = new Set<Json>(members)
  const types = new Set(members.map((member) => typeof member))
  // An empty list has no types, and certainly not this member.
  if (members.length === 0) return (seen) => (isScalar(seen) ? 'false' : 'unknown')
  return (seen) => (isScalar(seen) && types.has(typeof seen) ? truth(values.has(seen)) : 'unknown')
}

function containsTest(wanted: Scalar): Test {
  return (seen) => {
    if (!Array.isArray(seen)) return 'unknown'
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

function compileScalars(operator: Operator, value: Json | undefined): CompileResult {
  if (!Array.isArray(value)) return unsuitable(operator, 'a list of values in brackets')
  if (value.length === 0) return { fault: { code: 'GATE1314', message: `${operator.name} needs at least one value.` } }
  const item = value.findIndex((member) => !isScalar(member))
  if (item < 0) return { test: memberTest(value.filter(isScalar)) }
  return { fault: { code: 'GATE1301', message: `${operator.name} needs texts, numbers or booleans.`, item } }
}

function compileText(operator: Operator, name: string, value: Json | undefined): CompileResult {
  if (typeof value !== 'string') return unsuitable(operator, 'a text')
  if (value === '') return { fault: { code: 'GATE1314', message: `${name} needs a text that is not empty.` } }
  const holds =
    name === 'startsWith' ? (seen: string) => seen.startsWith(value) : (seen: string) => seen.endsWith(value)
  return { test: (seen) => (typeof seen === 'string' ? truth(holds(seen)) : 'unknown') }
}

function compileMatches(pattern: string): CompileResult {
  if (pattern.length > LIMITS.pattern) {
    const message = `The pattern has ${pattern.length} characters; at most ${LIMITS.pattern} are allowed.`
    return { fault: { code: 'GATE1305', message } }
  }
  const compiled = compilePattern(pattern)
  if ('fault' in compiled) {
    return { fault: { code: 'GATE1304', message: `The pattern does not compile as RE2: ${compiled.fault}.` } }
  }
  return { test: (seen) => (typeof seen === 'string' ? truth(compiled.test(seen)) : 'unknown') }
}

function compileCidr(operator: Operator, value: Json | undefined): CompileResult {
  const texts = Array.isArray(value) ? value : [value]
  if (texts.length === 0) return { fault: { code: 'GATE1314', message: 'inCidr needs at least one range.' } }
  const ranges: Cidr[] = []
  const doubts: ValueFault[] = []
  for (const [i, text] of texts.entries()) {
    const item = Array.isArray(value) ? i : undefined
    if (typeof text !== 'string')
      return { fault: { ...unsuitable(operator, 'an address range, or a list of them').fault, item } }
    const range = parseCidr(text)
    if (range === undefined) return { fault: malformedCidr(text, item) }
    if (range.hostBits) {
      doubts.push({ code: 'GATE2008', message: `${text} has bits beyond its prefix; they are ignored.`, item })
    }
    ranges.push(range)
  }
  const test: Test = (seen) => {
    const inside = typeof seen === 'string' ? cidrContains(ranges, seen) : undefined
    return inside === undefined ? 'unknown' : truth(inside)
  }
  return { test, doubts }
}

function malformedCidr(text: string, item: number | undefined): ValueFault {
  const message = `${JSON.stringify(text)} is no address range such as 10.0.0.0/8 or 2001:db8::/32.`
  const suggestion = isAddress(text) ? `${text}/${text.includes(':') ? 128 : 32}` : undefined
  return { code: 'GATE1306', message, item, suggestion }
}

function compileTime(operator: Operator, name: string, value: Json | undefined): CompileResult {
  if (typeof value !== 'string') return unsuitable(operator, 'a time in quotes')
  const wantedMs = parseRfc3339(value)
  if (wantedMs === undefined) {
    const message = `${JSON.stringify(value)} is no time with a zone such as 2026-01-31T09:00:00Z.`
    return { fault: { code: 'GATE1307', message } }
  }
  return {
    test: (seen) => {
      const seenMs = typeof seen === 'string' ? parseRfc3339(seen) : undefined
      if (seenMs === undefined) return 'unknown'
      return truth(name === 'before' ? seenMs < wantedMs : seenMs > wantedMs)
    },
  }
}
