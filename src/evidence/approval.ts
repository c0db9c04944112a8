import { type Approval, approvalDigest, unboundPath, type Vote } from '../approvals/approval.ts'
import type { Checkpoint } from '../audit/checkpoint.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { Bundle, ProvenEntry } from './bundle.ts'
import type { HeaderShape } from './fields.ts'
import { provenFault } from './proven.ts'
import { type Ballots, isTexts, isTime, keysIn, votersFault } from './voters.ts'

/**
 * The fault in the approval of an allowed action: its votes must be for exactly this request, before the decision, by
 * keys that might vote (docs/evidence.md, Approvals).
 *
 * @param beside the checkpoints of other chains; undefined where no trusted log key has signed one
 */
export function approvalFault(
  { decision, context, proof }: Bundle,
  decided: HeaderShape,
  checkpoint: Checkpoint,
  beside: ReadonlyMap<string, Checkpoint | undefined>,
): string | undefined {
  const { approval, keys, grounds, redacted } = proof
  const isErased = redacted.includes('approval')
  const isApproved = decision.decision === 'allow' && grounds.decidedBy === 'approval'
  const areKeysGone = redacted.includes('keys')
  if ((areKeysGone || !isApproved || isErased) && keys.length + proof.beside.length > 0)
    return 'There are keys of no approval that is shown.'
  if (!isApproved || isErased) {
    if (approval.length > 0) return 'There are entries of an approval that the decision did not come from.'
    if (areKeysGone) return 'There is no approval of which keys could be missing.'
    return isErased && !isApproved ? 'There was no approval that could be erased.' : undefined
  }
  const entries = entriesFault(approval, decided, checkpoint, grounds.approvalId)
  if (entries !== undefined) return entries
  const request = redacted.includes('request') ? undefined : context.originalRequest
  const record = merged(approval)
  const ballots = ballotsIn(record, approval)
  if (typeof ballots === 'string') return ballots
  const fault = recordFault(record, decided.chain, grounds, request)
  if (fault !== undefined) return fault
  if (areKeysGone) return principalsFault(ballots)
  const made = keysIn(keys, decided.chain, (chain) => (chain === decided.chain ? checkpoint : beside.get(chain)))
  if (typeof made === 'string') return made
  const others = new Set(keys.map(({ header }) => header.chain).filter((chain) => chain !== decided.chain))
  if ([...others].sort().join() !== [...beside.keys()].join() || beside.size !== proof.beside.length)
    return 'There is not one checkpoint for each other chain of the keys.'
  const seqs = approval.slice(1).map(({ header }) => header.seq)
  return votersFault(ballots, seqs, made)
}

/** The fault in the entries of the approval: all of one, in order before the decision. */
function entriesFault(
  approval: readonly ProvenEntry[],
  decided: HeaderShape,
  checkpoint: Checkpoint,
  id: Json | undefined,
): string | undefined {
  let before = -1
  for (const [i, entry] of approval.entries()) {
    const { header, data } = entry
    if (header.chain !== decided.chain || header.seq <= before || header.seq >= decided.seq)
      return 'The entries of the approval are not in order before the decision.'
    before = header.seq
    const fault = provenFault(entry, checkpoint)
    if (fault !== undefined) return fault
    if (header.type !== (i === 0 ? 'approval.requested' : 'approval.approved'))
      return `Entry ${header.seq} is not that of a request for approval, or of a vote.`
    if (data.record !== 'approval' || typeof data.id !== 'string' || data.id !== id)
      return `Entry ${header.seq} is that of another approval.`
    if (!isJsonObject(data.changes) || data.changes.revision !== i + 1)
      return `Entries of the approval are missing before entry ${header.seq}.`
  }
  return undefined
}

/** The record, merged from its entries. */
function merged(entries: readonly ProvenEntry[]): JsonObject {
  const record: JsonObject = Object.create(null)
  for (const { data } of entries) if (isJsonObject(data.changes)) Object.assign(record, data.changes)
  return record
}

/** The votes and whom they take; a fault, as a sentence, for an approval that is not approved. */
function ballotsIn(approval: JsonObject, entries: readonly ProvenEntry[]): Ballots | string {
  const { status, votes, quorum, approvers, selfApproval, requestedBy, requestedByKey, decidedAt } = approval
  if (status !== 'approved') return 'The approval was not approved when it was used.'
  if (!Array.isArray(votes) || !Number.isSafeInteger(quorum) || Number(quorum) < 1) return 'The approval has no votes.'
  if (votes.length !== entries.length - 1) return 'The approval has another number of votes than of entries.'
  for (const [i, vote] of votes.entries()) {
    const isOne = isJsonObject(vote) && typeof vote.principal === 'string' && typeof vote.keyId === 'string'
    if (!isOne || vote.entryId !== entries[i + 1]?.header.id) return 'A vote of the approval is by nobody.'
  }
  const isWhole =
    Array.isArray(approvers) &&
    approvers.every(isTexts) &&
    typeof selfApproval === 'boolean' &&
    typeof requestedBy === 'string' &&
    typeof requestedByKey === 'string'
  if (!isWhole || !isTime(decidedAt)) return 'The approval does not say who may vote.'
  const terms = { approvers: approvers as Approval['approvers'], quorum: Number(quorum), selfApproval }
  // The members that count were checked one by one.
  return { ...terms, votes: votes as unknown as Vote[], requestedBy, requestedByKey, decidedMs: Date.parse(decidedAt) }
}

/** Statement about the voters without their keys. */
function principalsFault({ votes, quorum }: Ballots): string | undefined {
  const principals = new Set(votes.map(({ principal }) => principal))
  return principals.size < quorum ? 'The approval has fewer votes than it needs.' : undefined
}

function recordFault(
  { unbound, digest, requestedBy }: JsonObject,
  chain: string,
  grounds: Bundle['proof']['grounds'],
  request: JsonObject | undefined,
): string | undefined {
  const { caller } = grounds
  if (!isJsonObject(caller) || caller.agent !== requestedBy) return 'The approval was given to another requester.'
  if (request === undefined) return undefined
  const bound = boundOf(chain, String(requestedBy), request)
  const paths = Array.isArray(unbound) ? unbound.map(pathOf) : [undefined]
  if (bound === undefined || !paths.every((path) => path !== undefined))
    return 'The scope of the approval cannot be determined.'
  return approvalDigest(bound, paths) === digest ? undefined : 'The approval is for another request.'
}

/** The path of a member in `context` or `plan`; undefined for any other. */
function pathOf(text: Json): string[] | undefined {
  const path = typeof text === 'string' && /^(?:context|plan)[.[]/.test(text) ? unboundPath(text) : undefined
  return path?.every((name) => name.isWellFormed()) ? path : undefined
}

function boundOf(chain: string, requester: string, request: JsonObject) {
  const { action, context = {}, plan = null } = request
  if (typeof action !== 'string') return undefined
  if (!isJsonObject(context) || !(plan === null || isJsonObject(plan))) return undefined
  return { chain, action, context, plan, requester }
}
