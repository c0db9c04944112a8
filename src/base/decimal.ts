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
