import { chainOf } from '../../audit/chain.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import type { EventType } from '../../audit/events.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import {
  CHANGE_EVENTS,
  changeEntry,
  isAboutSet,
  MAX_CHANGE_ENTRIES,
  POLICY_CHANGE,
  POLICY_CHANGE_VERSION,
  type PolicyChange,
} from '../../evidence/policy-change.ts'
import { signStatement } from '../../evidence/signature.ts'
import type { Store } from '../../store/store.ts'
import { takenUpTo } from '../anchors/anchors.ts'
import { type EvidenceDeps, placed } from './evidence.ts'
import { rotationsNow } from './trust.ts'

const PAGE = 500
/** Entries of a type that are exported, beside those that admitted the set. */
const EXPORTED = Math.floor(MAX_CHANGE_ENTRIES / CHANGE_EVENTS.length / 2)

/**
 * The signed entries of the tenant's live trail about one policy set: how it was compared, tried and put in force, by
 * whom and when. Entries without a covering checkpoint are signed first.
 *
 * @throws GateError `not_found` when none is about the set; `audit_unavailable` when one was altered
 */
export async function exportPolicyChange(
  deps: EvidenceDeps,
  tenantId: string,
  policyDigest: string,
): Promise<PolicyChange> {
  const { store } = deps
  const chain = chainOf(tenantId, 'live')
  const { entries, leftOut } = await entriesAbout(store, chain, policyDigest)
  const last = entries.at(-1)?.header
  if (last === undefined) throw new GateError('not_found', 'The trail tells of no such policy set.')
  const checkpoint = await deps.checkpoints.covering(chain, last.seq, await takenUpTo(store))
  const shown = await placed(deps, checkpoint, entries)
  const key = await deps.keyring.bundleKey()
  const unsigned = {
    ...{ bundleId: deps.newId('bundle'), version: POLICY_CHANGE_VERSION, kind: POLICY_CHANGE, tenantId, policyDigest },
    // Entries may carry a time ahead of the clock after it went back; the export is not before them.
    exportedAt: [formatTimestamp(deps.clock()), last.ts].sort().at(-1) ?? last.ts,
    ...{ entries: shown.map(changeEntry), leftOut },
    proof: {
      ...{ v: 1 as const, origin: store.origin, checkpoint: checkpoint.note, certificate: key.certificate },
      rotations: await rotationsNow(store),
    },
  } satisfies Omit<PolicyChange, 'signatures'>
  const signature = signStatement('change', unsigned, key.privateKey)
  return { ...unsigned, signatures: { service: { algorithm: 'ed25519', publicKey: key.publicKey, signature } } }
}

/**
 * The newest entries of each type about the set, and those by which it was admitted, in the order of the chain; and the
 * number of the others.
 */
async function entriesAbout(store: Store, chain: string, digest: string) {
  const shown: StoredEntry[] = []
  const admitting = new Set<string>()
  let leftOut = 0
  // Entries of `policy.loaded`, which name those that admitted the set, come first.
  for (const eventType of [...CHANGE_EVENTS].reverse()) {
    let ofType = 0
    for await (const entry of entriesOf(store, chain, eventType)) {
      const data = sectionValue(entry, 'data') ?? {}
      if (!isAboutSet(eventType, data, digest)) continue
      const isWanted = ofType < EXPORTED || admitting.has(entry.header.id)
      ofType += 1
      if (isWanted && typeof data.admittedBy === 'string') admitting.add(data.admittedBy)
      if (isWanted) shown.push(entry)
      else leftOut += 1
    }
  }
  return { entries: shown.sort((a, b) => a.header.seq - b.header.seq), leftOut }
}

/** All entries of a type, from the newest on. */
async function* entriesOf(store: Store, chain: string, eventType: EventType): AsyncGenerator<StoredEntry> {
  const query = { chain, eventType, order: 'desc', limit: PAGE, sections: ['actor', 'data'] } as const
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await store.page({ ...query, offset })
    yield* items
    if (items.length < PAGE) return
  }
}
