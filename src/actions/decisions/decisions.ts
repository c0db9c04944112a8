import { statusAt } from '../../approvals/approval.ts'
import { trailOf } from '../../audit/chain.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import { GateError } from '../../base/errors.ts'
import { idTimeMs, isId, siblingId } from '../../base/id.ts'
import type { JsonObject } from '../../base/json.ts'
import { principalOf } from '../../keys/apikey.ts'
import type { Store } from '../../store/store.ts'
import { entryPlaceFault } from '../audit/verify-range.ts'
import type { Caller, Deps } from '../deps.ts'
import { type Decided, decidedOf, observedIn, shadowIn } from '../gate/answer.ts'
import { outcomeOf } from '../outcomes/outcome-of.ts'

/** The entry of a decision, by the decision's id or the entry's own. */
export async function decisionEntry(store: Store, id: string): Promise<StoredEntry | undefined> {
  const entryId = isId(id, 'decision') ? siblingId(id, 'entry') : id
  const entry = isId(entryId, 'entry') ? await store.entry(entryId) : undefined
  return entry?.header.type === 'gate.decision' ? entry : undefined
}

/** The entry of a decision of this trail, found as by `decisionEntry`. @throws GateError `not_found`, `archived` */
export async function decisionOfTrail(store: Store, trail: string, id: string): Promise<StoredEntry> {
  const entry = await decisionEntry(store, id)
  if (entry !== undefined && trailOf(entry.header.chain) === trail) return entry
  throw (
    (await archivedFault(store, await store.lanes(trail), id)) ??
    new GateError('not_found', 'There is no such decision.')
  )
}

/** The entry of a decision of any chain, found as by `decisionEntry`. @throws GateError `not_found`, `archived` */
export async function decisionOnHost(store: Store, id: string): Promise<StoredEntry> {
  const entry = await decisionEntry(store, id)
  if (entry !== undefined) return entry
  const message = `There is no decision ${id}; see \`gate-sidecar audit list --tenant TENANT --type gate.decision\`.`
  throw (await archivedFault(store, await store.chains(), id)) ?? new GateError('not_found', message)
}

/** Where to look for a decision as old as those that were archived; whether there was one, only the archive knows. */
async function archivedFault(store: Store, chains: readonly string[], id: string): Promise<GateError | undefined> {
  if (!isId(id, 'decision') && !isId(id, 'entry')) return undefined
  const places = await Promise.all(
    chains.map(async (chain) => {
      const pruned = await store.pruned(chain)
      if (pruned === undefined || idTimeMs(id) > Date.parse(pruned.lastTs)) return []
      const { archive, size, lastTs } = pruned
      return `Decisions of ${chain} up to ${lastTs} were archived and deleted here. Entries ${archive.first} to ${size - 1} are in the archive whose manifest has the digest ${archive.manifest}; earlier entries audit.prune name those before it.`
    }),
  )
  return places.flat().length === 0 ? undefined : new GateError('archived', places.flat().join(' '))
}

/** The recorded decision. @throws GateError `redacted` when it has been erased */
export function decidedIn(entry: StoredEntry): Decided {
  const decided = decidedOf(entry)
  if (decided === undefined) throw new GateError('redacted', 'Parts of this decision have been erased.')
  return decided
}

/** The decision on the caller's own request; undefined for any other. */
export async function ownDecision(deps: Deps, caller: Caller, id: string): Promise<Decided | undefined> {
  const entry = await decisionEntry(deps.store, id)
  const isThere = entry !== undefined && trailOf(entry.header.chain) === caller.chain
  const decided = isThere ? decidedOf(entry) : undefined
  return decided?.grounds.caller.agent === principalOf(caller.key) ? decided : undefined
}

/** The request as received; null when it has been erased. */
export function requestIn(entry: StoredEntry): JsonObject | null {
  return sectionValue(entry, 'request') ?? null
}

/** The full record of a decision, and its place in the chain. @throws GateError `redacted` when it has been erased */
export async function recordedDecision(deps: Deps, entry: StoredEntry) {
  const { decision, risk, grounds } = decidedIn(entry)
  const { keyId, roles } = grounds.caller
  const key = deps.store.state().keys.get(keyId)
  return {
    id: decision.id,
    timestamp: entry.header.ts,
    action: decision.action,
    decision: decision.decision,
    ...observedIn(grounds),
    ...shadowIn(grounds),
    reason: grounds.reason,
    rule: grounds.rule,
    decidedBy: grounds.decidedBy,
    retry: grounds.retry,
    riskScore: risk.score,
    factors: risk.factors,
    unevaluable: grounds.unevaluable,
    planValidated: grounds.planValidated,
    policyDigest: grounds.policyDigest,
    evaluatedAt: grounds.evaluatedAt,
    caller: { keyId, identity: key?.identity ?? null, name: key?.name ?? null, roles },
    request: requestIn(entry),
    approval: await approvalOf(deps, grounds.approvalId),
    outcome: (await outcomeOf(deps, trailOf(entry.header.chain), decision.id)) ?? null,
    ...(await placeOf(deps, entry)),
  }
}

export type RecordedDecision = Awaited<ReturnType<typeof recordedDecision>>

async function approvalOf(deps: Deps, id: string | null) {
  if (id === null) return null
  const approval = await deps.store.approval(id)
  return { id, status: approval === undefined ? null : statusAt(approval, deps.store.state().switches, deps.clock()) }
}

/** The entry's place, and whether its hash and its links to its neighbours hold. */
async function placeOf({ store }: Deps, entry: StoredEntry) {
  const { header, hash } = entry
  const { chain, seq, id, prev } = header
  const fault = await entryPlaceFault(store, entry)
  return { chain, seq, entryId: id, hash, previousHash: prev, verified: fault === null, fault }
}
