/** For fields of a date and a time of day, which are in the viewer's zone and know none: `2026-11-23T16:04`. */

const MINUTE_MS = 60_000

/** Empty for what is no time. @param at UTC */
export function localOf(at: string): string {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return ''
  const offsetMs = new Date(ms).getTimezoneOffset() * MINUTE_MS
  return new Date(ms - offsetMs).toISOString().slice(0, 16)
}

/** UTC; empty for what is no time. */
export function utcOf(local: string): string {
  const ms = local === '' ? Number.NaN : new Date(local).getTime()
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString()
}

/** The zone of the viewer, such as `Europe/Berlin`, beside times and days that are meant in it. */
export function zoneName(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
