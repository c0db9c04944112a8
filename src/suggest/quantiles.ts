/** Significant digits of the values that are counted: 900 for each power of ten. */
const DIGITS = 3

/** Observed values of a number. Percentiles by nearest rank, each rounded up to three digits, and not above the largest. */
export interface Quantiles {
  count: number
  p50: number
  p95: number
  p99: number
  max: number
}

/** Counts the values of a number, in memory that hardly grows with them. */
export function quantiles() {
  const counts = new Map<number, number>()
  let [count, max] = [0, Number.NEGATIVE_INFINITY]
  return {
    add(value: number): void {
      const kept = roundedUp(value, DIGITS)
      counts.set(kept, (counts.get(kept) ?? 0) + 1)
      count += 1
      max = Math.max(max, value)
    },
    /** Undefined without values. */
    result(): Quantiles | undefined {
      if (count === 0) return undefined
      const sorted = [...counts].sort(([a], [b]) => a - b)
      const at = (percent: number): number => {
        const rank = Math.ceil((percent / 100) * count)
        let passed = 0
        for (const [value, times] of sorted) {
          passed += times
          if (passed >= rank) return Math.min(max, value)
        }
        return max
      }
      return { count, p50: at(50), p95: at(95), p99: at(99), max }
    },
  }
}

/** The least number with so many significant digits that is not below the value. */
function roundedUp(value: number, digits: number): number {
  const near = Number(value.toPrecision(digits))
  if (near >= value) return near
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(near === 0 ? value : near))) + 1 - digits)
  return Number((near + unit).toPrecision(digits))
}

/** The least of 1, 2 and 5 and their tenfolds that is not below the value, which is above 0. */
export function roundLimit(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const found = [1, 2, 5, 10].map((step) => Number((step * power).toPrecision(1))).find((one) => one >= value)
  return found ?? roundedUp(value, 1)
}
