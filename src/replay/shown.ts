import { formatTimestamp, LAST_TIME_MS } from '../base/time.ts'
import { type HistoryChoice, UNKNOWN, type UnknownReason } from './decide.ts'
import type { LimitResult } from './limits.ts'
import type { From, Kind, ReplayReport } from './report.ts'

/** A replay with what was replayed, as people and programs read it. */
export interface ShownReplay {
  /** Trail, or name of the input. */
  trail: string
  from: string | null
  /** Excluded; null for all that there is. */
  to: string | null
  policyDigest: string
  /** Time at which the replay began; absent of an input. */
  at?: string
  /** Digest of the set in force, by the trail; absent of an input, null where no set ever was. */
  inForce?: string | null
  /** Heads of the chains when the replay began; absent of an input. */
  heads?: readonly Head[]
  /** Pattern of the actions, and number of the requests, that were chosen; absent where all were. */
  action?: string
  sample?: number
  history: HistoryChoice
  report: ReplayReport
  /** Records of an input that have another form. */
  unread?: Unread
}

/** State of a chain: the number of its entries, and the root of the tree over them (RFC 9162), in `sha256:` form. */
export interface Head {
  chain: string
  size: number
  root: string
}

/** Records that could not be read, and the place and the reason of the first. */
export interface Unread {
  count: number
  first: string
}

export interface Limited extends ShownReplay {
  limits: readonly LimitResult[]
}

/** A range as reports state it; an open end is null. */
export function shownRange({ fromMs, toMs }: { fromMs: number; toMs: number }): { from: string; to: string | null } {
  return { from: formatTimestamp(fromMs), to: toMs === LAST_TIME_MS ? null : formatTimestamp(toMs) }
}

/** Decisions in the order of tables, with their words in a sentence. */
export const FROMS: readonly From[] = ['allow', 'require_approval', 'deny', 'none']
export const TOS = ['allow', 'require_approval', 'deny'] as const

/** Number of requests with this decision then and this decision by the draft. */
export function cellOf({ matrix }: Pick<ReplayReport, 'matrix'>, from: From, to: From): number {
  return matrix.find((cell) => cell.from === from && cell.to === to)?.count ?? 0
}

/** Requests of which the draft decides otherwise. */
export function changedOf({ matrix }: Pick<ReplayReport, 'matrix'>): number {
  return matrix.reduce((sum, { from, to, count }) => sum + (from === to || from === 'none' ? 0 : count), 0)
}

/** `allow (rule payments) → deny (rule limit)`. */
export function kindText({ from, to }: Pick<Kind, 'from' | 'to'>): string {
  return `${sideText(from)} → ${sideText(to)}`
}

/** `allow (rule payments)`. */
export function sideText({ decision, decidedBy, rule }: Kind['from']): string {
  if (decision === 'none') return 'no decision'
  const grounds = rule === null ? decidedBy : `rule ${rule}`
  return grounds === null ? decision : `${decision} (${grounds})`
}

/** Requests that are not in the matrix, as sentences. */
export function exceptionsOf({ report: { stopped, unknown, assumed }, unread }: ShownReplay): string[] {
  const reasons = Object.entries(UNKNOWN) as [UnknownReason, string][]
  return [
    ...(unread !== undefined && unread.count > 0 ? [`${unread.count} not read, first ${unread.first}`] : []),
    ...(stopped > 0 ? [`${stopped} denied by a stop, which no policy changes`] : []),
    ...reasons.flatMap(([why, text]) => (unknown[why] > 0 ? [`${unknown[why]} unknown: ${text}`] : [])),
    ...(assumed > 0 ? [`${assumed} decided by what is left of a session that may have begun before it`] : []),
  ]
}

/** Share of `part` in percent, with two digits. */
export function percentOf(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Number(((part / whole) * 100).toFixed(2))} %`
}
