import { type Approval, deadlineMs, statusAt } from '../../approvals/approval.ts'
import type { DecisionEntry } from '../../audit/draft.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Explanation } from '../../gate/explain.ts'
import { coveringStop } from '../../killswitch/killswitch.ts'
import { domainOf, type PolicySet } from '../../policies/set.ts'
import type { Caller, CheckDeps, Deps } from '../deps.ts'

/** Validity of an allow; later the agent asks again. */
const ALLOW_VALID_MS = 60_000

/** `data` of POST /gate/check. */
export type CheckAnswer = ReturnType<typeof checkAnswer> & {
  /** Present only on request, for a new decision, where the policies disclose it to agents. */
  explanation?: Explanation
}

/** A decision entry without its request. */
export type Decided = Pick<DecisionEntry, 'decision' | 'risk' | 'grounds'>

/** The answer of a decision entry; a repeated answer is made the same way as a new one. */
export function checkAnswer(
  { decision, risk, grounds }: Decided,
  ts: string,
  approvalExpiresAt: string | null,
  set: PolicySet | undefined,
) {
  // Missing policies may have forbidden disclosure.
  const open = set === undefined ? grounds.policyDigest === null : set.explain !== 'reason'
  return {
    decision: decision.decision,
    reason: grounds.reason,
    riskScore: risk.score,
    plan: { action: decision.action, validated: grounds.planValidated },
    decisionId: decision.id,
    timestamp: ts,
    rule: open ? grounds.rule : null,
    decidedBy: grounds.decidedBy,
    retry: grounds.retry,
    policyDigest: grounds.policyDigest,
    approvalId: grounds.approvalId,
    approvalExpiresAt,
    validUntil: decision.decision === 'allow' ? formatTimestamp(Date.parse(ts) + ALLOW_VALID_MS) : null,
    factors: open ? risk.factors : [],
    unevaluable: open ? grounds.unevaluable : [],
  }
}

/**
 * The answer of the stored decision while it holds: an allow for 60 s, a hold while its approval is pending, both while
 * nothing stops the action. Undefined otherwise; the check then decides anew.
 */
export async function replayedAnswer(
  deps: CheckDeps,
  caller: Caller,
  entryId: string,
): Promise<CheckAnswer | undefined> {
  const entry = await deps.store.entry(entryId)
  const decided = entry?.header.chain === caller.chain ? decidedOf(entry) : undefined
  if (entry === undefined || decided === undefined) return undefined
  const { decision, grounds } = decided
  const nowMs = deps.clock()
  const { switches } = deps.store.state()
  const set = deps.policies.get(caller.tenantId)
  const approval = grounds.approvalId === null ? undefined : await deps.store.approval(grounds.approvalId)
  if (decision.decision !== 'deny') {
    const subject = { chain: caller.chain, action: decision.action, domain: set && domainOf(set, decision.action) }
    if (coveringStop(switches, subject) !== undefined) return undefined
  }
  if (decision.decision === 'allow' && nowMs >= Date.parse(entry.header.ts) + ALLOW_VALID_MS) return undefined
  if (decision.decision === 'require_approval') {
    if (approval === undefined || statusAt(approval, switches, nowMs) !== 'pending') return undefined
  }
  return checkAnswer(decided, entry.header.ts, deadlineOf(deps, approval), set)
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
