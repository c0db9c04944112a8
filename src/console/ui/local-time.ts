/** Values of date-and-time fields, which are in the viewer's zone without naming it: `2026-11-23T16:04`. */

const MINUTE_MS = 60_000

/** Local time; empty for an invalid time. @param at UTC */
export function localOf(at: string): string {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return ''
  const offsetMs = new Date(ms).getTimezoneOffset() * MINUTE_MS
  return new Date(ms - offsetMs).toISOString().slice(0, 16)
}

/** UTC; empty for an invalid time. */
export function utcOf(local: string): string {
  const ms = local === '' ? Number.NaN : new Date(local).getTime()
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString()
}

/** The viewer's zone, such as `Europe/Berlin`, beside local times and days. */
export function zoneName(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
