import { type Approval, deadlineMs, statusAt } from '../../approvals/approval.ts'
import { trailOf } from '../../audit/chain.ts'
import type { DecisionEntry } from '../../audit/draft.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Explanation } from '../../gate/explain.ts'
import type { CheckRequest } from '../../gate/request.ts'
import type { ShadowNote } from '../../gate/shadow.ts'
import { coveringStop, stopSince } from '../../killswitch/killswitch.ts'
import { type Decision, domainOf, type PolicySet } from '../../policies/set.ts'
import type { IdempotencyUse } from '../../store/submission.ts'
import { isIntact } from '../approvals/follows-from-chain.ts'
import { type Caller, type CheckDeps, type Deps, stateNow } from '../deps.ts'

/** Validity of an allow; later the agent asks again. */
const ALLOW_VALID_MS = 60_000

/** `data` of POST /gate/check. */
export type CheckAnswer = ReturnType<typeof checkAnswer> & {
  /** Present only on request, for a new decision, where the policies disclose it to agents. */
  explanation?: Explanation
}

/** A decision entry without its request. */
export type Decided = Pick<DecisionEntry, 'decision' | 'risk' | 'grounds'>

/**
 * The answer of a decision entry; a repeated answer is made the same way as a new one.
 *
 * @param decidedAtMs the entry's time; where the chain is ahead of the clock, the clock's
 */
export function checkAnswer(
  { decision, risk, grounds }: Decided,
  decidedAtMs: number,
  approvalExpiresAt: string | null,
  set: PolicySet | undefined,
) {
  // Missing policies may have forbidden disclosure.
  const open = set === undefined ? grounds.policyDigest === null : set.explain !== 'reason'
  return {
    decision: decision.decision,
    ...observedIn(grounds),
    reason: grounds.reason,
    riskScore: risk.score,
    plan: { action: decision.action, validated: grounds.planValidated },
    decisionId: decision.id,
    timestamp: formatTimestamp(decidedAtMs),
    rule: open ? grounds.rule : null,
    decidedBy: grounds.decidedBy,
    retry: grounds.retry,
    policyDigest: grounds.policyDigest,
    approvalId: grounds.approvalId,
    approvalExpiresAt,
    validUntil: decision.decision === 'allow' ? formatTimestamp(decidedAtMs + ALLOW_VALID_MS) : null,
    factors: open ? risk.factors : [],
    unevaluable: open ? grounds.unevaluable : [],
  }
}

/** The decision of policies that were only observed, as a member. */
export function observedIn({ observed }: Decided['grounds']): { observed?: Decision } {
  // It was written from a decision, and its commitment binds it.
  return observed === undefined ? {} : { observed: observed as Decision }
}

/** The note of the set in shadow, as a member; it is never part of an answer to the agent. */
export function shadowIn({ shadow }: Decided['grounds']): { shadow?: ShadowNote } {
  // As above.
  return shadow === undefined ? {} : { shadow: shadow as ShadowNote }
}

/**
 * The answer of the stored decision while it holds: an allow for 60 s under the same policies, if no stop over the action
 * came since; a hold while its approval is pending and nothing stops the action. Undefined otherwise; the check then
 * decides anew.
 */
export async function replayedAnswer(
  deps: CheckDeps,
  caller: Caller,
  request: CheckRequest,
  { entryId }: IdempotencyUse,
): Promise<CheckAnswer | undefined> {
  const entry = await deps.store.entry(entryId)
  // The table of uses is in no chain: an edited row must not lead to a decision about something else.
  const isMine = entry !== undefined && trailOf(entry.header.chain) === caller.chain
  const isSound = isMine && (await isIntact(deps.store, entry))
  const decided = isSound && isAbout(entry, request) ? decidedOf(entry) : undefined
  if (entry === undefined || decided?.grounds.caller.keyId !== caller.key.id) return undefined
  const { decision, grounds } = decided
  const { chain, seq } = entry.header
  const nowMs = deps.clock()
  const set = deps.policies.get(caller.tenantId)
  const approval = grounds.approvalId === null ? undefined : await deps.store.approval(grounds.approvalId)
  if (decision.decision === 'allow' && !(await isFresh(deps, entry, grounds, set, nowMs))) return undefined
  // Last, since the answer commits nothing that would look for a stop.
  const { switches } = await stateNow(deps.store)
  if (decision.decision !== 'deny') {
    const subject = { chain: caller.chain, action: decision.action, domain: set && domainOf(set, decision.action) }
    if (coveringStop(switches, subject) !== undefined) return undefined
    if (decision.decision === 'allow' && stopSince(switches, subject, seq + 1, chain)) return undefined
  }
  if (decision.decision === 'require_approval') {
    if (approval === undefined || statusAt(approval, switches, nowMs) !== 'pending') return undefined
  }
  return checkAnswer(decided, Date.parse(entry.header.ts), deadlineOf(deps, approval), set)
}

function isAbout(entry: StoredEntry, request: CheckRequest): boolean {
  const recorded = sectionValue(entry, 'request')
  return recorded !== undefined && canonicalJson(recorded) === canonicalJson(request)
}

/**
 * True for an allow of the last 60 s under the policies in force. A clock that was set back since makes no old one
 * fresh: the entry lies ahead of it, or the chain has recorded that it went back.
 */
async function isFresh(
  { store }: CheckDeps,
  { header: { chain, seq, ts } }: StoredEntry,
  { evaluatedAt, policyDigest }: Decided['grounds'],
  set: PolicySet | undefined,
  nowMs: number,
): Promise<boolean> {
  const fromMs = Date.parse(evaluatedAt)
  const isWithin = Date.parse(ts) <= nowMs && fromMs <= nowMs && nowMs < fromMs + ALLOW_VALID_MS
  if (!isWithin || policyDigest !== (set?.digest ?? null)) return false
  const regressions = await store.seqsOfTypes(chain, ['clock.regression'], { first: seq, end: Number.MAX_SAFE_INTEGER })
  return regressions.length === 0
}

/** The approval's deadline, moved by the time of stops until now. */
export function deadlineOf(deps: Deps, approval: Approval | undefined): string | null {
  return approval === undefined
    ? null
    : formatTimestamp(deadlineMs(approval, deps.store.state().switches, deps.clock()))
}

/** The sections of a decision entry without its request; undefined when one has been erased. */
export function decidedOf(entry: StoredEntry): Decided | undefined {
  const section = (name: string): unknown => sectionValue(entry, name)
  const [decision, risk, grounds] = [section('decision'), section('risk'), section('grounds')]
  if (!decision || !risk || !grounds) return undefined
  // Sections were written from these types and their commitments bind them.
  return { decision, risk, grounds } as Decided
}
