import { readHeader } from '../../audit/entry.ts'
import { type Glob, globMatches } from '../../base/glob.ts'
import type { Decision } from '../../policies/set.ts'
import { lengthOf, type Store } from '../../store/store.ts'
import type { Deps } from '../deps.ts'
import { observedIn } from '../gate/answer.ts'
import { PAGE_BYTES } from '../page.ts'
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
  action?: Glob | undefined
  rule?: string | undefined
  agent?: string | undefined
  session?: string | undefined
  minRisk?: number | undefined
}

export interface DecisionQuery {
  chain: string
  limit: number
  /** Only decisions with a smaller seq. */
  before?: number | undefined
  /** Timestamps in canonical form; `from` inclusive, `to` exclusive. */
  from?: string | undefined
  to?: string | undefined
  filter: DecisionFilter
  match?: (typeof MATCHES)[number] | undefined
}

/**
 * Decisions, newest first, and where to continue: `next` as `before` of the next request, and `searchedTo`, the time
 * reached. Both are null at the end. Paging by seq neither skips nor repeats a decision.
 */
export async function listDecisions({ store }: Deps, query: DecisionQuery) {
  const { chain, limit, before, from, to, filter, match = 'whole' } = query
  const oldest = await store.seqNotBefore(chain, from ?? '')
  const length = to === undefined ? await lengthOf(store, chain) : await store.seqNotBefore(chain, to)
  const end = Math.min(before ?? length, length)
  const first = Math.max(oldest, end - MAX_SEARCHED)
  const items: RecentDecision[] = []
  let reached = Math.max(end, oldest)
  let characters = 0
  for await (const portion of decisionsBackwards(store, chain, { first, end })) {
    const fitting = portion.decisions.filter((one) => fits(one, filter, match)).slice(0, limit - items.length)
    items.push(...fitting)
    const isFull = items.length === limit
    reached = isFull ? (fitting.at(-1)?.seq ?? portion.reached) : portion.reached
    characters += portion.characters
    if (isFull || characters > PAGE_BYTES) break
  }
  return {
    items: items.map(listed),
    next: reached > oldest ? reached : null,
    searchedTo: reached > oldest ? await timeAt(store, chain, reached) : null,
  }
}

async function timeAt(store: Store, chain: string, seq: number): Promise<string | null> {
  const [text] = await store.headersFrom(chain, seq, 1)
  return (text === undefined ? undefined : readHeader(text)?.ts) ?? null
}

/** An erased decision matches only where no filter asks for its content. */
function fits({ decided }: RecentDecision, filter: DecisionFilter, match: (typeof MATCHES)[number]): boolean {
  const { decision, observed, decidedBy, action, rule, agent, session, minRisk } = filter
  if (decided === undefined) return Object.values(filter).every((wanted) => wanted === undefined)
  const { grounds, risk } = decided
  const isNamed = (wanted: string | undefined, name: string | null): boolean => {
    if (wanted === undefined || wanted === name) return true
    return match === 'part' && name !== null && name.toLowerCase().includes(wanted.toLowerCase())
  }
  return (
    (decision === undefined || decided.decision.decision === decision) &&
    (observed === undefined || grounds.observed === observed) &&
    (action === undefined || globMatches(action, decided.decision.action)) &&
    (decidedBy === undefined || grounds.decidedBy === decidedBy) &&
    isNamed(rule, grounds.rule) &&
    isNamed(agent, grounds.caller.agent) &&
    isNamed(session, grounds.session) &&
    (minRisk === undefined || risk.score >= minRisk)
  )
}

/** A list item; an erased decision has only its place. */
function listed({ decided, ...place }: RecentDecision) {
  return {
    ...place,
    action: decided?.decision.action ?? null,
    decision: decided?.decision.decision ?? null,
    ...(decided && observedIn(decided.grounds)),
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
