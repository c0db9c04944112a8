import { type Approval, type ApprovalStatus, approvalDigest, statusAt, unboundPath } from '../../approvals/approval.ts'
import { siblingId } from '../../base/id.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { principalOf } from '../../keys/apikey.ts'
import { ROUTES } from '../../keys/routes.ts'
import { coveringStop, type PlacedStop } from '../../killswitch/killswitch.ts'
import { EFFECTS, POLICY_STEPS } from '../../policies/set.ts'
import { trailOf } from '../chain.ts'
import { knownKey } from './actors.ts'
import type { Place, Told } from './place.ts'
import { broken, type Decided, type Fault, type State } from './state.ts'

/** The fault in a decision; `state.decided` is what the next entries of its commit refer to. */
export function decisionFault(state: State, place: Place, told: Told): Fault | undefined {
  const decision = told.section('decision')
  const grounds = told.section('grounds')
  const caller = grounds?.caller
  if (decision === undefined || grounds === undefined || !isJsonObject(caller))
    return broken('form', 'the decision or its grounds are missing')
  const { id, action, decision: outcome, timestamp } = decision
  if (typeof id !== 'string' || siblingId(id, 'entry') !== place.id || timestamp !== place.ts)
    return broken('form', 'the decision is that of another entry')
  const { keyId, roles, agent } = caller
  const domain = textOrNull(grounds.domain)
  if (typeof action !== 'string' || typeof outcome !== 'string' || typeof agent !== 'string' || domain === undefined)
    return broken('form', 'the decision does not say what was decided, for whom')
  const approvalId = textOrNull(grounds.approvalId) ?? null
  const decided = { seq: place.seq, id, keyId: String(keyId), agent, action, domain, decision: outcome, approvalId }
  state.decided = { ...decided, usesUnknown: false }
  const key = knownKey(state, place, { id: keyId, roles }, { key: ROUTES.check })
  if (key !== undefined && 'rule' in key) return key
  if (key !== undefined && principalOf(key) !== agent) return broken('actor', `key ${key.id} acts as another agent`)
  return outcomeFault(state, place, state.decided, grounds, told)
}

function outcomeFault(
  state: State,
  place: Place,
  decided: Decided,
  { decidedBy, observed, policyDigest, taken }: JsonObject,
  told: Told,
): Fault | undefined {
  const { action, decision } = decided
  if (decision !== 'allow') {
    if (observed !== undefined) return broken('decision', 'policies that are only observed allow every action')
    return taken === null ? undefined : broken('decision', 'an action counts as taken that was not allowed')
  }
  // Nobody has checked the values of a request that only an observed mode allows.
  if (taken !== (decidedBy === 'invalid_context' ? null : action))
    return broken('decision', 'the allowed action does not count as taken, or should not')
  const stop = coveringStop(state.inForce, { chain: trailOf(place.chain), action, domain: decided.domain ?? undefined })
  if (stop !== undefined) return broken('stopped', `it allows what stop ${stop.id} (${stop.level}) had stopped`)
  if (observed !== undefined && (decidedBy !== 'approval' || observed !== 'allow'))
    return observedFault(state, { decidedBy, observed, policyDigest })
  if (decidedBy === 'allow_rule') return undefined
  if (decidedBy !== 'approval') return broken('decision', 'it allows without a rule or an approval')
  return useFault(state, place, decided, told)
}

/** The fault in an allow that policies did not give, since they are only observed. */
function observedFault(
  { enforced }: State,
  { decidedBy, observed, policyDigest }: Record<'decidedBy' | 'observed' | 'policyDigest', Json | undefined>,
): Fault | undefined {
  if (typeof policyDigest === 'string' && enforced.has(policyDigest))
    return broken('decision', 'it allows as observed what policies decided that were loaded to be enforced')
  const isStep = (POLICY_STEPS as readonly unknown[]).includes(decidedBy)
  const isEffect = (EFFECTS as readonly unknown[]).includes(observed)
  if (isStep && isEffect && (observed === 'allow') === (decidedBy === 'allow_rule')) return undefined
  return broken('decision', 'what the policies decided is not what they can decide')
}

/** The fault in the use of an approval; the next entry must use it up. */
function useFault(state: State, place: Place, decided: Decided, told: Told): Fault | undefined {
  const { approvalId, agent, action } = decided
  const approval = approvalId === null ? undefined : state.approvals.get(approvalId)
  if (approval === undefined) {
    // Not a fault yet: the approval may be one that was erased, with the entry that uses it up.
    decided.usesUnknown = true
    return undefined
  }
  if (approval.status !== 'approved') return broken('state', `approval ${approval.id} had not been approved`)
  const status = statusBy(approval, state.placed, place)
  if (status !== 'approved') return broken('state', `approval ${approval.id} was ${status} by then`)
  if (approval.requestedBy !== agent) return broken('bound', `approval ${approval.id} was given to another requester`)
  // Erased content cannot be compared any more.
  const request = told.section('request')
  const digest = request && digestOf(place.chain, agent, request, approval.unbound)
  if (approval.action !== action || (request !== undefined && digest !== approval.digest))
    return broken('bound', `approval ${approval.id} is for another request`)
  return undefined
}

/** The status of an open approval at a place, recorded or not. */
export function statusBy(approval: Approval, stops: readonly PlacedStop[], { atMs }: Place): ApprovalStatus {
  // Where the clock lags, nobody can say whether its time was over.
  return statusAt(approval, stops, Number.isFinite(atMs) ? atMs : Date.parse(approval.createdAt))
}

/** The digest of what an approval of this request covers; undefined for a value that is not a request. */
export function digestOf(
  chain: string,
  requester: string,
  { action, context = {}, plan = null }: JsonObject | Approval,
  unbound: readonly string[],
): string | undefined {
  const paths = unbound.flatMap((path) => [unboundPath(path) ?? []])
  if (typeof action !== 'string' || !isJsonObject(context) || !(plan === null || isJsonObject(plan))) return undefined
  if (paths.some((path) => path.length === 0)) return undefined
  return approvalDigest({ chain, action, context, plan, requester }, paths)
}

function textOrNull(value: Json | undefined): string | null | undefined {
  return value === null || typeof value === 'string' ? value : undefined
}
