const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
// RFC 3339 section 5.6, with the zone required: a local time compares with nothing.
const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/
const DURATION = /^([1-9][0-9]{0,8})(s|m|h|d)$/
const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export const DAY_MS = UNIT_MS.d

/** Last instant with a timestamp of our form: a year of five digits would sort before all others as text. */
export const LAST_TIME_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** Milliseconds since 1970, UTC. */
export type Clock = () => number

/** A clock that can be moved, such as to that of a server. */
export function movableClock(clock: Clock): { clock: Clock; move(byMs: number): void } {
  let aheadMs = 0
  return {
    clock: () => clock() + aheadMs,
    move(byMs) {
      aheadMs += byMs
    },
  }
}

/** A clock that never goes back: what waits for a time by it waits no longer because the clock was set back. */
export function steadyClock(clock: Clock): Clock {
  let lastMs = clock()
  let steadyMs = lastMs
  return () => {
    const nowMs = clock()
    steadyMs += Math.max(0, nowMs - lastMs)
    lastMs = nowMs
    return steadyMs
  }
}

/** Cache of the last timestamp: events within a millisecond format the same one repeatedly. */
const lastFormatted = { timeMs: 0, text: '1970-01-01T00:00:00.000Z' }

/** `YYYY-MM-DDTHH:MM:SS.sssZ`, the one form in which times are stored and sent. */
export function formatTimestamp(timeMs: number): string {
  if (timeMs !== lastFormatted.timeMs) {
    lastFormatted.text = new Date(timeMs).toISOString()
    lastFormatted.timeMs = timeMs
  }
  return lastFormatted.text
}

/** Milliseconds of a timestamp in exactly our form and a real date, else undefined. */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string' || !TIMESTAMP.test(text)) return undefined
  const timeMs = Date.parse(text)
  // Date turns 30 February into 2 March; a real date prints as it was read.
  return !Number.isNaN(timeMs) && formatTimestamp(timeMs) === text ? timeMs : undefined
}

/** Start (UTC, ms) of a real day written `YYYY-MM-DD`, else undefined. */
export function parseDate(text: string): number | undefined {
  return parseTimestamp(`${text}T00:00:00.000Z`)
}

/**
 * Milliseconds of an RFC 3339 time with a zone, else undefined. Fractions beyond milliseconds are cut; a leap second, which can
 * be at the end of a month in UTC, counts as the second after it.
 */
export function parseRfc3339(text: string): number | undefined {
  const match = RFC3339.exec(text)
  if (match === null) return undefined
  const [, date = '', hour = '', minute = '', second = '', , zone = ''] = match
  if (parseDate(date) === undefined) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  if (zone.length > 1 && (Number(zone.slice(1, 3)) > 23 || Number(zone.slice(4)) > 59)) return undefined
  const upper = text.toUpperCase()
  if (second === '60') return afterLeapSecond(Date.parse(upper.replace(':60', ':59')))
  const timeMs = Date.parse(upper)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

/** Time one second after `beforeMs` when that lies in the last second of a month, else undefined. */
function afterLeapSecond(beforeMs: number): number | undefined {
  const timeMs = beforeMs + 1000
  return !Number.isNaN(timeMs) && /-01T00:00:00/.test(new Date(timeMs).toISOString()) ? timeMs : undefined
}

/** The longest duration: 90 days. */
export const MAX_DURATION_MS = 90 * DAY_MS

/** Milliseconds of an integer with a unit `s m h d`, from 1 s to 90 d, else undefined. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  return ms <= MAX_DURATION_MS ? ms : undefined
}
