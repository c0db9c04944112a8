import type { Approval, Vote } from '../approvals/approval.ts'
import { countedVotes } from '../approvals/votes.ts'
import { SYSTEM_CHAIN } from '../audit/chain.ts'
import type { Checkpoint } from '../audit/checkpoint.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { type ApiKey, principalOf } from '../keys/apikey.ts'
import { mayVote } from '../keys/roles.ts'
import type { ProvenEntry } from './bundle.ts'
import { Id, Time } from './fields.ts'
import { provenFault } from './proven.ts'
import { count } from './shape.ts'

/** The part of an approval from which it follows whose votes count. */
export type Ballots = Pick<
  Approval,
  'votes' | 'quorum' | 'approvers' | 'selfApproval' | 'requestedBy' | 'requestedByKey'
> & { decidedMs: number }

/** A key as it was made, and where. */
interface MadeKey {
  key: ApiKey
  /** The first seq of the decision's chain by which it had been made. */
  from: number
}

/** The keys that entries `key.created` show, by id; a fault, as a sentence, where one is not what it seems. */
export function keysIn(
  entries: readonly ProvenEntry[],
  chain: string,
  checkpointFor: (chain: string) => Checkpoint | undefined,
): Map<string, MadeKey> | string {
  const keys = new Map<string, MadeKey>()
  let before = ''
  for (const entry of entries) {
    const { header, data } = entry
    const checkpoint = checkpointFor(header.chain)
    const what = `Entry ${header.seq} of ${header.chain}`
    if (checkpoint === undefined) return `${what} is under no checkpoint that a trusted log key has signed.`
    const fault = provenFault(entry, checkpoint)
    if (fault !== undefined) return fault
    const key = keyIn(data)
    if (header.type !== 'key.created' || key === undefined || key.id <= before) return `${what} makes no key, or again.`
    before = key.id
    const from = placeIn(chain, entry)
    if (from === undefined) return `${what} does not say when the key was made.`
    keys.set(key.id, { key, from })
  }
  return keys
}

/** Only admin keys are made elsewhere, and keys by which others were made, of which only that counts. */
function placeIn(chain: string, { header, data }: ProvenEntry): number | undefined {
  if (header.chain === chain) return header.seq + 1
  if (header.chain !== SYSTEM_CHAIN) return Number.POSITIVE_INFINITY
  const { lengths } = data
  if (!isJsonObject(lengths)) return undefined
  const length = Object.hasOwn(lengths, chain) ? lengths[chain] : 0
  return count.fault(length, '') === undefined ? Number(length) : undefined
}

/** The members of a key that decide about its votes; undefined for a change that is not a new key. */
function keyIn({ record, id, changes }: JsonObject): ApiKey | undefined {
  if (record !== 'key' || Id.fault(id, '') !== undefined || !isJsonObject(changes) || changes.id !== id)
    return undefined
  const { revision, revokedAt, roles, groups, identity, createdBy, expiresAt, rotatedFrom, rotatedBy } = changes
  const isOne =
    revision === 1 &&
    revokedAt === null &&
    isTexts(roles) &&
    isTexts(groups) &&
    (identity === null || typeof identity === 'string') &&
    typeof createdBy === 'string' &&
    (expiresAt === null || isTime(expiresAt)) &&
    [rotatedFrom, rotatedBy].every((other) => other === undefined || typeof other === 'string')
  // The members that are read have been checked.
  return isOne ? (changes as unknown as ApiKey) : undefined
}

export function isTime(value: Json | undefined): value is string {
  return Time.fault(value, '') === undefined
}

export function isTexts(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/**
 * The fault in the keys behind an approval: they must be all that it takes, and enough votes must count.
 *
 * @param seqs of the entries that recorded the votes, in their order
 */
export function votersFault(
  ballots: Ballots,
  seqs: readonly number[],
  keys: ReadonlyMap<string, MadeKey>,
): string | undefined {
  const needed = neededKeys(ballots, keys)
  const missing = needed.find((id) => !keys.has(id))
  if (missing !== undefined) return `Key ${missing} is not shown.`
  if (needed.length < keys.size) return 'A key is shown that has nothing to do with the approval.'
  const isGood = ({ keyId, principal }: Vote, i: number): boolean => {
    const { key, from } = keys.get(keyId) ?? {}
    if (key === undefined || from === undefined || principal !== principalOf(key)) return false
    return from <= (seqs[i] ?? -1) && mayVote(key.roles)
  }
  const good = ballots.votes.filter(isGood)
  const known = new Map(Array.from(keys, ([id, { key }]) => [id, key] as const))
  // The makers of all votes' keys are looked up; of two by one principal, the later one in the list is counted.
  const votes = [...ballots.votes.filter((vote) => !good.includes(vote)), ...good]
  const counted = countedVotes({ ...ballots, votes }, ballots, known, ballots.decidedMs)
  const voters = [...counted.values()].filter((vote) => good.includes(vote))
  return voters.length >= ballots.quorum ? undefined : `${voters.length} of ${ballots.quorum} votes count.`
}

/** The voters, the requester, and each key that made one of them over HTTP. */
export function neededKeys(
  { votes, requestedByKey }: Pick<Ballots, 'votes' | 'requestedByKey'>,
  keys: ReadonlyMap<string, { key: Pick<ApiKey, 'createdBy' | 'rotatedBy'> }>,
): string[] {
  const needed = new Set([...votes.map(({ keyId }) => keyId), requestedByKey])
  // Ids added during the loop are visited too.
  for (const id of needed) {
    const { createdBy, rotatedBy } = keys.get(id)?.key ?? {}
    for (const maker of [createdBy, rotatedBy]) if (maker !== undefined && !isHost(maker)) needed.add(maker)
  }
  return [...needed]
}

function isHost(maker: string): boolean {
  return maker.startsWith('host:')
}
