import { setTimeout as sleep } from 'node:timers/promises'
import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { SealKey } from '../../audit/seal.ts'
import { GateError } from '../../base/errors.ts'
import type { Clock } from '../../base/time.ts'
import type { KillSwitch } from '../../killswitch/killswitch.ts'
import { unavailable } from '../errors.ts'
import { knownHeads } from '../known-heads.ts'
import type { Memory } from '../memory.ts'
import type { PageQuery, SeqRange } from '../queries.ts'
import { logKeyInUse } from '../records.ts'
import { runNow } from '../steps.ts'
import type { SealKeys, Snapshot, Store } from '../store.ts'
import type { Submission } from '../submission.ts'
import { stateBefore } from '../verify/fold.ts'
import { unsealedIn } from '../verify/seals.ts'
import { type Connection, connect, refreshedFrom } from './connection.ts'
import { dataFileIdentity, type FileAddress, fileConnection } from './file-connection.ts'
import { accept, checked, type StoreOptions } from './load.ts'
import { openDatabase } from './open.ts'
import { commitQueue } from './queue.ts'
import { verifyHere } from './verifiers.ts'
import { writeHere } from './writers.ts'

/**
 * Store in one SQLite file, which several processes may have open. This side reads; the writer does all writing.
 *
 * @throws UnusableFile when the file is not ours, or its state does not follow from its chain; the message names the
 *   fault and its place
 */
export function openStore(options: StoreOptions): Store {
  const { dir, clock, sealKeys, makeWriter = writeHere, makeVerifier = verifyHere } = options
  const first = connect(openDatabase(dir, { ...options, accept: (db) => accept(connect(db), options) }))
  const { origin, memory: initial } = checked(first, options)
  const address: FileAddress = { dir, origin, file: dataFileIdentity(dir) }
  const file = fileConnection(address, first)
  let memory = initial
  const writer = makeWriter(address, file)
  const verifier = makeVerifier(address, file)
  let suspended: ((chains: readonly string[]) => string) | undefined
  const imposed = new Map<string, KillSwitch>()
  const heads = knownHeads()
  const sealKey = (): SealKey | undefined => sealKeys?.(logKeyInUse(memory.signingKeys.values())?.id)
  const refresh = (): void => {
    memory = refreshedFrom(file.connection(), memory, { origin, sealKeys })
    for (const id of imposed.keys()) if (memory.onDisk.has(id)) imposed.delete(id)
  }
  const queue = commitQueue({
    writer,
    clock,
    memory: () => memory,
    imposed: () => [...imposed.values()],
    seal: () => sealKeys && sealKeyInUse(sealKeys, memory),
    heads,
    refresh,
    written(stateVersion) {
      if (stateVersion > memory.version) refresh()
    },
    discard: () => file.discard(),
  })
  return {
    origin,
    commit: (submission, isAbandoned) =>
      suspended === undefined ? queue.submit(submission, isAbandoned) : refused(submission, suspended),
    largeWrite: queue.largeWrite,
    suspend(reasonFor) {
      suspended = reasonFor
    },
    resume() {
      suspended = undefined
    },
    impose: (stop) => void imposed.set(stop.id, stop),
    imposed: () => [...imposed.values()],
    state: () => (imposed.size === 0 ? memory : { ...memory, switches: [...memory.switches, ...imposed.values()] }),
    altered: () => [...memory.altered.values()],
    refresh,
    ...chainEnds(() => file.connection(), origin, sealKey, heads),
    ...reads(() => file.connection(), origin, clock),
    verifyChain(request, onProgress = () => undefined, signal) {
      return verifier.verify({ ...request, sealKey: sealKey(), nowMs: clock() }, onProgress, signal)
    },
    async close() {
      while (!queue.idle()) await sleep(1)
      await verifier.close()
      await writer.close()
      file.close()
    },
  }
}

async function refused({ entries }: Submission, reasonFor: (chains: readonly string[]) => string): Promise<never> {
  throw new GateError('audit_unavailable', reasonFor(entries.map(({ chain }) => chain)))
}

/** @throws GateError `audit_unavailable` when the log key is not at hand */
function sealKeyInUse(sealKeys: SealKeys, { signingKeys }: Memory): SealKey {
  const inUse = logKeyInUse(signingKeys.values())
  const key = sealKeys(inUse?.id)
  if (key === undefined) throw new GateError('audit_unavailable', `The log key ${inUse?.id ?? ''} is not available.`)
  return key
}

/** Members of the store about the ends of chains. */
function chainEnds(
  current: () => Connection,
  origin: string,
  sealKey: () => SealKey | undefined,
  heads: ReturnType<typeof knownHeads>,
): Pick<Store, 'unsealed' | 'sealedHead' | 'writtenHashes' | 'compareChains' | 'alteredChains'> {
  return {
    writtenHashes: heads.hashesFrom,
    compareChains: () => runNow(heads.compare(current())),
    alteredChains: heads.altered,
    async unsealed() {
      const connection = current()
      const chains = [...new Set([...connection.entries.chains(), ...connection.seals.chains()])]
      return runNow(unsealedIn(connection, origin, sealKey(), chains)).map(({ message }) => message)
    },
    async sealedHead(chain) {
      const connection = current()
      // One snapshot: each commit writes a new head and its seal.
      const read = connection.db.transaction(() => ({
        head: connection.entries.head(chain),
        faults: runNow(unsealedIn(connection, origin, sealKey(), [chain])),
      }))
      const { head, faults } = read.deferred()
      const [fault] = faults
      if (fault !== undefined) throw new GateError('audit_unavailable', fault.message)
      return head
    },
  }
}

type Read = <T>(query: (connection: Connection) => T) => Promise<T>

/** Reads see the last commit of any process. A failed read is a failure of the store, not an empty answer. */
function reads(current: () => Connection, origin: string, clock: Clock) {
  const read: Read = async (query) => {
    try {
      return query(current())
    } catch (error) {
      throw error instanceof GateError ? error : unavailable('be read', error)
    }
  }
  return {
    approval: (id) => read(({ records }) => records.approval.get(id)),
    approvals: (query) => read(({ approvals }) => approvals.list(query)),
    approvalsFor: (chain, digest) => read(({ approvals }) => approvals.forDigest(chain, digest)),
    openApprovals: (query) => read(({ approvals }) => approvals.open(query)),
    openStandings: (query) => read(({ approvals }) => approvals.standings(query)),
    pendingOf: (chain, requestedBy) => read(({ approvals }) => approvals.pendingOf(chain, requestedBy)),
    isPending: (approval) => read(({ approvals }) => approvals.isPending(approval)),
    entry: (id) => read(({ entries }) => entries.byId(id)),
    entryAt: (chain, seq) => read(({ entries }) => entries.bySeq(chain, seq)),
    entriesFrom: (chain, seq, limit, maxBytes) => read(({ entries }) => entries.from(chain, seq, limit, maxBytes)),
    headersFrom: (chain, seq, limit) => read(({ entries }) => entries.headersFrom(chain, seq, limit)),
    lengths: (chains) => read(({ entries }) => new Map(chains.map((chain) => [chain, entries.length(chain)]))),
    seqsOfTypes: (chain, types, range) => read(({ entries }) => entries.seqsOfTypes(chain, types, range)),
    page: (query) => read(({ entries }) => entries.page(query, rangeOf(entries, query))),
    seqRange: (chain, from, to) =>
      read(({ entries }) => ({ first: entries.seqNotBefore(chain, from), end: entries.seqNotBefore(chain, to) })),
    changesOf: (kind, id) =>
      read(({ records, entries }) =>
        records.entriesOf(kind, id).flatMap(({ chain, seq }) => entries.bySeq(chain, seq) ?? []),
      ),
    seqNotBefore: (chain, ts) => read(({ entries }) => entries.seqNotBefore(chain, ts)),
    decisions: (chain, range) => read(({ decisions }) => decisions.rows(chain, range)),
    snapshot: (work) => read((connection) => inSnapshot(connection, work)),
    outcomeEntries: (chain, decisionId, types) =>
      read(({ outcomes, entries }) =>
        outcomes.told(chain, decisionId, types).flatMap((seq) => entries.bySeq(chain, seq) ?? []),
      ),
    reporters: (chain) => read(({ outcomes }) => outcomes.reporters(chain)),
    unreported: (query) => read(({ outcomes }) => outcomes.unreported(query)),
    recentActions: (chain, decisions) => read((connection) => connection.decisions.recentActions(chain, decisions)),
    chains: () => read(({ entries }) => entries.chains()),
    ...checkpointReads(read),
    pruned: (chain) => read(({ pruned }) => pruned.record(chain)?.prune),
    stateBefore: (chain, size) => read((connection) => runNow(stateBefore(connection, origin, chain, size))),
    probe: () => read(({ instance }) => void instance.origin()),
    scrub: () => read(({ db }) => isTruncated(db.pragma('wal_checkpoint(TRUNCATE)'))),
    idempotencyUse: (keyId, route, value) => read(({ idempotency }) => idempotency.find(keyId, route, value, clock())),
    keyUses: (keyIds) => read(({ keyUses }) => keyUses.of(keyIds)),
    policySource: (tenantId, digest) => read(({ policySources }) => policySources.get(tenantId, digest)),
  } satisfies Partial<Store>
}

function inSnapshot<T>({ db, transaction, entries, decisions }: Connection, work: (snapshot: Snapshot) => T): T {
  transaction.beginRead.run()
  try {
    return work({
      length: entries.length,
      seqNotBefore: (chain, end, atMs, near) => entries.firstNotBefore(chain, end, (tsMs) => tsMs < atMs, near),
      taken: decisions.taken,
      requestAt: decisions.requestAt,
    })
  } finally {
    // An error of the file may have ended it.
    if (db.inTransaction) transaction.commit.run()
  }
}

function checkpointReads(read: Read) {
  return {
    lastCheckpoint: (chain) => read(({ checkpoints }) => checkpoints.last(chain)),
    recordedHeads: (chain) =>
      read(({ systemHeads, checkpoints }) => systemHeads.of(chain, checkpoints.lastSize(SYSTEM_CHAIN))),
    lastCheckpointUpTo: (chain, number) => read(({ checkpoints }) => checkpoints.lastUpTo(chain, number)),
    checkpointCovering: (chain, seq, maxNumber) =>
      read(({ checkpoints }) => checkpoints.covering(chain, seq, maxNumber)),
    checkpointWithin: (chain, size) => read(({ checkpoints }) => checkpoints.within(chain, size)),
    checkpointsAfter: (number, limit) => read(({ checkpoints }) => checkpoints.after(number, limit)),
    chainsEver: () =>
      read(({ entries, checkpoints, systemHeads }) =>
        [...new Set([...entries.chains(), ...checkpoints.chains(), ...systemHeads.chains()])].sort(),
      ),
    deliveries: () => read(({ checkpoints }) => checkpoints.anchored()),
    treeHashes: (chain, ranges) => read(({ checkpoints }) => checkpoints.hashes(chain, ranges)),
  } satisfies Partial<Store>
}

/** Result of the pragma: whether it was blocked, the number of pages, and the number written. */
function isTruncated(answer: unknown): boolean {
  const [row] = Array.isArray(answer) ? answer : []
  return row?.busy === 0
}

function rangeOf(entries: Connection['entries'], { chain, from, to, before, since }: PageQuery): SeqRange {
  const oldest = from === undefined ? entries.first(chain) : entries.seqNotBefore(chain, from)
  const first = Math.max(oldest, since ?? 0)
  const end = to === undefined ? (entries.head(chain)?.seq ?? -1) + 1 : entries.seqNotBefore(chain, to)
  return { first, end: before === undefined ? end : Math.min(end, before) }
}
