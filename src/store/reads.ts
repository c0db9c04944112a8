import { inTrailOrder, SYSTEM_CHAIN } from '../audit/chain.ts'
import { GateError } from '../base/errors.ts'
import type { Clock } from '../base/time.ts'
import { unavailable } from './errors.ts'
import type { Reporter } from './queries.ts'
import { chainOfRecord, type RecordWrite } from './records.ts'
import type { Awaitable } from './steps.ts'
import type { Store } from './store.ts'
import type { Tables } from './tables.ts'
import { trailPage } from './trail.ts'

type Read = <T>(query: (tables: Tables) => Awaitable<T>) => Promise<T>

/** Reads of a store. A failed read is a failure of the store, not an empty answer. */
export function readsOf(tables: () => Tables, clock: Clock) {
  const read: Read = async (query) => {
    try {
      return await query(tables())
    } catch (error) {
      throw error instanceof GateError ? error : unavailable('be read', error)
    }
  }
  return {
    ...entryReads(read),
    ...checkpointReads(read),
    approval: (id) => read(({ records }) => records.approval.get(id)),
    approvals: (query) => read(({ approvals }) => approvals.list(query)),
    approvalsFor: (chain, digest) => read(({ approvals }) => approvals.forDigest(chain, digest)),
    openApprovals: (query) => read(({ approvals }) => approvals.open(query)),
    openStandings: (query) => read(({ approvals }) => approvals.standings(query)),
    pendingOf: (chain, requestedBy) => read(({ approvals }) => approvals.pendingOf(chain, requestedBy)),
    isPending: (approval) => read(({ approvals }) => approvals.isPending(approval)),
    decisions: (chain, range) => read(({ decisions }) => decisions.rows(chain, range)),
    ...trailReads(read),
    idempotencyUse: (keyId, route, value) => read(({ idempotency }) => idempotency.find(keyId, route, value, clock())),
    keyUses: (keyIds) => read(({ keyUses }) => keyUses.of(keyIds)),
    policySource: (tenantId, digest) => read(({ policySources }) => policySources.get(tenantId, digest)),
    probe: () => read(async ({ instance }) => void (await instance.origin())),
  } satisfies Partial<Store>
}

function entryReads(read: Read) {
  return {
    entry: (id) => read(({ entries }) => entries.byId(id)),
    entryAt: (chain, seq) => read(({ entries }) => entries.bySeq(chain, seq)),
    entriesFrom: (chain, seq, limit, maxBytes) => read(({ entries }) => entries.from(chain, seq, limit, maxBytes)),
    headersFrom: (chain, seq, limit) => read(({ entries }) => entries.headersFrom(chain, seq, limit)),
    lengths: (chains) => read(({ entries }) => entries.lengths(chains)),
    seqsOfTypes: (chain, types, range) => read(({ entries }) => entries.seqsOfTypes(chain, types, range)),
    page: (query) => read(({ entries }) => entries.page(query)),
    trailPage: (query) => read((tables) => trailPage(tables, query)),
    seqRange: (chain, from, to) =>
      read(async ({ entries }) => ({
        first: await entries.seqNotBefore(chain, from),
        end: await entries.seqNotBefore(chain, to),
      })),
    seqNotBefore: (chain, ts) => read(({ entries }) => entries.seqNotBefore(chain, ts)),
    changesOf: (kind, id) =>
      read(async ({ records, entries }) => {
        // Without the record, as after its erasure, any chain may have them.
        const record = await records[kind].get(id)
        const chain = record && chainOfRecord({ kind, record } as RecordWrite)
        const places = await records.entriesOf(kind, id, chain)
        const found = await Promise.all(places.map(({ chain, seq }) => entries.bySeq(chain, seq)))
        return found.filter((entry) => entry !== undefined)
      }),
    chains: () => read(({ entries }) => entries.chains()),
  } satisfies Partial<Store>
}

/** Reads of a trail as a whole: its chain and its lanes. */
function trailReads(read: Read) {
  return {
    lanes: (trail) => read(({ entries }) => entries.lanes(trail)),
    outcomeEntries: (trail, decisionId, types) =>
      read(async ({ outcomes, entries }) => {
        const places = await outcomes.told(trail, decisionId, types)
        const found = await Promise.all(places.map(({ chain, seq }) => entries.bySeq(chain, seq)))
        return found.filter((entry) => entry !== undefined).sort((a, b) => inTrailOrder(a.header, b.header))
      }),
    reporters: (trail) =>
      read(async ({ outcomes }) => {
        const firsts = new Map<string, Reporter>()
        for (const reporter of (await outcomes.reporters(trail)).sort(inTrailOrder))
          if (!firsts.has(reporter.agent)) firsts.set(reporter.agent, reporter)
        return [...firsts.values()].sort((a, b) => (a.agent < b.agent ? -1 : 1))
      }),
    unreported: (query) => read(({ outcomes }) => outcomes.unreported(query)),
    recentActions: (trail, count) =>
      read(async ({ entries, decisions }) => {
        const ofChain = async (chain: string) =>
          (await decisions.newest(chain, count)).map((decided) => ({ ...decided, chain }))
        const found = (await Promise.all((await entries.lanes(trail)).map(ofChain))).flat()
        const newest = found.sort((a, b) => inTrailOrder(b, a)).slice(0, count)
        return [...new Set(newest.map(({ action }) => action))]
      }),
  } satisfies Partial<Store>
}

function checkpointReads(read: Read) {
  return {
    lastCheckpoint: (chain) => read(({ checkpoints }) => checkpoints.last(chain)),
    recordedHeads: (chain) =>
      read(async ({ systemHeads, checkpoints }) => systemHeads.of(chain, await checkpoints.lastSize(SYSTEM_CHAIN))),
    lastCheckpointUpTo: (chain, number) => read(({ checkpoints }) => checkpoints.lastUpTo(chain, number)),
    checkpointCovering: (chain, seq, maxNumber) =>
      read(({ checkpoints }) => checkpoints.covering(chain, seq, maxNumber)),
    checkpointWithin: (chain, size) => read(({ checkpoints }) => checkpoints.within(chain, size)),
    checkpointsAfter: (number, limit) => read(({ checkpoints }) => checkpoints.after(number, limit)),
    chainsEver: () =>
      read(async ({ entries, checkpoints, systemHeads }) => {
        const kept = [await entries.chains(), await checkpoints.chains(), await systemHeads.chains()]
        return [...new Set(kept.flatMap((names) => [...names]))].sort()
      }),
    deliveries: () => read(({ checkpoints }) => checkpoints.anchored()),
    treeHashes: (chain, ranges) => read(({ checkpoints }) => checkpoints.hashes(chain, ranges)),
    pruned: (chain) => read(async ({ pruned }) => (await pruned.record(chain))?.prune),
  } satisfies Partial<Store>
}
