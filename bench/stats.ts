/** The value below which `share` (0 to 1) of the sorted values lie; NaN of none. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  )
}

export function round(value: number, digits = 3): number {
  return Number(value.toFixed(digits))
}

/** Mean milliseconds of one call, after a tenth of them as warm-up. */
export function timePerCall(calls: number, act: (i: number) => void): number {
  for (let i = 0; i < calls / 10; i += 1) act(-1 - i)
  const started = performance.now()
  for (let i = 0; i < calls; i += 1) act(i)
  return (performance.now() - started) / calls
}
