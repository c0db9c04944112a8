import type { Json } from '../../base/json.ts'
import { parseRfc3339 } from '../../base/time.ts'
import { isScalar } from '../../policies/operators.ts'
import type { Truth } from '../../policies/set.ts'
import type { Asked } from './asked.ts'
import type { Budget } from './budget.ts'
import type { Known } from './known.ts'
import { listsOf, numbersAround, textsBeside, timesAround } from './samples.ts'

/** Outcomes of the leaves about one fact for some of its values: a truth for each leaf, in their order. */
export type Cell = readonly Truth[]

/** A value of one fact that stands for others, with outcomes that the value does not determine. */
interface Sample {
  readonly value: Json | undefined
  /** The same text as a time, when the leaves ask for times too. */
  readonly time?: string | undefined
  /** Outcomes that the value does not determine, by position of the leaf. */
  readonly open?: ReadonlyMap<number, Truth>
}

const MAX_SAMPLES = 2000
/** Most kinds of items whose lists are all tried: 2^8 lists. */
const MAX_ITEMS = 8
const BOTH: readonly Truth[] = ['true', 'false']
const ALL: readonly Truth[] = ['true', 'false', 'unknown']

/**
 * All combined outcomes of the leaves about one fact. Impossible ones may be among them; no possible one is missing.
 * Undefined when there are too many values to try.
 */
export function cellsOf(asked: readonly Asked[], known: Known, budget: Budget): readonly Cell[] | undefined {
  if (!budget.spend(costOf(asked))) return undefined
  const samples = samplesOf(asked, known, budget)
  if (samples === undefined || !budget.spend(samples.length * asked.length)) return undefined
  const cells = new Map<string, Cell>()
  for (const sample of samples) {
    const cell = asked.map((one, i) => truthOf(one, i, sample))
    cells.set(cell.join(), cell)
  }
  return [...cells.values()]
}

/** Constants cost their length, and again for each pattern that they are tested against. */
function costOf(asked: readonly Asked[]): number {
  const patterns = asked.filter(({ base }) => base === 'matches').length
  const length = asked.reduce((sum, { wanted }) => sum + wanted.reduce<number>((all, one) => all + lengthOf(one), 0), 0)
  return Math.ceil((length * (1 + patterns * 10)) / 10)
}

function lengthOf(value: Json): number {
  return typeof value === 'string' ? value.length + 1 : 1
}

function truthOf(asked: Asked, position: number, { value, time, open }: Sample): Truth {
  const outcome = open?.get(position)
  if (outcome !== undefined) return outcome
  return asked.test(isTimed(asked) && time !== undefined ? time : value)
}

function isTimed({ base, depth }: Asked): boolean {
  return depth === 0 && (base === 'before' || base === 'after')
}

function samplesOf(asked: readonly Asked[], known: Known, budget: Budget): Sample[] | undefined {
  const constants = [...new Set([...constantsOf(asked), ...known.constants])]
  if (constants.length > MAX_SAMPLES) return undefined
  const around = known.admitsOther('number') ? numbersAround(constants.filter((one) => typeof one === 'number')) : []
  const simple = [...constants, ...around, true, false]
  const opens = combinations(opennesses(asked, 'everywhere'))
  if (opens === undefined) return undefined
  const samples: Sample[] = [...new Set(simple)]
    .filter(known.admits)
    .flatMap((value) => opens.map((open) => ({ value, open })))
  const texts = known.admitsOther('string') ? textSamples(asked, constants.filter(isText)) : []
  const lists = known.admitsOther('array') ? listSamples(asked, budget) : []
  if (texts === undefined || lists === undefined) return undefined
  samples.push(...texts, ...lists)
  if (known.admitsOther('object')) samples.push({ value: {} })
  if (known.mayBeMissing) samples.push({ value: undefined })
  if (known.standIn !== undefined) samples.push({ value: known.standIn })
  return samples.length > MAX_SAMPLES ? undefined : samples
}

function isText(value: Json): value is string {
  return typeof value === 'string'
}

/** Scalar constants of comparisons of the fact itself. A list that is too long gives none: its members stay open. */
function constantsOf(asked: readonly Asked[]): (string | number | boolean)[] {
  return asked.filter((one) => one.depth === 0 && one.open === 'no').flatMap(({ wanted }) => wanted.filter(isScalar))
}

type Openness = readonly [position: number, outcomes: readonly Truth[]]

/** Comparisons of the fact itself with one of these kinds of openness, and their possible outcomes. */
function opennesses(asked: readonly Asked[], ...which: readonly Asked['open'][]): Openness[] {
  return asked.flatMap(({ depth, open, base }, i): Openness[] =>
    depth === 0 && which.includes(open) ? [[i, base === 'inCidr' ? ALL : BOTH]] : [],
  )
}

/** Texts that are not a constant, in every way that the leaves can distinguish. */
function textSamples(asked: readonly Asked[], constants: readonly string[]): Sample[] | undefined {
  const own = asked.filter(({ depth }) => depth === 0)
  const texts = textsBeside(wantedBy(own, 'startsWith'), wantedBy(own, 'endsWith'), constants)
  const timed = wantedBy(own, 'before', 'after').flatMap((text) => parseRfc3339(text) ?? [])
  const times = own.some(isTimed) ? timesAround(timed) : [undefined]
  const opens = combinations(opennesses(asked, 'beside', 'everywhere'))
  if (texts === undefined || times === undefined || opens === undefined) return undefined
  if (texts.length * times.length * opens.length > MAX_SAMPLES) return undefined
  return texts.flatMap((value) => times.flatMap((time) => opens.map((open) => ({ value, time, open }))))
}

/** Lists in every way that the leaves can distinguish. A leaf for which that is not known has every outcome. */
function listSamples(asked: readonly Asked[], budget: Budget): Sample[] | undefined {
  const overItems = asked.map((one, i) => ({ ...one, i })).filter(({ depth }) => depth > 0)
  if (overItems.length === 0) return [{ value: [] }]
  const isDetermined = (one: Asked): boolean =>
    one.depth === 1 && one.open === 'no' && one.base !== 'before' && one.base !== 'after'
  const determined = overItems.filter(isDetermined)
  const items = itemsOf(determined, budget)
  const isLarge = items === undefined || items.length > MAX_ITEMS
  const undetermined = isLarge ? overItems : overItems.filter((one) => !isDetermined(one))
  const opens = combinations(undetermined.map(({ i }) => [i, ALL] as const))
  const lists = isLarge ? [[]] : listsOf(items)
  if (opens === undefined || lists.length * opens.length > MAX_SAMPLES) return undefined
  return lists.flatMap((value) => opens.map((open) => ({ value, open })))
}

/**
 * Items that stand for all others. The outcome of a leaf over items follows from its outcomes for the lists of one
 * item, so one item of each outcome is enough. Undefined when there are too many.
 */
function itemsOf(leaves: readonly Asked[], budget: Budget): Json[] | undefined {
  const constants = [...new Set(leaves.flatMap(({ wanted }) => wanted.filter(isScalar)))]
  const texts = textsBeside(wantedBy(leaves, 'startsWith'), wantedBy(leaves, 'endsWith'), constants.filter(isText))
  if (texts === undefined || constants.length + texts.length > MAX_SAMPLES) return undefined
  const numbers = numbersAround(constants.filter((one) => typeof one === 'number'))
  const values: Json[] = [...constants, ...texts, ...numbers, true, false, null, [], {}]
  if (!budget.spend(values.length * leaves.length)) return undefined
  const kinds = new Map(values.map((item) => [leaves.map(({ test }) => test([item])).join(), item]))
  return [...kinds.values()]
}

/** The texts with which leaves of these operators compare. */
function wantedBy(leaves: readonly Asked[], ...bases: string[]): string[] {
  return leaves.filter(({ base }) => bases.includes(base)).flatMap(({ wanted }) => wanted.filter(isText))
}

/** Every way to give each position one of its outcomes; undefined when there are too many. */
function combinations(open: readonly Openness[]): ReadonlyMap<number, Truth>[] | undefined {
  let ways: ReadonlyMap<number, Truth>[] = [new Map()]
  for (const [position, outcomes] of open) {
    ways = ways.flatMap((way) => outcomes.map((outcome) => new Map(way).set(position, outcome)))
    if (ways.length > MAX_SAMPLES) return undefined
  }
  return ways
}
