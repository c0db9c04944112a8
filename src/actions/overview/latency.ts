import { percentile } from '../../base/percentile.ts'

/** Upper bounds of the buckets, in seconds; a further bucket takes longer ones. */
const BOUNDS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const
/** Number of newest checks that the percentiles cover. */
export const NEWEST = 1000

export type Latency = ReturnType<typeof latency>

/** Latency of checks in this process, since its start. */
export function latency() {
  const newest = new Float64Array(NEWEST)
  const counts = BOUNDS_S.map(() => 0)
  let decided = 0
  let count = 0
  let sumMs = 0
  return {
    /** @param outcome checks that were refused count in the histogram alone: most are refused before any work */
    note(ms: number, outcome: 'decided' | 'refused'): void {
      if (outcome === 'decided') {
        newest[decided % NEWEST] = ms
        decided += 1
      }
      count += 1
      sumMs += ms
      const bucket = BOUNDS_S.findIndex((bound) => ms <= bound * 1000)
      if (bucket >= 0) counts[bucket] = (counts[bucket] ?? 0) + 1
    },
    /** Checks up to each bound in seconds, their number and their total time. */
    histogram() {
      let reached = 0
      const buckets = BOUNDS_S.map((le, i) => {
        reached += counts[i] ?? 0
        return { le, count: reached }
      })
      return { buckets, count, sumS: sumMs / 1000 }
    },
    /** Percentiles of the newest checks that were decided; null before the first. */
    newest() {
      const sorted = newest.slice(0, Math.min(decided, NEWEST)).sort()
      const of = (percent: number): number => Math.round((percentile(sorted, percent) ?? 0) * 1000) / 1000
      return sorted.length === 0 ? null : { count: sorted.length, p50Ms: of(50), p99Ms: of(99) }
    },
  }
}
