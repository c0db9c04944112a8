import { type Approval, statusAt, stopThatCancelled } from '../../approvals/approval.ts'
import { inTrailOrder, trailOf } from '../../audit/chain.ts'
import type { Actor } from '../../audit/draft.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import type { EventType } from '../../audit/events.ts'
import { siblingId } from '../../base/id.ts'
import type { ApiKey } from '../../keys/apikey.ts'
import { changeIn } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { Caller, Deps } from '../deps.ts'
import { type Decided, decidedOf, observedIn } from '../gate/answer.ts'
import { outcomeIn, SETTLED } from '../outcomes/outcome-of.ts'
import { decisionEntry, decisionOfTrail } from './decisions.ts'

/** Limit of moments for one action; an approval with more votes shows the newest. */
export const MAX_MOMENTS = 200

export const TIMELINE_EVENTS = [
  'gate.decision',
  'approval.requested',
  'approval.approved',
  'approval.rejected',
  'approval.expired',
  'approval.cancelled',
  'approval.consumed',
  'outcome.recorded',
  'outcome.missing',
] as const satisfies readonly EventType[]
type TimelineEvent = (typeof TIMELINE_EVENTS)[number]

/**
 * The history of an action in order: its decisions, their outcomes, and the approval that joins them. The decision that
 * was held and the one that used the approval have the same timeline.
 *
 * @throws GateError `not_found`
 */
export async function decisionTimeline(deps: Deps, { chain }: Caller, id: string) {
  const { store } = deps
  const asked = await decisionOfTrail(store, chain, id)
  const approvalId = decidedOf(asked)?.grounds.approvalId ?? null
  const changes = approvalId === null ? [] : await store.changesOf('approval', approvalId)
  const ofApproval = changes.filter(({ header }) => header.chain === chain)
  const heldDecisionId = decisionIn(ofApproval[0])
  const usedByDecisionId = decisionIn(ofApproval.find(({ header }) => header.type === 'approval.consumed'))
  const decisions = await decisionsOf(store, asked, [heldDecisionId, usedByDecisionId])
  const outcomes = await Promise.all(
    decisions.map(({ header }) => store.outcomeEntries(chain, siblingId(header.id, 'decision'), SETTLED)),
  )
  const kept = ofApproval.slice(-MAX_MOMENTS)
  const entries = [...decisions, ...kept, ...outcomes.flat()].sort((a, b) => inTrailOrder(a.header, b.header))
  const approval = approvalId === null ? undefined : await store.approval(approvalId)
  const { keys, switches } = store.state()
  const status = approval === undefined ? null : statusAt(approval, switches, deps.clock())
  const stop = stopBehind(deps, approval)
  return {
    decisionId: siblingId(asked.header.id, 'decision'),
    approval: approvalId === null ? null : { id: approvalId, status, heldDecisionId, usedByDecisionId },
    items: entries.map((entry) => momentOf(entry, keys, stop)),
    leftOut: ofApproval.length - kept.length,
  }
}

/** The decision that an approval's entry names: the one that requested it, or the one that used it. */
function decisionIn(entry: StoredEntry | undefined): string | null {
  if (entry?.header.type === 'approval.consumed') return textOf(sectionValue(entry, 'data')?.decisionId)
  return entry?.header.type === 'approval.requested' ? textOf(changeIn(entry)?.changes.decisionId) : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The entries of the requested decision and of those of this chain with these ids, each once. */
async function decisionsOf(store: Store, asked: StoredEntry, ids: readonly (string | null)[]): Promise<StoredEntry[]> {
  const trail = trailOf(asked.header.chain)
  const found = new Map([[asked.header.id, asked]])
  for (const id of ids) {
    const entry = id === null ? undefined : await decisionEntry(store, id)
    if (entry !== undefined && trailOf(entry.header.chain) === trail) found.set(entry.header.id, entry)
  }
  return [...found.values()]
}

/** The stop that cancelled the approval, if any. The entry names none, since cancellation follows from the stops. */
function stopBehind({ store, clock }: Deps, approval: Approval | undefined) {
  const stop = approval && stopThatCancelled(approval, store.state().switches, clock())
  return stop === undefined ? null : { id: stop.id, level: stop.level, scope: stop.scope }
}

/** An entry as a moment of the timeline; members that its event does not have are null. */
function momentOf(entry: StoredEntry, keys: ReadonlyMap<string, ApiKey>, stop: ReturnType<typeof stopBehind>) {
  const { id: entryId, seq, ts: at, type } = entry.header
  // Only entries of these types are read.
  const event = type as TimelineEvent
  const own = { at, seq, entryId, event }
  const nothing = { decision: null, hold: null, vote: null, approvalStatus: null, stop: null, outcome: null }
  if (event === 'gate.decision') {
    const decided = decidedOf(entry)
    const actor = decided === undefined ? null : actorOf({ kind: 'key', id: decided.grounds.caller.keyId }, keys)
    return {
      ...own,
      actor,
      decisionId: siblingId(entryId, 'decision'),
      ...nothing,
      decision: decided ? told(decided) : null,
    }
  }
  // Entries are written with actors of this type.
  const actor = actorOf(sectionValue(entry, 'actor') as Actor | undefined, keys)
  if (event === 'outcome.recorded' || event === 'outcome.missing') {
    const decisionId = textOf(sectionValue(entry, 'data')?.decisionId)
    return { ...own, actor, decisionId, ...nothing, outcome: outcomeIn(entry) }
  }
  // A person cancels it by a key.
  const isByStop = event === 'approval.cancelled' && actor?.kind === 'service'
  return {
    ...own,
    actor,
    decisionId: decisionIn(entry),
    ...nothing,
    ...changeOfApproval(event, entry),
    stop: isByStop ? stop : null,
  }
}

function actorOf(actor: Pick<Actor, 'kind' | 'id'> | undefined, keys: ReadonlyMap<string, ApiKey>) {
  if (actor === undefined) return null
  const { kind, id } = actor
  const key = keys.get(id)
  return { kind, id, identity: key?.identity ?? null, name: key?.name ?? null }
}

function told({ decision, grounds, risk }: Decided) {
  const { action, decision: outcome } = decision
  const { reason, rule, decidedBy } = grounds
  return { action, decision: outcome, ...observedIn(grounds), reason, rule, decidedBy, riskScore: risk.score }
}

/** The change that an approval's entry made: a vote below the quorum leaves it pending. */
function changeOfApproval(event: TimelineEvent, entry: StoredEntry) {
  // Changes of approvals are written from this type.
  const changes = changeIn(entry)?.changes as Partial<Approval> | undefined
  if (changes === undefined) return {}
  const { status: approvalStatus = 'pending' as const, requestedBy = '', quorum = 1, expiresAt = '' } = changes
  const isVote = event === 'approval.approved' || event === 'approval.rejected'
  const vote = isVote ? changes.votes?.at(-1) : undefined
  return {
    approvalStatus,
    hold: event === 'approval.requested' ? { requestedBy, quorum, expiresAt } : null,
    // The last of the remaining votes is the recorded one.
    vote: vote ? { principal: vote.principal, approverId: vote.approverId, comment: vote.comment } : null,
  }
}
