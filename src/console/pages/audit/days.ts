const DAY_MS = 86_400_000
/** A day before the first entry of any trail. */
const FIRST_DAY = '1970-01-01'

/** Days in UTC, both included, as the service verifies them. */
export interface DayRange {
  startDate: string
  endDate: string
}

export const QUICK_PICKS = [
  ['Today', 1],
  ['7 days', 7],
  ['30 days', 30],
  ['All', Number.POSITIVE_INFINITY],
] as const

/** The last `count` days, today included. */
export function lastDays(count: number, nowMs: number): DayRange {
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  return {
    startDate: Number.isFinite(count) ? dayOf(nowMs - (count - 1) * DAY_MS) : FIRST_DAY,
    endDate: dayOf(nowMs),
  }
}

/** The fault of a range, as a sentence. */
export function faultOf({ startDate, endDate }: DayRange): string | undefined {
  if (startDate === '' || endDate === '') return 'Choose both days.'
  return startDate > endDate ? 'The first day is after the last one.' : undefined
}
