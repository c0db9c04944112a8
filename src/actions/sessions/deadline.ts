import type { Clock } from '../../base/time.ts'

/** When something in memory ends. It does so by whichever clock comes there first: setting the time back lengthens nothing. */
export interface Deadline {
  /** By the time of day, as it is shown. */
  readonly atMs: number
  /** By how long the machine has run. */
  readonly uptimeMs: number
}

export interface Clocks {
  clock: Clock
  /** Milliseconds from some moment on; never goes back. */
  uptime: () => number
}

export function deadlineIn({ clock, uptime }: Clocks, ms: number): Deadline {
  return { atMs: clock() + ms, uptimeMs: uptime() + ms }
}

export function isPast({ clock, uptime }: Clocks, { atMs, uptimeMs }: Deadline): boolean {
  return clock() >= atMs || uptime() >= uptimeMs
}
