import { canonicalJson } from '../base/canonical.ts'
import { digestOf } from '../base/digest.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { lengthAt, type PlacedStop, type Subject, stoppedMs, stopSince } from '../killswitch/killswitch.ts'
import { isPlural, parseFactPath } from '../policies/path.ts'

const LABEL = 'gate-sidecar/approval/v1\n'

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired', 'cancelled', 'consumed'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/** Statuses before use or another end: only while open does it matter which votes still count. */
export const OPEN_STATUSES = ['pending', 'approved'] as const satisfies readonly ApprovalStatus[]
export type OpenStatus = (typeof OPEN_STATUSES)[number]

export function isOpenStatus(status: ApprovalStatus): status is OpenStatus {
  return OPEN_STATUSES.some((open) => open === status)
}

export type Vote = {
  keyId: string
  /** The voting key's identity, else its id: the unit of the quorum. */
  principal: string
  /** As claimed in the request. */
  approverId: string
  comment: string | null
  votedAt: string
  /** The audit entry that records the vote. */
  entryId: string
}

export type Approval = {
  id: string
  revision: number
  chain: string
  action: string
  domain: string | null
  /** As stored; ask `statusAt` for what holds now. */
  status: ApprovalStatus
  createdAt: string
  /** Length of its chain when it was asked for: a covering stop that came later pauses it. */
  requestedEnd: number
  context: JsonObject
  plan: JsonObject | null
  decisionId: string
  riskScore: number
  factors: readonly { name: string; weight: number; contribution: number }[]
  reason: string
  rule: string | null
  /** The disclosure to agents that the policy allows; approvers see everything. */
  explain: 'full' | 'reason'
  /** The requesting key's identity, else its id. */
  requestedBy: string
  requestedByKey: string
  quorum: number
  selfApproval: boolean
  approvers: readonly (readonly string[])[]
  /** Paths of context and plan that the digest leaves out. */
  unbound: readonly string[]
  votes: readonly Vote[]
  /** Deadline without stops; while a kill switch covers the action, time does not run. */
  expiresAt: string
  decidedAt: string | null
  /** Length of its chain when the vote that approved it was cast: a covering stop at or after this place cancels it. */
  decidedEnd: number | null
  digest: string
}

/** The part of an approval from which its status and deadline follow, without the request, which may be large. */
export type Standing = Pick<
  Approval,
  'id' | 'chain' | 'action' | 'domain' | 'status' | 'createdAt' | 'requestedEnd' | 'decidedEnd' | 'expiresAt'
>

/** The part of a request that an approval binds. */
export interface Bound extends Pick<Approval, 'chain' | 'action' | 'context' | 'plan'> {
  requester: string
}

/**
 * The digest of an approval's binding (docs/format.md). A changed value anywhere but at the `unbound` paths changes it.
 */
export function approvalDigest(bound: Bound, unbound: readonly (readonly string[])[]): string {
  const bodies = { context: bound.context, plan: bound.plan }
  // One copy for all paths: a bundle may name as many as it has members.
  const { context, plan } = unbound.length === 0 ? bodies : structuredClone(bodies)
  for (const path of unbound) leaveOut({ context, plan }, path)
  return digestOf(LABEL + canonicalJson({ ...bound, context, plan }))
}

/** The members on an unbound path, from `context` or `plan` on; undefined when it does not name a single member. */
export function unboundPath(text: string): string[] | undefined {
  const path = parseFactPath(text)
  return path === undefined || isPlural(path) ? undefined : [path.root, ...path.segments.map(String)]
}

/** Deletes the member at `path`, which starts with `context` or `plan`; a missing member is already left out. */
function leaveOut(bodies: Pick<Bound, 'context' | 'plan'>, path: readonly string[]): void {
  let inner: Json = bodies
  for (const [i, name] of path.entries()) {
    if (!isJsonObject(inner) || !Object.hasOwn(inner, name)) return
    if (i > 0 && i === path.length - 1) delete inner[name]
    else inner = inner[name] ?? null
  }
}

export function subjectOf(approval: Standing): Subject {
  return { chain: approval.chain, action: approval.action, domain: approval.domain ?? undefined }
}

/** The deadline in ms, extended by the time of later stops over the action until now. */
export function deadlineMs(approval: Standing, stops: readonly PlacedStop[], nowMs: number): number {
  const { chain, requestedEnd, createdAt, expiresAt } = approval
  // An earlier stop has ended, though by a clock that was set back since its time may be to come.
  const later = stops.filter((stop) => lengthAt(stop, chain) > requestedEnd)
  return Date.parse(expiresAt) + stoppedMs(later, subjectOf(approval), Date.parse(createdAt), nowMs)
}

/** How far a beginning may lie ahead: the time of a request may be read before another one makes the approval. */
const AHEAD_MS = 1000

/**
 * The current status, recorded or not: a stop over the action cancels earlier approvals, and open ones expire at their
 * deadline. One that begins in the future, by a clock that was set back since, is over too.
 */
export function statusAt(approval: Standing, stops: readonly PlacedStop[], nowMs: number): ApprovalStatus {
  const { status } = approval
  if (!isOpenStatus(status)) return status
  if (status === 'approved' && cancellingStop(approval, stops) !== undefined) return 'cancelled'
  const isOver = nowMs < Date.parse(approval.createdAt) - AHEAD_MS || nowMs >= deadlineMs(approval, stops, nowMs)
  return isOver ? 'expired' : status
}

function cancellingStop(approval: Standing, stops: readonly PlacedStop[]): PlacedStop | undefined {
  return stopSince(stops, subjectOf(approval), approval.decidedEnd ?? 0)
}

/** The stop that cancelled the approval; undefined without one, and when a person cancelled it. */
export function stopThatCancelled(
  approval: Approval,
  stops: readonly PlacedStop[],
  nowMs: number,
): PlacedStop | undefined {
  const { decidedAt, votes } = approval
  // A stop keeps the time of the last vote; a person's cancellation writes its own.
  if (decidedAt === null || decidedAt !== votes.at(-1)?.votedAt) return undefined
  return statusAt(approval, stops, nowMs) === 'cancelled' ? cancellingStop(approval, stops) : undefined
}
