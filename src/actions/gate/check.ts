import type { DecisionEntry } from '../../audit/draft.ts'
import { siblingId } from '../../base/id.ts'
import { formatTimestamp } from '../../base/time.ts'
import { explanationOf } from '../../gate/explain.ts'
import { sessionOf } from '../../gate/history.ts'
import type { CheckRequest } from '../../gate/request.ts'
import { principalOf } from '../../keys/apikey.ts'
import type { Guard, Placed, Submission } from '../../store/submission.ts'
import { type Caller, type CheckDeps, committedTime, decideAndCommit } from '../deps.ts'
import { bindTo, earlierUse, type Idempotency } from '../idempotency.ts'
import { type CheckAnswer, checkAnswer, deadlineOf, replayedAnswer } from './answer.ts'
import { type Asked, type HoldResult, resolveHold } from './hold.ts'
import { type Judged, judgeNow, turnFor } from './judge.ts'

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
export async function check(
  deps: CheckDeps,
  caller: Caller,
  request: CheckRequest,
  idempotency?: Idempotency,
  { explain }: CheckOptions = { explain: false },
): Promise<CheckAnswer> {
  await turnFor(deps, caller, request.action)
  const set = deps.policies.get(caller.tenantId)
  const decided = (): Promise<CheckAnswer> =>
    decideAndCommit(deps.store, async () => {
      const earlier = await earlierUse(deps.store, caller, idempotency)
      const replayed = earlier && (await replayedAnswer(deps, caller, request, earlier))
      if (replayed !== undefined) return { submission: null, reply: () => replayed }

      const judged = await judgeNow(deps, caller, request)
      if (deps.isLarge) await deps.pause?.(caller.tenantId)
      const asked = { caller, request, judged, decisionId: deps.newId('decision') }
      const hold = await resolveHold(deps, asked)
      const entry = decisionEntry(asked, hold)
      const bound = bindTo(deps, caller, idempotency, earlier, entry.id)
      const submission: Submission = {
        guards: [
          { kind: 'keyActive', keyId: caller.key.id },
          ...(entry.decision.decision === 'allow' ? allowGuards(judged) : []),
          ...hold.guards,
          ...bound.guards,
        ],
        writes: [...hold.writes, ...bound.writes],
        entries: [entry, ...hold.entries],
      }
      return {
        submission,
        isAbandoned: caller.hasHungUp,
        reply: ({ entries }) => ({
          ...checkAnswer(entry, decidedAtMs(deps, entries, entry.id), deadlineOf(deps, hold.approval), judged.set),
          ...(explain && explanationFor(asked, hold)),
        }),
      }
    })
  return set === undefined ? decided() : deps.history.runExclusive(set, caller, request.action, decided)
}

/** The time of the entry; a chain that is ahead of a clock that was set back prolongs no allow. */
function decidedAtMs({ clock }: CheckDeps, entries: readonly Placed[], id: string): number {
  return Math.min(Date.parse(committedTime(entries, id)), clock())
}

/** The guards of an allow, which hold what it rests on until the commit. */
function allowGuards({ subject, seen }: Judged): Guard[] {
  return [{ kind: 'notStopped', subject }, ...(seen === null ? [] : [seen.guard])]
}

/** The explanation; an agent whose policies state `explain: reason` gets the reason alone. */
function explanationFor({ request, judged }: Asked, { outcome }: HoldResult): Pick<CheckAnswer, 'explanation'> {
  if (judged.set?.explain === 'reason') return {}
  return { explanation: explanationOf(judged.set, request.action, { ...judged.judgement, outcome }) }
}

function decisionEntry(
  { caller, request, judged, decisionId: id }: Asked,
  { outcome, approval }: HoldResult,
): DecisionEntry {
  const { set, risk, nowMs, seen, subject } = judged
  return {
    kind: 'decision',
    id: siblingId(id, 'entry'),
    chain: caller.chain,
    decision: { id, action: request.action, decision: outcome.decision },
    request,
    risk,
    grounds: {
      rule: outcome.rule,
      reason: outcome.reason,
      decidedBy: outcome.decidedBy,
      retry: outcome.retry,
      policyDigest: set?.digest ?? null,
      evaluatedAt: formatTimestamp(nowMs),
      caller: { keyId: caller.key.id, roles: caller.key.roles, agent: principalOf(caller.key) },
      domain: subject.domain ?? null,
      session: (set && sessionOf(set, request)) ?? null,
      taken: outcome.decision === 'allow' ? request.action : null,
      historyEnd: seen?.end ?? null,
      unevaluable: outcome.unevaluable,
      approvalId: approval?.id ?? null,
      planValidated: outcome.planValidated,
    },
  }
}
