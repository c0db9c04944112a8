import { type Approval, subjectOf, type Vote } from '../../approvals/approval.ts'
import { assertMayVote, countedVotes, type VotingTerms } from '../../approvals/votes.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { GateError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { principalOf } from '../../keys/apikey.ts'
import { seesAllApprovals } from '../../keys/roles.ts'
import { coveringStop } from '../../killswitch/killswitch.ts'
import { knowsAllKeys } from './actors.ts'
import { digestOf, statusBy } from './decisions.ts'
import { readApproval, readTerms, time } from './forms.ts'
import { unknownFault } from './keys.ts'
import type { Place } from './place.ts'
import { broken, type Change, changedRecord, type Fault, namesOf, type State } from './state.ts'

/** An entry about an approval, of whose actor is known that it may cause it. */
interface Event extends Change {
  place: Place
  type: string
  data: JsonObject
  actor: JsonObject
}

export function approvalFault(state: State, event: Event): Fault | undefined {
  const { id, type, changes, data } = event
  const names = type === 'approval.consumed' ? 'changes decisionId id record terms' : 'changes id record'
  if (namesOf(data) !== names) return broken('form', 'its data has other members')
  if (type === 'approval.requested') return requestedFault(state, event)
  const before = state.approvals.get(id)
  if (before === undefined) return unknownFault(state, `approval ${id} was not open`)
  if (changes.revision !== before.revision + 1) return broken('record', `approval ${id} is not what it was`)
  switch (type) {
    case 'approval.approved':
    case 'approval.rejected':
      return voteFault(state, event, before)
    case 'approval.expired':
      return expiredFault(state, event, before)
    case 'approval.cancelled':
      return cancelledFault(state, event, before)
    default:
      return consumedFault(state, event, before)
  }
}

function requestedFault(state: State, event: Event): Fault | undefined {
  const { id, place, changes, actor } = event
  const approval = readApproval(changes)
  if (approval === undefined || approval.id !== id) return broken('form', 'it is not a well-formed approval')
  const { decided } = state
  if (state.approvals.has(id) || approval.revision !== 1) return broken('record', `approval ${id} had been made before`)
  if (approval.chain !== place.chain) return broken('type', 'the approval belongs to another chain')
  const isDecided = approval.votes.length > 0 || approval.decidedAt !== null || approval.decidedEnd !== null
  if (approval.status !== 'pending' || isDecided || approval.quorum < 1)
    return broken('state', 'a new approval is pending, and has no votes')
  if (approval.requestedEnd > place.seq) return broken('order', `approval ${id} was requested at a later place`)
  if (decided === undefined) return state.knows.own ? broken('order', 'no held decision comes before it') : undefined
  const isForIt =
    decided.decision === 'require_approval' &&
    decided.approvalId === id &&
    decided.id === approval.decisionId &&
    decided.action === approval.action &&
    decided.domain === approval.domain &&
    decided.agent === approval.requestedBy &&
    decided.keyId === approval.requestedByKey &&
    decided.keyId === actor.id
  if (!isForIt) return broken('bound', `approval ${id} is not for what the decision before held`)
  return digestOf(place.chain, approval.requestedBy, changes, approval.unbound) === approval.digest
    ? undefined
    : broken('bound', `the digest of approval ${id} is that of another request`)
}

/** The fault in a vote, for the approval or against it. */
function voteFault(state: State, event: Event, before: Approval): Fault | undefined {
  const { id, type, place, changes } = event
  const isFor = type === 'approval.approved'
  const after = readApproval(changedRecord(state, event))
  if (after === undefined) return broken('form', 'the approval that it leaves is malformed')
  const { votes, status } = after
  const isEnd = status !== 'pending'
  const members = status === 'approved' ? 'decidedAt decidedEnd' : 'decidedAt'
  if (namesOf(changes) !== (isEnd ? `${members} revision status votes` : 'revision votes'))
    return broken('form', 'it is not a vote, or changes more')
  if (before.status !== 'pending') return broken('state', `approval ${id} was ${before.status}, no longer pending`)
  if (isEnd ? status !== (isFor ? 'approved' : 'rejected') || after.decidedAt === null : !isFor)
    return broken('state', `the vote leaves approval ${id} ${status}`)
  if (statusBy(before, state.placed, place) === 'expired') return broken('state', `approval ${id} had expired`)
  // A stop counts from this place on, which lies at the vote or before.
  if (status === 'approved' && !(after.decidedEnd !== null && after.decidedEnd <= place.seq))
    return broken('order', `approval ${id} was approved at a later place`)
  const stop = isFor ? coveringStop(state.inForce, subjectOf(before)) : undefined
  if (stop !== undefined) return broken('stopped', `a vote counts under stop ${stop.id} (${stop.level})`)
  const fault = ballotFault(state, event, before, votes)
  if (fault !== undefined || !isFor || !isEnd) return fault
  return quorumFault(state, place, { ...before, votes }, before)
}

/** The fault in the last of these votes, which the entry adds to those before. */
function ballotFault(
  state: State,
  { place, type, actor }: Event,
  before: Approval,
  votes: readonly Vote[],
): Fault | undefined {
  const vote = votes.at(-1)
  if (vote === undefined || canonicalJson(votes.slice(0, -1)) !== canonicalJson(before.votes))
    return broken('vote', 'the votes before are not what they were')
  if (vote.keyId !== actor.id || vote.entryId !== place.id) return broken('vote', 'the vote is not that of the entry')
  const voter = state.keys.get(vote.keyId)
  if (voter === undefined) return undefined
  if (vote.principal !== principalOf(voter)) return broken('vote', `key ${voter.id} votes under another identity`)
  // The requester may vote against its request.
  const asked = type === 'approval.approved' ? before : { ...before, selfApproval: true }
  const refusal = refusalOf(() => assertMayVote(asked, voter, vote.approverId, state.keys))
  return refusal === undefined ? undefined : broken('vote', `key ${voter.id} had no vote: ${refusal}`)
}

function refusalOf(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof GateError) return error.code
    throw error
  }
}

/** The fault when fewer of these votes count, under the terms, than are needed. */
function quorumFault(state: State, { atMs }: Place, approval: Approval, terms: VotingTerms): Fault | undefined {
  const unknown = approval.votes.filter(({ keyId }) => !state.keys.has(keyId))
  if (unknown.length > 0 && !knowsAllKeys(state)) {
    state.unjudged += 1
    return undefined
  }
  const counted = countedVotes(approval, terms, state.keys, atMs).size
  if (terms.quorum >= 1 && counted >= terms.quorum) return undefined
  return broken('quorum', `approval ${approval.id} has ${counted} of ${terms.quorum} votes that count`)
}

function expiredFault(state: State, { id, place, changes }: Event, before: Approval): Fault | undefined {
  if (namesOf(changes) !== 'revision status' || changes.status !== 'expired')
    return broken('form', 'it is not an expiry, or changes more')
  // While only the order is known, nobody can say whether the deadline had passed.
  const status = statusBy({ ...before, status: 'pending' }, state.placed, place)
  const isEarly = Number.isFinite(place.atMs) && status !== 'expired'
  return isEarly ? broken('state', `approval ${id} had not expired`) : undefined
}

function cancelledFault(state: State, { id, changes, actor, place }: Event, before: Approval): Fault | undefined {
  if (changes.status !== 'cancelled') return broken('form', 'it is not a cancellation')
  if (actor.kind === 'service') {
    if (namesOf(changes) !== 'revision status') return broken('form', 'it is not a cancellation, or changes more')
    const isStopped = before.status === 'approved' && statusBy(before, state.placed, place) === 'cancelled'
    return isStopped ? undefined : broken('state', `no stop has cancelled approval ${id}`)
  }
  if (namesOf(changes) !== 'decidedAt revision status' || !time(changes.decidedAt))
    return broken('form', 'it is not a cancellation, or changes more')
  const key = typeof actor.id === 'string' ? state.keys.get(actor.id) : undefined
  if (key === undefined || seesAllApprovals(key.roles) || principalOf(key) === before.requestedBy) return undefined
  return broken('role', `key ${key.id} cancels a request of another agent`)
}

function consumedFault(state: State, event: Event, before: Approval): Fault | undefined {
  const { id, place, changes, data, actor } = event
  const { decided } = state
  if (namesOf(changes) !== 'revision status' || changes.status !== 'consumed')
    return broken('form', 'it is not a use, or changes more')
  const terms = readTerms(data.terms)
  if (terms === undefined) return broken('form', 'it does not say what the policy asked for')
  if (before.status !== 'approved' || statusBy(before, state.placed, place) === 'cancelled')
    return broken('state', `approval ${id} was not approved`)
  const isOfIt =
    decided !== undefined &&
    decided.decision === 'allow' &&
    decided.approvalId === id &&
    decided.id === data.decisionId &&
    decided.keyId === actor.id
  if (!isOfIt && (decided !== undefined || state.knows.own))
    return broken('order', `approval ${id} is not used by a decision`)
  return quorumFault(state, place, before, terms)
}
