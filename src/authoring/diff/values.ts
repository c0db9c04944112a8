import type { Json } from '../../base/json.ts'
import { parseRfc3339 } from '../../base/time.ts'
import { parseCidr } from '../../policies/cidr.ts'
import { parseOperator } from '../../policies/decorators.ts'
import { isScalar } from '../../policies/operators.ts'
import type { FactPath } from '../../policies/path.ts'
import type { Leaf, PolicySet } from '../../policies/set.ts'
import { numbersAround, timesAround } from '../lint/samples.ts'
import { sampleOf } from './pattern-sample.ts'
import { schemaAt, schemaValues, typeSample } from './schemas.ts'

/** Most constants of one fact that are tried. */
const MAX_ITEMS = 100

/** A comparison with its set, which gives lists and defaults. */
export interface Compared {
  leaf: Leaf
  set: PolicySet
}

/** Values from the constants at hand: their neighbours, members of lists, other types, and none. */
export function valuesFor(
  fact: FactPath,
  compared: readonly Compared[],
  bounds: readonly number[],
  sets: readonly PolicySet[],
  action: string,
): (Json | undefined)[] {
  const leaves = compared.map(({ leaf, set }) => ({ leaf, set, parsed: parseOperator(leaf.operator) }))
  const constants = ofOneFirst(sets, leaves, ({ leaf: { wanted }, set, parsed }) =>
    parsed?.operator.value === 'list' ? (set.lists.get(String(wanted)) ?? []) : [wanted].flat(),
  )
  const schemas = sets.map((set) => schemaAt(set.actions.get(action)?.[fact.root as 'context' | 'plan'], fact))
  const ofSchemas = schemas.filter((one) => one !== undefined).flatMap(schemaValues)
  const scalars = [...constants, ...ofSchemas].filter(isScalar)
  const numbers = numbersAround([...scalars.filter((one) => typeof one === 'number'), ...bounds])
  const hasNumbers = numbers.length > 4 || bounds.length > 0 || typesOf(sets, fact).includes('number')
  const texts = leaves.flatMap(({ leaf: { wanted }, parsed }) => textsFor(parsed?.operator.name ?? '', wanted))
  // First what a schema lets through: most requests are whole.
  const plain: (Json | undefined)[] = [
    ...schemas.map((one) => one && typeSample(one)),
    ...scalars,
    ...(hasNumbers ? numbers : []),
    ...texts,
    ...['x', true, false, 1, undefined],
    ...(hasNumbers ? [0] : []),
  ]
  const over = leaves.some(
    ({ parsed }) =>
      parsed?.overItems || parsed?.operator.name.endsWith('ontain') || parsed?.operator.name === 'contains',
  )
  const lists: Json[] = [
    [],
    ['x'],
    ...scalars.map((one) => [one]),
    ...scalars.map((one) => ['x', one]),
    scalars,
    ...texts.map((one) => [one]),
  ]
  const isList = over || typesOf(sets, fact).includes('list')
  return [...(isList ? lists : []), ...plain, {}, ...(isList ? [] : [['x']])]
}

/** Constants of all comparisons, of which there are at most so many: first those that one set alone has. */
function ofOneFirst<T extends Compared>(
  sets: readonly PolicySet[],
  compared: readonly T[],
  constantsOf: (one: T) => readonly Json[],
): Json[] {
  const [mine, theirs] = sets.map((set) => new Set(compared.filter((one) => one.set === set).flatMap(constantsOf)))
  const all = [...new Set([...(mine ?? []), ...(theirs ?? [])])]
  const isOfOne = (value: Json): boolean => mine?.has(value) !== theirs?.has(value)
  return [...all.filter(isOfOne), ...all.filter((value) => !isOfOne(value))].slice(0, MAX_ITEMS)
}

function typesOf(sets: readonly PolicySet[], { text }: FactPath): string[] {
  return sets.flatMap(({ facts }) => facts.get(text)?.type ?? [])
}

export function textsFor(operator: string, wanted: Json): Json[] {
  const texts = [wanted].flat().filter((one) => typeof one === 'string')
  switch (operator) {
    case 'startsWith':
      return texts.flatMap((one) => [one, `${one}x`, one.slice(0, -1)])
    case 'endsWith':
      return texts.flatMap((one) => [one, `x${one}`, one.slice(1)])
    case 'matches':
      return texts.flatMap((one) => {
        const sample = sampleOf(one)
        return sample === undefined ? [] : [sample, `${sample}x`, `x${sample}`, sample.slice(0, -1)]
      })
    case 'inCidr':
      return [...texts.flatMap(addressesAround), '192.0.2.1', '2001:db8::1']
    case 'before':
    case 'after':
      return [...(timesAround(texts.flatMap((one) => parseRfc3339(one) ?? [])) ?? [])]
    default:
      return []
  }
}

/** The first and the last address of a range, and those before and after it. */
function addressesAround(range: string): string[] {
  const parsed = parseCidr(range)
  if (parsed === undefined) return []
  const { version, network, prefix } = parsed
  const bits = version === 4 ? 32 : 128
  const size = 1n << BigInt(bits - prefix)
  const low = (network / size) * size
  return [low, low + size - 1n, low + size, low - 1n]
    .filter((value) => value >= 0n && value < 1n << BigInt(bits))
    .map((value) => addressText(value, bits))
}

function addressText(value: bigint, bits: number): string {
  const [width, count, base, sign] = bits === 32 ? ([8n, 4, 10, '.'] as const) : ([16n, 8, 16, ':'] as const)
  const parts = Array.from(
    { length: count },
    (_, i) => (value >> (width * BigInt(count - 1 - i))) & ((1n << width) - 1n),
  )
  return parts.map((part) => part.toString(base)).join(sign)
}
