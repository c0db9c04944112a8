/** Hour (0 to 23) and weekday (`mon` to `sun`) of a time in one time zone. */
export type LocalClock = (timeMs: number) => { hour: number; weekday: string }

/**
 * The clock of a time zone (IANA name). Making one takes a hundred times as long as asking it, so a
 * policy set has its own.
 *
 * @throws RangeError for a time zone that does not exist.
 */
export function localClock(timeZone: string): LocalClock {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', hourCycle: 'h23', weekday: 'short' })
  return (timeMs) => {
    const parts = new Map(format.formatToParts(timeMs).map(({ type, value }) => [type, value]))
    return { hour: Number(parts.get('hour')), weekday: parts.get('weekday')?.toLowerCase() ?? '' }
  }
}
