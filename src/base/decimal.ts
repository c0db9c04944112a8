/** A decimal number: `units` × 10^−`places`. */
export interface Decimal {
  readonly units: bigint
  readonly places: number
}

export const ZERO: Decimal = { units: 0n, places: 0 }

/** Exact decimal of the number as written: 0.1 is a tenth, and sums match those that people work out by hand. */
export function decimalOf(value: number): Decimal {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  if (sign === undefined) throw new RangeError(`${value} is not finite`)
  const places = fraction.length - Number(exponent)
  const units = BigInt(sign + whole + fraction)
  return places < 0 ? { units: units * 10n ** BigInt(-places), places: 0 } : { units, places }
}

const NUMERAL = /^[-+]?(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/

/** True when the numeral means the number that JavaScript writes for its double: 0.10 does, 100.000000000000001 and 1e-400 do not. */
export function isExact(numeral: string): boolean {
  const text = String(Number(numeral))
  return text === numeral || digitsOf(text) === digitsOf(numeral)
}

/**
 * The digits without zeros at either end, and the power of ten of the first; undefined for a text that is not a
 * numeral.
 */
function digitsOf(numeral: string): string | undefined {
  const [found, whole = '', fraction = '', exponent = '0'] = NUMERAL.exec(numeral) ?? []
  if (found === undefined) return undefined
  const all = whole + fraction
  const first = all.search(/[1-9]/)
  if (first < 0) return '0'
  let end = all.length
  while (all[end - 1] === '0') end -= 1
  return `${all.slice(first, end)}e${Number(exponent) + whole.length - first}`
}

export function plus(a: Decimal, b: Decimal): Decimal {
  const places = Math.max(a.places, b.places)
  return { units: unitsAt(a, places) + unitsAt(b, places), places }
}

export function minus(a: Decimal, b: Decimal): Decimal {
  return plus(a, { ...b, units: -b.units })
}

/** Nearest double; infinite beyond the range of doubles. */
export function toNumber({ units, places }: Decimal): number {
  return Number(`${units}e-${places}`)
}

function unitsAt({ units, places }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - places)
}
