import type { Clock } from '../../base/time.ts'

/** The end of something in memory, by whichever clock reaches it first: setting the time back extends nothing. */
export interface Deadline {
  /** The end by the time of day, for display. */
  readonly atMs: number
  /** The end by the uptime of the machine. */
  readonly uptimeMs: number
}

export interface Clocks {
  clock: Clock
  /** A monotonic clock in milliseconds. */
  uptime: () => number
}

export function deadlineIn({ clock, uptime }: Clocks, ms: number): Deadline {
  return { atMs: clock() + ms, uptimeMs: uptime() + ms }
}

export function isPast({ clock, uptime }: Clocks, { atMs, uptimeMs }: Deadline): boolean {
  return clock() >= atMs || uptime() >= uptimeMs
}
