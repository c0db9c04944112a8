import { globMatches, parseGlob } from '../base/glob.ts'

export const LEVELS = ['L1', 'L2', 'L3', 'L4'] as const
export type Level = (typeof LEVELS)[number]

/** L4 stops every tenant; the others one chain (a tenant's live or test side). */
export const GLOBAL = 'global'
export const EVERYTHING = '*'

export type KillSwitch = {
  id: string
  revision: number
  level: Level
  /** The chain it stops, or `global`. */
  target: string
  /** L1 the action glob, L2 the domain, L3 the tenant, L4 `global`; `*` for everything in the tenant. */
  scope: string
  /** Globs the scope stood for at the trigger; a later change of the policy does not shrink a stop. */
  patterns: readonly string[]
  reason: string
  /** As claimed in the request; the calling key is the entry's actor. */
  triggeredBy: string
  triggeredAt: string
  recoveredBy: string | null
  recoveredAt: string | null
  comment: string | null
}

/** A stop with its place among the entries of the chains that it covers: no clock tells what came before it. */
export type PlacedStop = KillSwitch & {
  /** How many entries each chain had at the trigger, 0 for those not named. Absent while the stop is not on disk. */
  lengths?: Readonly<Record<string, number>>
}

/** The stop as it is stored. */
export function recordOfStop({ lengths: _, ...record }: PlacedStop): KillSwitch {
  return record
}

/** The coverage of a stop, before it has an id and a reason. */
export type Scoped = Pick<KillSwitch, 'level' | 'target' | 'scope' | 'patterns'>

/** The subject of a stop: an action of a chain, and its domain by the policy in force. */
export interface Subject {
  chain: string
  action: string
  domain: string | undefined
}

export function isInForce(stop: KillSwitch): boolean {
  return stop.recoveredAt === null
}

/** True when the stop covers the subject, in force or not. */
export function covers(stop: Scoped, { chain, action, domain }: Subject): boolean {
  if (stop.target !== GLOBAL && stop.target !== chain) return false
  if (stop.level === 'L3' || stop.level === 'L4' || stop.scope === EVERYTHING) return true
  if (stop.level === 'L2' && stop.scope === domain) return true
  return stop.patterns.some((pattern) => matches(pattern, action))
}

/** The strongest stop in force that covers the subject; of equal ones, the oldest. */
export function coveringStop(stops: Iterable<KillSwitch>, subject: Subject): KillSwitch | undefined {
  return strongest(Array.from(stops).filter((stop) => isInForce(stop) && covers(stop, subject)))
}

/** The stops in force over the tenant of this chain: its own and the global ones. */
export function stopsOver(stops: Iterable<KillSwitch>, chain: string): KillSwitch[] {
  const mine = Array.from(stops).filter((stop) => isInForce(stop) && (stop.target === GLOBAL || stop.target === chain))
  return mine.sort(byStrength)
}

/** All stops that were ever over this chain, its own and the global ones, newest first. */
export function stopsEverOver(stops: Iterable<KillSwitch>, chain: string): KillSwitch[] {
  return Array.from(stops)
    .filter(({ target }) => target === GLOBAL || target === chain)
    .sort((a, b) => b.triggeredAt.localeCompare(a.triggeredAt) || b.id.localeCompare(a.id))
}

/** The public view of a stop, for every caller under it. */
export function stopView({ id, level, scope, triggeredAt, triggeredBy, reason }: KillSwitch) {
  return { id, level, scope, triggeredAt, triggeredBy, reason }
}

export function strongest(stops: readonly KillSwitch[]): KillSwitch | undefined {
  return [...stops].sort(byStrength)[0]
}

export function reasonOf(stop: KillSwitch): string {
  return `Kill switch ${stop.level} (${stop.scope}) is active: ${stop.reason}`
}

/**
 * The time between `fromMs` and `toMs` in which the subject was stopped: the union of all covering stops, past ones
 * too. An approval keeps its remaining time meanwhile. A stop that ended after `toMs` by a clock that was set back since
 * adds nothing.
 */
export function stoppedMs(stops: Iterable<KillSwitch>, subject: Subject, fromMs: number, toMs: number): number {
  const intervals = Array.from(stops)
    .filter((stop) => covers(stop, subject))
    .map(({ triggeredAt, recoveredAt }) => ({
      start: Math.max(fromMs, Date.parse(triggeredAt)),
      end: recoveredAt === null ? toMs : Date.parse(recoveredAt),
    }))
    .filter(({ start, end }) => start < end && end <= toMs)
    .sort((a, b) => a.start - b.start)
  let total = 0
  let reached = fromMs
  for (const { start, end } of intervals) {
    total += Math.max(0, end - Math.max(start, reached))
    reached = Math.max(reached, end)
  }
  return total
}

/**
 * The first stop over the subject that came when a chain of its trail had at least `end` entries, ended ones included.
 *
 * @param chain the subject's own by default
 */
export function stopSince(
  stops: Iterable<PlacedStop>,
  subject: Subject,
  end: number,
  chain = subject.chain,
): PlacedStop | undefined {
  const later = Array.from(stops).filter((stop) => lengthAt(stop, chain) >= end && covers(stop, subject))
  return later.sort((a, b) => lengthAt(a, chain) - lengthAt(b, chain) || a.id.localeCompare(b.id))[0]
}

/** The length of the chain when the stop was triggered; a stop that is not on disk comes after every entry. */
export function lengthAt({ lengths }: PlacedStop, chain: string): number {
  return lengths === undefined ? Number.MAX_SAFE_INTEGER : (lengths[chain] ?? 0)
}

function byStrength(a: KillSwitch, b: KillSwitch): number {
  return b.level.localeCompare(a.level) || a.triggeredAt.localeCompare(b.triggeredAt) || a.id.localeCompare(b.id)
}

function matches(pattern: string, action: string): boolean {
  const glob = parseGlob(pattern)
  return glob !== undefined && globMatches(glob, action)
}
