import { useNow } from '../data/clock.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** A deadline is urgent below this. */
const SOON_MS = 5 * MINUTE_MS

const local = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

/** A time in the viewer's zone; hovering shows UTC. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={utcText(at)}>
      {local.format(new Date(at))}
    </time>
  )
}

/** The elapsed time; hovering shows both times. */
export function Ago({ at }: { at: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={`${local.format(new Date(at))} · ${utcText(at)}`}>
      {now - Date.parse(at) < 5 * SECOND_MS ? 'just now' : agoText(now - Date.parse(at))}
    </time>
  )
}

interface CountdownProps {
  until: string
  /** True while the clock is paused: remaining time and deadline will change. */
  isPaused?: boolean
}

/** The time left until a deadline. */
export function Countdown({ until, isPaused = false }: CountdownProps) {
  const now = useNow()
  if (isPaused)
    return (
      <span class="countdown over" title="A stop covers it: its deadline is suspended">
        paused
      </span>
    )
  const leftMs = Date.parse(until) - now
  const state = leftMs <= 0 ? 'over' : leftMs < SOON_MS ? 'soon' : 'calm'
  return (
    <time class={`countdown ${state}`} dateTime={until} title={`${local.format(new Date(until))} · ${utcText(until)}`}>
      {leftMs <= 0 ? 'expired' : `${durationText(leftMs)} left`}
    </time>
  )
}

/** `2026-11-23 15:04:05 UTC` */
function utcText(at: string): string {
  return `${at.slice(0, 19).replace('T', ' ')} UTC`
}

/** A duration by its two largest units: `2 h 5 min`. */
export function durationText(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`
}

/** An elapsed time by its largest unit: `2 h ago`. */
export function agoText(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))} s ago`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ago`
  return `${Math.floor(ms / DAY_MS)} d ago`
}
