import type { DecisionEntry } from '../../audit/draft.ts'
import { siblingId } from '../../base/id.ts'
import { formatTimestamp } from '../../base/time.ts'
import { explanationOf } from '../../gate/explain.ts'
import { sessionOf } from '../../gate/history.ts'
import { inMode } from '../../gate/observe.ts'
import type { CheckRequest } from '../../gate/request.ts'
import { policyDecision, type ShadowNote } from '../../gate/shadow.ts'
import { principalOf } from '../../keys/apikey.ts'
import type { Guard, Placed } from '../../store/submission.ts'
import { type Caller, type CheckDeps, committedTime, type Decided, decideAndCommit } from '../deps.ts'
import { bindTo, earlierUse, type Idempotency } from '../idempotency.ts'
import { type CheckAnswer, checkAnswer, deadlineOf, replayedAnswer } from './answer.ts'
import { type Asked, type Resolution, resolveHold, ruled } from './hold.ts'
import { judgeNow, reserveFor, turnFor } from './judge.ts'
import { shadowBeside } from './shadow.ts'

export interface CheckOptions {
  /** Requests an explanation; none is computed otherwise. */
  explain: boolean
}

/**
 * Decides whether the action may run. The answer leaves only after its entry is on disk. An allow is committed only
 * while no kill switch covers the action and the caller's key is active; nothing is, once the caller has hung up.
 *
 * @throws CallerGone
 * @throws GateError when nothing could be decided or recorded; a client takes that as deny
 */
export function check(
  deps: CheckDeps,
  caller: Caller,
  request: CheckRequest,
  idempotency?: Idempotency,
  { explain }: CheckOptions = { explain: false },
): Promise<CheckAnswer> {
  const inTurn = (): Promise<CheckAnswer> => {
    const set = deps.policies.get(caller.tenantId)
    const decided = (): Promise<CheckAnswer> =>
      decideAndCommit(deps.store, (isOvertaken) => {
        const reservation = isOvertaken ? deps.newId('request') : null
        return decide(deps, caller, request, { idempotency, explain, reservation })
      })
    return set === undefined ? decided() : deps.history.runExclusive(set, caller, request.action, decided)
  }
  return turnFor(deps, caller, request.action)?.then(inTurn) ?? inTurn()
}

interface Attempt extends CheckOptions {
  idempotency: Idempotency | undefined
  /** Name under which an overtaken decision has its counters to itself. */
  reservation: string | null
}

/** Decides once, and submits the decision with what it changes. It awaits only what the request needs. */
async function decide(
  deps: CheckDeps,
  caller: Caller,
  request: CheckRequest,
  { idempotency, explain, reservation }: Attempt,
): Promise<Decided<CheckAnswer>> {
  const earlier = idempotency && (await earlierUse(deps.store, caller, idempotency))
  const replayed = earlier && (await replayedAnswer(deps, caller, request, earlier))
  if (replayed !== undefined) return { submission: null, reply: () => replayed }
  if (reservation !== null) await reserveFor(deps, caller, request, reservation)
  const judging = judgeNow(deps, caller, request, { isExplained: explain, reservation })
  const judged = judging instanceof Promise ? await judging : judging
  if (deps.isLarge) await deps.pause?.(caller.tenantId)
  const asked: Asked = { caller, request, judged, decisionId: deps.newId('decision') }
  const { hold } = judged.outcome
  const resolved = asObserved(judged, hold === null ? ruled(judged.outcome) : await resolveHold(deps, asked, hold))
  const shadowing = shadowBeside(deps, asked, resolved)
  const shadow = shadowing instanceof Promise ? await shadowing : shadowing
  const entry = decisionEntry(asked, resolved, shadow)
  const bound = idempotency && bindTo(deps, caller, idempotency, earlier, entry.id)
  return {
    submission: {
      guards: guardsOf(asked, entry, [
        ...countingGuards(deps, asked, entry, reservation),
        ...resolved.guards,
        ...(bound?.guards ?? []),
      ]),
      writes: bound === undefined ? resolved.writes : [...resolved.writes, ...bound.writes],
      entries: [entry, ...resolved.entries],
    },
    isAbandoned: caller.hasHungUp,
    reply({ entries }) {
      if (shadow !== undefined) deps.shadows?.count(policyDecision(resolved.outcome), shadow)
      const decidedMs = decidedAtMs(deps, entries, entry.id)
      const answer = checkAnswer(entry, decidedMs, deadlineOf(deps, resolved.approval), judged.set)
      return explain ? { ...answer, ...explanationFor(asked, resolved) } : answer
    },
  }
}

/** The resolution by the mode of the policies. An action that only their observation allows leaves approvals as they are. */
function asObserved({ set, outcome: ruling }: Asked['judged'], resolved: Resolution): Resolution {
  const outcome = inMode(set, resolved.outcome)
  if (outcome === resolved.outcome) return resolved
  return resolved.outcome.decision === 'allow' ? { ...resolved, outcome } : ruled(inMode(set, ruling))
}

/** The caller's key is active at the commit; what an allow rests on holds. */
function guardsOf({ caller, judged }: Asked, { decision }: DecisionEntry, others: readonly Guard[]): Guard[] {
  const guards: Guard[] = [{ kind: 'keyActive', keyId: caller.key.id }]
  const isAllowed = decision.decision === 'allow'
  if (isAllowed) guards.push({ kind: 'notStopped', subject: judged.subject })
  // A fleet has no order in which a denial shows what it has seen, other than that of its counters.
  if (judged.seen !== null && (isAllowed || judged.seen.guard.kind === 'counters')) guards.push(judged.seen.guard)
  guards.push(...others)
  return guards
}

/** The counters that an allow is counted by, whether its own policies count or not. */
function countingGuards(
  { history, store }: CheckDeps,
  { caller, judged, request }: Asked,
  entry: DecisionEntry,
  reservation: string | null,
): Guard[] {
  const { set, nowMs } = judged
  if (store.countsIn === 'chain' || set === undefined || entry.grounds.taken === null) return []
  const { action, context, plan } = request
  const query = { agent: principalOf(caller.key), nowMs, action, context, plan }
  const guard = history.counting(set, caller.chain, query, reservation)
  return guard === undefined ? [] : [guard]
}

/** The time of the entry; a chain that is ahead of a clock that was set back prolongs no allow. */
function decidedAtMs({ clock }: CheckDeps, entries: readonly Placed[], id: string): number {
  return Math.min(Date.parse(committedTime(entries, id)), clock())
}

/** The explanation; an agent whose policies state `explain: reason` gets the reason alone. */
function explanationFor({ request, judged }: Asked, { outcome }: Resolution): Pick<CheckAnswer, 'explanation'> {
  if (judged.set?.explain === 'reason') return {}
  return { explanation: explanationOf(judged.set, request.action, { ...judged.judgement, outcome }) }
}

/** True for allowed actions; values that no schema has let through, of an observed one, would enter sums. */
function countsAsTaken({ decision, decidedBy }: Resolution['outcome']): boolean {
  return decision === 'allow' && decidedBy !== 'invalid_context'
}

function decisionEntry(
  { caller, request, judged, decisionId: id }: Asked,
  { outcome, approval }: Resolution,
  shadow: ShadowNote | undefined,
): DecisionEntry {
  const { set, risk, nowMs, seen, subject } = judged
  // In the order of the canonical form, which costs less then.
  return {
    kind: 'decision',
    id: siblingId(id, 'entry'),
    chain: caller.chain,
    decision: { action: request.action, decision: outcome.decision, id },
    request,
    risk,
    grounds: {
      approvalId: approval?.id ?? null,
      caller: { agent: principalOf(caller.key), keyId: caller.key.id, roles: caller.key.roles },
      decidedBy: outcome.decidedBy,
      domain: subject.domain ?? null,
      evaluatedAt: formatTimestamp(nowMs),
      historyEnd: seen?.end ?? null,
      ...(outcome.observed !== undefined && { observed: outcome.observed }),
      planValidated: outcome.planValidated,
      policyDigest: set?.digest ?? null,
      reason: outcome.reason,
      retry: outcome.retry,
      rule: outcome.rule,
      session: (set && sessionOf(set, request)) ?? null,
      ...(shadow !== undefined && { shadow }),
      taken: countsAsTaken(outcome) ? request.action : null,
      unevaluable: outcome.unevaluable,
    },
  }
}
