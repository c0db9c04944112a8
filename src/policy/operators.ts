import type { Json } from '../base/json.ts'
import { compilePattern } from '../base/schema.ts'
import { parseRfc3339 } from '../base/time.ts'
import { compileCidr } from './cidr-constant.ts'
import { type CompileResult, fault, type Test, truth, unsuitable } from './constants.ts'
import { LIMITS } from './limits.ts'
import { coerced, listIn, numberIn } from './meant.ts'
import { patternFault } from './pattern-fault.ts'
import type { FactType } from './set.ts'
import { timeIn, timeOfEpoch, timeSentence } from './time-constant.ts'

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

type Lists = ReadonlyMap<string, readonly Json[]>

/** Compiles the constant of a base operator (not of an opposite, which is its negation). */
export function compileValue(operator: Operator, value: Json | undefined, lists: Lists): CompileResult {
  const name = operator.opposite ?? operator.name
  switch (operator.value) {
    case 'none':
      return value === undefined || value === true ? { test: () => 'true' } : takesNoValue(operator)
    case 'scalar':
      if (!isScalar(value)) return unsuitable(operator, `a text, a number or a boolean${scalarHint(name, value)}`)
      return { test: name === 'contains' ? containsTest(value) : memberTest([value]) }
    case 'scalars':
      return compileScalars(operator, value, lists)
    case 'number':
      if (typeof value === 'number') return { test: numberTest(name, value) }
      return unsuitable(operator, 'a number', numberIn(value))
    case 'text':
      return compileText(operator, name, value)
    case 'pattern':
      return typeof value === 'string'
        ? compileMatches(value)
        : unsuitable(operator, 'a pattern in quotes', asText(value))
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

function asText(value: Json | undefined): Json | undefined {
  return value === undefined ? undefined : coerced(value, 'string')
}

/** What else could be meant by null, a list or a mapping. */
function scalarHint(name: string, value: Json | undefined): string {
  if (value === null) return '; ask with exists or missing whether there is a value'
  if (Array.isArray(value)) return name === 'contains' ? '' : '; ask with in or notIn for one of several'
  return '; facts are compared with constants, not with each other'
}

function takesNoValue(operator: Operator): CompileResult {
  const other = operator.name === 'exists' ? 'missing' : 'exists'
  const message = `${operator.name} takes no value; leave it out, or write ${other} for the opposite.`
  return fault({ code: 'GATE1303', message })
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

function compileScalars(operator: Operator, value: Json | undefined, lists: Lists): CompileResult {
  if (!Array.isArray(value)) {
    const isList = typeof value === 'string' && lists.has(value)
    const other = operator.name === 'in' ? 'inList' : 'notInList'
    const hint = isList ? `; to ask the list ${JSON.stringify(value)}, write ${other}` : ''
    return unsuitable(operator, `a list of values in brackets${hint}`, isList ? undefined : listIn(value ?? null))
  }
  if (value.length === 0) return fault({ code: 'GATE1314', message: `${operator.name} needs at least one value.` })
  if (value.every(isScalar)) return { test: memberTest(value) }
  const message = `${operator.name} needs texts, numbers or booleans.`
  return { faults: value.flatMap((member, item) => (isScalar(member) ? [] : [{ code: 'GATE1301', message, item }])) }
}

function compileText(operator: Operator, name: string, value: Json | undefined): CompileResult {
  if (typeof value !== 'string') return unsuitable(operator, 'a text', asText(value))
  if (value === '') return fault({ code: 'GATE1314', message: `${name} needs a text that is not empty.` })
  const holds =
    name === 'startsWith' ? (seen: string) => seen.startsWith(value) : (seen: string) => seen.endsWith(value)
  return { test: (seen) => (typeof seen === 'string' ? truth(holds(seen)) : 'unknown') }
}

function compileMatches(pattern: string): CompileResult {
  if (pattern.length > LIMITS.pattern) {
    const message = `The pattern has ${pattern.length} characters; at most ${LIMITS.pattern} are allowed.`
    return fault({ code: 'GATE1305', message })
  }
  const compiled = compilePattern(pattern)
  if ('fault' in compiled) {
    return fault({ code: 'GATE1304', message: patternFault(compiled.fault, 'condition') })
  }
  return { test: (seen) => (typeof seen === 'string' ? truth(compiled.test(seen)) : 'unknown') }
}

function compileTime(operator: Operator, name: string, value: Json | undefined): CompileResult {
  if (typeof value !== 'string') {
    const meant = typeof value === 'number' ? timeOfEpoch(value) : undefined
    return unsuitable(operator, 'a time with a zone such as 2026-01-31T09:00:00Z', meant)
  }
  const wantedMs = parseRfc3339(value)
  if (wantedMs === undefined) {
    return fault({ code: 'GATE1307', message: timeSentence(value), suggestion: timeIn(value) })
  }
  return {
    test: (seen) => {
      const seenMs = typeof seen === 'string' ? parseRfc3339(seen) : undefined
      if (seenMs === undefined) return 'unknown'
      return truth(name === 'before' ? seenMs < wantedMs : seenMs > wantedMs)
    },
  }
}
