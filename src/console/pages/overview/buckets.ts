import type { DecisionBucket, Overview } from '../../../client/api.ts'
import { DECISIONS } from '../../ui/decision-words.ts'

/** The kinds of decisions, in the order of stacking, from below. */
export const KINDS = [
  { member: 'allow', decision: 'allow', label: DECISIONS.allow, class: 'allow' },
  { member: 'requireApproval', decision: 'require_approval', label: DECISIONS.require_approval, class: 'hold' },
  { member: 'deny', decision: 'deny', label: DECISIONS.deny, class: 'deny' },
] as const

export type Totals = Record<(typeof KINDS)[number]['member'] | 'all', number>

export function totalsOf(buckets: readonly DecisionBucket[]): Totals {
  const totals: Totals = { allow: 0, requireApproval: 0, deny: 0, all: 0 }
  for (const { allow, requireApproval, deny } of buckets) {
    totals.allow += allow
    totals.requireApproval += requireApproval
    totals.deny += deny
    totals.all += allow + requireApproval + deny
  }
  return totals
}

const HOUR_MS = 3_600_000
const QUARTER_MS = 900_000

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' })
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

/** The time of a bucket, in the viewer's zone: `Mon, 23 Nov, 14:00–14:15`. */
export function spanText(at: string, { bucketMs }: Pick<Overview, 'bucketMs'>): string {
  const from = new Date(at)
  return `${dayAndClock.format(from)} – ${clock.format(new Date(from.getTime() + bucketMs))}`
}

export interface Tick {
  atMs: number
  label: string
}

/** Labels of the axis: at quarters, at every fourth hour, or at midnight, by the viewer's clock. */
export function timeTicks({ from, to }: Pick<Overview, 'from' | 'to'>): Tick[] {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  const hours = (toMs - fromMs) / HOUR_MS
  const isTick = (at: Date): boolean => {
    if (hours <= 2) return at.getMinutes() % 15 === 0
    if (at.getMinutes() !== 0) return false
    return hours <= 48 ? at.getHours() % 4 === 0 : at.getHours() === 0
  }
  const ticks: Tick[] = []
  for (let atMs = Math.ceil(fromMs / QUARTER_MS) * QUARTER_MS; atMs < toMs; atMs += QUARTER_MS) {
    const at = new Date(atMs)
    if (isTick(at)) ticks.push({ atMs, label: (hours <= 48 ? clock : day).format(at) })
  }
  return ticks
}

/** The end of an axis for values up to `most`: 1, 2 or 5 times a power of ten, whose half is a whole number but for 1 and 5. */
export function axisEnd(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)))
  const factor = [1, 2, 4, 6, 8, 10].find((candidate) => candidate * power >= most) ?? 10
  return Math.max(2, factor * power)
}
