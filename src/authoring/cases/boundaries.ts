import type { Json } from '../../base/json.ts'
import { parseRfc3339 } from '../../base/time.ts'
import type { Comparison } from '../../policies/set.ts'

/** One side of a threshold: the constant itself, or the values next to it, for which the comparison has another result. */
export interface Boundary {
  readonly side: 'at' | 'above' | 'below' | 'after' | 'before'
  /** A value on this side, as a test would have it. */
  readonly value: number | string
  /** True for a value on this side. */
  readonly has: (seen: Json) => boolean
}

/** Sides next to the constants of the operators that compare with a threshold. */
const NEXT: Readonly<Record<string, Exclude<Boundary['side'], 'at'>>> = {
  greaterThan: 'above',
  lessThanInclusive: 'above',
  greaterThanInclusive: 'below',
  lessThan: 'below',
  after: 'after',
  before: 'before',
}

/** Milliseconds from a time within which another is next to it. */
const NEXT_MS = 60_000

/** Both sides of the threshold that the comparison has; none when it compares with something else. */
export function boundariesOf({ operator, wanted }: Comparison): Boundary[] {
  const side = NEXT[operator.slice(operator.lastIndexOf(':') + 1)]
  if (side === undefined) return []
  if (typeof wanted === 'number') return sidesOf(wanted, side, numberScale(wanted))
  const ms = typeof wanted === 'string' ? parseRfc3339(wanted) : undefined
  return ms === undefined ? [] : sidesOf(ms, side, TIME_SCALE)
}

/** The line on which thresholds lie. */
interface Scale {
  /** The position of a value; undefined for a value of another type. */
  readonly read: (value: Json) => number | undefined
  readonly write: (at: number) => number | string
  readonly step: number
  /** The largest distance of values that are next to each other. */
  readonly reach: number
}

/** A step is one unit of the last digit that the constant has: 1 for 10000, 0.01 for 99.95. */
function numberScale(wanted: number): Scale {
  const decimals = /^-?\d+\.(\d+)$/.exec(String(wanted))?.[1]?.length ?? 0
  const step = 10 ** -decimals
  return {
    read: (value) => (typeof value === 'number' ? value : undefined),
    write: (at) => (at === wanted ? at : Number(at.toFixed(decimals))),
    step,
    reach: Math.max(step, Math.abs(wanted) / 100),
  }
}

const TIME_SCALE: Scale = {
  read: (value) => (typeof value === 'string' ? parseRfc3339(value) : undefined),
  write: (ms) => new Date(ms).toISOString().replace('.000Z', 'Z'),
  step: 1000,
  reach: NEXT_MS,
}

function sidesOf(wanted: number, side: Exclude<Boundary['side'], 'at'>, scale: Scale): Boundary[] {
  const { read, write, step, reach } = scale
  const sign = side === 'above' || side === 'after' ? 1 : -1
  // A step in binary arithmetic may be a little longer than the reach.
  const limit = reach + step / 2
  const isNext = (at: number): boolean => (at - wanted) * sign > 0 && (at - wanted) * sign < limit
  const on = (holds: (at: number) => boolean) => (seen: Json) =>
    [seen].flat().some((value) => {
      const at = read(value)
      return at !== undefined && holds(at)
    })
  return [
    { side: 'at', value: write(wanted), has: on((at) => at === wanted) },
    { side, value: write(wanted + sign * step), has: on(isNext) },
  ]
}
