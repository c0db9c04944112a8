import { type Glob, globMatches } from '../../base/glob.ts'
import type { Decision } from '../../policies/set.ts'
import type { Deps } from '../deps.ts'
import { observedIn, shadowIn } from '../gate/answer.ts'
import { PAGE_BYTES, placeOf } from '../page.ts'
import { decisionsBackwards, type RecentDecision } from './recent-decisions.ts'

/** Limit of entries that one request searches; the next request continues. */
export const MAX_SEARCHED = 2000

/** Limit of decisions in one answer. */
export const MAX_LISTED = 200

/** Comparison of names: whole or in part, ignoring case. */
export const MATCHES = ['whole', 'part'] as const

/** Filters of the list; a decision must match all that are given. */
export interface DecisionFilter {
  decidedBy?: string | undefined
  decision?: Decision | undefined
  /** Decision of the policies, for decisions that were only observed. */
  observed?: Decision | undefined
  /** Decision of the set in shadow, where that differs; `differs` for any. */
  shadow?: Decision | 'differs' | undefined
  action?: Glob | undefined
  rule?: string | undefined
  agent?: string | undefined
  session?: string | undefined
  minRisk?: number | undefined
}

export interface DecisionQuery {
  trail: string
  limit: number
  /** Only decisions before this entry, by its id. */
  before?: string | undefined
  /** Timestamps in canonical form; `from` inclusive, `to` exclusive. */
  from?: string | undefined
  to?: string | undefined
  filter: DecisionFilter
  match?: (typeof MATCHES)[number] | undefined
}

/**
 * Decisions, newest first, and where to continue: `next` as `before` of the next request, and `searchedTo`, the time
 * reached. Both are null at the end. Paging by entry neither skips nor repeats a decision.
 *
 * @throws GateError `invalid_request` when `before` is not a place in the trail
 */
export async function listDecisions({ store }: Deps, query: DecisionQuery) {
  const { trail, limit, from, to, filter, match = 'whole' } = query
  const before = await placeOf(store, trail, query.before)
  const items: RecentDecision[] = []
  let next: { entryId: string; timestamp: string } | null = null
  let searched = 0
  let characters = 0
  for await (const portion of decisionsBackwards(store, { trail, before, from, to })) {
    const { decisions, reached, isLast } = portion
    const fitting = decisions.filter((one) => fits(one, filter, match)).slice(0, limit - items.length)
    items.push(...fitting)
    const isFull = items.length === limit
    const { entryId, timestamp } = (isFull ? fitting.at(-1) : undefined) ?? {
      entryId: reached.id,
      timestamp: reached.ts,
    }
    next = isLast && (!isFull || entryId === reached.id) ? null : { entryId, timestamp }
    searched += portion.entries
    characters += portion.characters
    if (isFull || searched >= MAX_SEARCHED || characters > PAGE_BYTES) break
  }
  return { items: items.map(listed), next: next?.entryId ?? null, searchedTo: next?.timestamp ?? null }
}

/** An erased decision matches only where no filter asks for its content. */
function fits({ decided }: RecentDecision, filter: DecisionFilter, match: (typeof MATCHES)[number]): boolean {
  const { decision, observed, shadow, decidedBy, action, rule, agent, session, minRisk } = filter
  if (decided === undefined) return Object.values(filter).every((wanted) => wanted === undefined)
  const { grounds, risk } = decided
  const isNamed = (wanted: string | undefined, name: string | null): boolean => {
    if (wanted === undefined || wanted === name) return true
    return match === 'part' && name !== null && name.toLowerCase().includes(wanted.toLowerCase())
  }
  return (
    (decision === undefined || decided.decision.decision === decision) &&
    (observed === undefined || grounds.observed === observed) &&
    (shadow === undefined || isShadow(shadow, grounds.shadow?.decision)) &&
    (action === undefined || globMatches(action, decided.decision.action)) &&
    (decidedBy === undefined || grounds.decidedBy === decidedBy) &&
    isNamed(rule, grounds.rule) &&
    isNamed(agent, grounds.caller.agent) &&
    isNamed(session, grounds.session) &&
    (minRisk === undefined || risk.score >= minRisk)
  )
}

function isShadow(wanted: Decision | 'differs', decision: string | undefined): boolean {
  return wanted === 'differs' ? decision !== undefined : decision === wanted
}

/** A list item; an erased decision has only its place. */
function listed({ decided, ...place }: RecentDecision) {
  return {
    ...place,
    action: decided?.decision.action ?? null,
    decision: decided?.decision.decision ?? null,
    ...(decided && { ...observedIn(decided.grounds), ...shadowIn(decided.grounds) }),
    rule: decided?.grounds.rule ?? null,
    reason: decided?.grounds.reason ?? null,
    riskScore: decided?.risk.score ?? null,
    decidedBy: decided?.grounds.decidedBy ?? null,
    agent: decided?.grounds.caller.agent ?? null,
    keyId: decided?.grounds.caller.keyId ?? null,
    session: decided?.grounds.session ?? null,
    approvalId: decided?.grounds.approvalId ?? null,
    redacted: decided === undefined,
  }
}
