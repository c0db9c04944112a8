import type { Json } from '../src/base/json.ts'
import { isJsonObject } from '../src/base/json.ts'
import { laterPattern, literalPattern, toRe2 } from './re2-pattern.ts'

/** A condition as it is written in a policy file. */
export type Condition =
  | { readonly fact: string; readonly operator: string; readonly value?: Json }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | { readonly condition: string }

/** What a comparison of the toolkit becomes. */
export interface Asked {
  /**
   * True where the comparison holds, false where it does not or the field is missing, unknown where it raises an error or is
   * not compared here.
   * When `always` is set: true where the field has a value.
   */
  readonly condition: Condition
  /** Every value is an error to the toolkit, or the comparison as a whole is refused. */
  readonly always?: 'error' | 'refused'
  /** The only values with which it holds, as this language compares them; undefined when it holds with others too. */
  readonly members?: readonly Json[]
  /** True when some values are an error to the toolkit. */
  readonly mayFail: boolean
  /** Why a value of the field may be answered otherwise than by the toolkit; undefined for all others. */
  readonly refuses: (value: Json) => string | undefined
}

type Scalar = string | number | boolean

/** A comparison as the toolkit has it. */
export interface Comparison {
  readonly field: string
  readonly operator: string
  readonly value: Json
}

/** Texts that are part of a constant are listed; this many characters have 5,050 parts. */
const MAX_PARTS_OF = 100
const ORDERINGS: Readonly<Record<string, { operator: string; holds: (a: number, b: number) => boolean }>> = {
  gt: { operator: 'greaterThan', holds: (a, b) => a > b },
  gte: { operator: 'greaterThanInclusive', holds: (a, b) => a >= b },
  lt: { operator: 'lessThan', holds: (a, b) => a < b },
  lte: { operator: 'lessThanInclusive', holds: (a, b) => a <= b },
}

/** @throws TypeError for an operator that the toolkit does not have */
export function askedBy({ field, operator, value }: Comparison): Asked {
  const fact = factOf(field)
  const unfit = unfitConstant(value)
  if (unfit !== undefined) return refusedWhole(fact, unfit)
  switch (operator) {
    case 'eq':
      return askMembership(fact, [value], false)
    case 'ne':
      return askMembership(fact, [value], true)
    case 'in':
      return askIn(fact, value, false)
    case 'not_in':
      return askIn(fact, value, true)
    case 'contains':
      return askContains(fact, value)
    case 'matches':
      return askMatches(fact, value)
    default:
      return askOrder(fact, operator, value)
  }
}

function factOf(field: string): string {
  return /^[A-Za-z0-9_-]+$/.test(field) ? `context.${field}` : `context[${JSON.stringify(field)}]`
}

/** Numbers and texts that no policy file may hold. */
function unfitConstant(value: Json): string | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return 'an integer beyond 2^53-1 is not held exactly'
  }
  if (typeof value === 'string' && !value.isWellFormed()) return 'half of a surrogate pair is no text'
  const members = Array.isArray(value)
    ? value
    : isJsonObject(value)
      ? [...Object.keys(value), ...Object.values(value)]
      : []
  return members.map(unfitConstant).find((reason) => reason !== undefined)
}

const NOTHING = (): undefined => undefined

function refusedWhole(fact: string, reason: string): Asked {
  return { condition: exists(fact), always: 'refused', mayFail: false, refuses: () => reason }
}

function alwaysError(fact: string, refuses: Asked['refuses'] = NOTHING): Asked {
  return { condition: exists(fact), always: 'error', mayFail: true, refuses }
}

function exists(fact: string): Condition {
  return { fact, operator: 'exists' }
}

/** The values of a list or of a mapping; missing where there is neither. */
function itemsOf(fact: string): string {
  return `${fact}.*`
}

function askIn(fact: string, value: Json, negated: boolean): Asked {
  if (Array.isArray(value)) return askMembership(fact, value, negated)
  if (typeof value === 'string') return askPart(fact, value, negated)
  if (!isJsonObject(value)) return alwaysError(fact)
  // Keys of a mapping are texts, and a list or mapping cannot be one, which is an error.
  const isKey = memberOf(fact, Object.keys(value))
  return { condition: guarded(fact, negated ? { not: isKey } : isKey), mayFail: true, refuses: NOTHING }
}

/** `in` of a text asks for a part of it. */
function askPart(fact: string, text: string, negated: boolean): Asked {
  const characters = Array.from(text)
  if (characters.length > MAX_PARTS_OF) {
    return refusedWhole(fact, `in asks for the parts of a text of more than ${MAX_PARTS_OF} characters`)
  }
  const parts = characters.flatMap((_, from) =>
    characters.slice(from).map((_, i) => characters.slice(from, from + i + 1)),
  )
  const value = [...new Set(['', ...parts.map((part) => part.join(''))])]
  const isPart: Condition = { fact, operator: negated ? 'notIn' : 'in', value }
  return { condition: guarded(fact, isPart), mayFail: true, refuses: NOTHING }
}

/** Whether a value is one of several, as Python compares: 1 is true, 0 is false. No error, whatever the types. */
function askMembership(fact: string, members: readonly Json[], negated: boolean): Asked {
  const isDeep = members.some((member) => typeof member === 'object' && member !== null)
  // A list or mapping is none of them; where it might be one it is unknown, which never permits.
  const isPlain: Condition[] = isDeep ? [] : [{ fact: itemsOf(fact), operator: 'missing' }]
  const isMember = { all: [...isPlain, ...leaves(memberOf(fact, members.filter(isScalar)))] }
  const condition = guarded(fact, ...(negated ? [{ not: isMember }] : isMember.all))
  const refuses: Asked['refuses'] = (value) =>
    isDeep && typeof value === 'object' ? 'lists and mappings are not compared as a whole' : undefined
  return {
    condition,
    mayFail: false,
    refuses,
    ...(!negated && !isDeep && { members: asPythonCompares(members.filter(isScalar)) }),
  }
}

function guarded(fact: string, ...conditions: readonly Condition[]): Condition {
  return { all: [exists(fact), ...conditions.flatMap(leaves)] }
}

/** The parts of an `all`, so that one in another needs no level of its own. */
function leaves(condition: Condition): readonly Condition[] {
  return 'all' in condition ? condition.all : [condition]
}

function isScalar(value: Json): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

// Two values of each type, for the types that no member has: what equals the one does not equal the other.
const STAND_INS = { string: ['?', '!'], number: [0.5, -0.5], boolean: [true, false] } as const

/**
 * Whether a scalar is one of the members, false also for a type that no member has: comparing types is unknown to a policy,
 * so that the members are asked for together with a value of each other type, and once more with another such value.
 */
function memberOf(fact: string, members: readonly Scalar[], prefix = ''): Condition {
  const same = asPythonCompares(members)
  const absent = (['string', 'number', 'boolean'] as const).filter((type) => same.every((one) => typeof one !== type))
  const variants = absent.length === 0 ? [[]] : [0, 1].map((i) => absent.flatMap((type) => STAND_INS[type][i] ?? []))
  const asked = variants.map((others): Condition => ({ fact, operator: `${prefix}in`, value: [...same, ...others] }))
  const [only] = asked
  return asked.length === 1 && only !== undefined ? only : { all: asked }
}

/** The members with what equals them: 1 and true, 0 and false. */
function asPythonCompares(members: readonly Scalar[]): Scalar[] {
  const equals = (member: Scalar): Scalar[] => {
    if (typeof member === 'boolean') return [member, Number(member)]
    return member === 0 || member === 1 ? [member, member === 1] : [member]
  }
  return [...new Set(members.flatMap(equals))]
}

function askContains(fact: string, value: Json): Asked {
  const refuses = (seen: Json): string | undefined => {
    if (isJsonObject(seen))
      return isHashable(value) ? 'contains asks lists and texts, not the keys of a mapping' : undefined
    if (!Array.isArray(seen)) return undefined
    if (!isScalar(value)) return 'lists, mappings and null are not looked for in a list'
    return hasDoubt(seen) ? 'contains of a list with items that are not of one type' : undefined
  }
  if (!isScalar(value)) return alwaysError(fact, refuses)
  const inList: Condition = { all: leaves(memberOf(fact, [value], 'someFact:')) }
  const items = itemsOf(fact)
  // A list is also asked as a whole: unknown, and not true, where two items were the two that stand in.
  const isItem: Condition = { all: [...inList.all, anyItem(fact, asPythonCompares([value]))] }
  if (typeof value !== 'string') return { condition: guarded(fact, isItem), mayFail: true, refuses }
  const inText: Condition = { fact, operator: 'matches', value: literalPattern(value) }
  const condition = guarded(fact, {
    any: [{ all: [{ fact: items, operator: 'missing' }, inText] }, { all: [exists(items), ...isItem.all] }],
  })
  return { condition, mayFail: true, refuses }
}

function anyItem(fact: string, members: readonly Scalar[]): Condition {
  const [only] = members
  if (members.length === 1 && only !== undefined) return { fact, operator: 'contains', value: only }
  return { fact, operator: 'someFact:in', value: [...members] }
}

function isHashable(value: Json): boolean {
  return typeof value !== 'object' || value === null
}

/** A list that is not of scalars alone, or has a value of each variant that stands in for the types of no member. */
function hasDoubt(items: readonly Json[]): boolean {
  const isInVariant = (i: 0 | 1): boolean => Object.values(STAND_INS).some((pair) => items.includes(pair[i]))
  return (isInVariant(0) && isInVariant(1)) || !items.every(isScalar)
}

function askMatches(fact: string, value: Json): Asked {
  const pattern = pythonText(value)
  if (pattern === undefined)
    return refusedWhole(fact, 'a pattern is a text, and the toolkit would write this constant as Python does')
  const translated = toRe2(pattern)
  if (translated.kind === 'error') return alwaysError(fact)
  if (translated.kind === 'refused') return refusedWhole(fact, translated.reason)
  const { patterns, differs } = translated
  const asked = patterns.map((one): Condition => ({ fact, operator: 'matches', value: one }))
  const [only] = asked
  const found: Condition = asked.length === 1 && only !== undefined ? only : { any: asked }
  const refuses = (seen: Json): string | undefined => {
    if (typeof seen !== 'string') return 'matches asks texts; the toolkit writes other values as Python does'
    return differs?.test(seen) ? 'a word boundary of RE2 knows the letters and digits of ASCII only' : undefined
  }
  return { condition: guarded(fact, found), mayFail: false, refuses }
}

/** What Python's `str` makes of a constant, where that is known: whether a number was written with a point is not. */
function pythonText(value: Json): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value === null) return 'None'
  return typeof value === 'number' && Number.isInteger(value) ? String(value) : undefined
}

function askOrder(fact: string, operator: string, value: Json): Asked {
  const ordering = ORDERINGS[operator]
  if (ordering === undefined) throw new TypeError(`the toolkit has no operator ${operator}`)
  if (typeof value === 'string') return askTextOrder(fact, operator, value)
  if (Array.isArray(value)) {
    return alwaysError(fact, (seen) => (Array.isArray(seen) ? 'lists are not put in order' : undefined))
  }
  if (typeof value === 'object') return alwaysError(fact)
  const wanted = Number(value)
  const isOrdered: Condition = { fact, operator: ordering.operator, value: wanted }
  // Python takes true for 1 and false for 0.
  const [holding, others] = [true, false].map((expected) =>
    [true, false].filter((seen) => ordering.holds(Number(seen), wanted) === expected),
  ) as [boolean[], boolean[]]
  const condition = guarded(
    fact,
    ...(others.length === 0 ? [] : [{ not: isBoolean(fact, others) }]),
    holding.length === 0 ? isOrdered : { any: [isOrdered, isBoolean(fact, holding)] },
  )
  return { condition, mayFail: true, refuses: NOTHING }
}

/** Whether a scalar is one of these booleans; false for texts and numbers. */
function isBoolean(fact: string, booleans: readonly boolean[]): Condition {
  const asked = [0, 1].map((i): Condition => {
    const value = [...booleans, ...[STAND_INS.string, STAND_INS.number].flatMap((pair) => pair[i] ?? [])]
    return { fact, operator: 'in', value }
  })
  return { all: asked }
}

/** Texts are ordered by their code points, which a pattern can say. */
function askTextOrder(fact: string, operator: string, text: string): Asked {
  const pattern = laterPattern(text, operator === 'gte' || operator === 'lt')
  const translated = pattern.length <= MAX_PATTERN ? pattern : undefined
  if (translated === undefined) return refusedWhole(fact, 'the order of long texts')
  const isLater: Condition = { fact, operator: 'matches', value: translated }
  const condition = guarded(fact, operator.startsWith('g') ? isLater : { not: isLater })
  return { condition, mayFail: true, refuses: NOTHING }
}

const MAX_PATTERN = 1000
