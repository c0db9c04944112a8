import { setTimeout as sleep } from 'node:timers/promises'
import type { SealKey } from '../../audit/seal.ts'
import { held, type KeyedRequest } from '../held.ts'
import { knownHeads } from '../known-heads.ts'
import type { Snapshot, TrailTaken, TrailTakenQuery } from '../queries.ts'
import { commitQueue } from '../queue.ts'
import { readsOf } from '../reads.ts'
import { runNow, type Steps } from '../steps.ts'
import type { Store } from '../store.ts'
import { takenInTrail } from '../trail.ts'
import { stateBefore } from '../verify/fold.ts'
import { sealedIn, sealReads } from '../verify/seals.ts'
import { type Connection, connect, refreshedFrom } from './connection.ts'
import { dataFileIdentity, type FileAddress, fileConnection } from './file-connection.ts'
import { accept, checked, type StoreOptions } from './load.ts'
import { openDatabase } from './open.ts'
import { groupPace } from './pace.ts'
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
  const writer = makeWriter(address, file)
  const verifier = makeVerifier(address, file)
  const heads = knownHeads()
  const { members, memory, take, sealKey, sealKeyInUse, verified, refusal } = held(initial, sealKeys)
  const refresh = (): void => take(refreshedFrom(file.connection(), memory(), { origin, sealKeys }))
  const queue = commitQueue({
    writer,
    pace: groupPace(writer),
    clock,
    memory,
    imposed: members.imposed,
    seal: sealKeyInUse,
    heads,
    refresh,
    written(stateVersion) {
      if (stateVersion > memory().version) refresh()
    },
    discard: () => file.discard(),
  })
  return {
    ...members,
    ...{ origin, tenant: undefined },
    commit(submission, isAbandoned) {
      const refused = refusal(submission)
      return refused === undefined ? queue.submit(submission, isAbandoned) : Promise.reject(refused)
    },
    largeWrite: queue.largeWrite,
    isStale: () => false,
    tends: () => true,
    countsIn: 'chain',
    fleet: undefined,
    reserve: async () => undefined,
    refresh,
    ...chainEnds(() => file.connection(), origin, { sealKey, refresh }, heads),
    ...readsOf(() => file.connection(), clock),
    ...fileReads(() => file.connection(), origin),
    verifyChain(request, onProgress = () => undefined, signal) {
      const verify = (keyed: KeyedRequest) => verifier.verify({ ...keyed, nowMs: clock() }, onProgress, signal)
      return verified(request, { origin, refresh, verify })
    },
    async close() {
      while (!queue.idle()) await sleep(1)
      await verifier.close()
      await writer.close()
      file.close()
    },
  }
}

/** Members of the store about the ends of chains. */
function chainEnds(
  current: () => Connection,
  origin: string,
  { sealKey, refresh }: { sealKey: () => SealKey | undefined; refresh: () => void },
  heads: ReturnType<typeof knownHeads>,
): Pick<Store, 'unsealed' | 'sealedHead' | 'writtenHashes' | 'compareChains' | 'alteredChains'> {
  const look = (chain?: string) => {
    const connection = current()
    return connection.db.transaction(() => runNow(sealedIn(connection, origin, sealKey(), chain))).deferred()
  }
  return {
    ...sealReads(look, refresh),
    writtenHashes: heads.hashesFrom,
    compareChains: () => runNow(heads.compare(current())),
    alteredChains: heads.altered,
  }
}

/** Reads that only a file has, or that see one state of it. */
function fileReads(current: () => Connection, origin: string) {
  return {
    stateBefore: async (chain, size) => runNow(stateBefore(current(), origin, chain, size)),
    snapshot: async (work) => inSnapshot(current(), work),
    scrub: async () => isTruncated(current().db.pragma('wal_checkpoint(TRUNCATE)')),
  } satisfies Partial<Store>
}

function inSnapshot<T>(connection: Connection, work: (snapshot: Snapshot) => Steps<T>): T {
  const { db, statements, entries, decisions } = connection
  statements.beginRead.run()
  try {
    const { length, firstNotBefore: seqNotBefore } = entries
    const { taken, requestAt } = decisions
    const inTrail = (query: TrailTakenQuery): TrailTaken[] => runNow(takenInTrail(connection, query))
    return runNow(work({ length, seqNotBefore, taken, requestAt, takenInTrail: inTrail, floors: () => NO_FLOORS }))
  } finally {
    // An error of the file may have ended it.
    if (db.inTransaction) statements.commit.run()
  }
}

/** A file has one writer, whose order is that of its chains. */
const NO_FLOORS = new Map<string, number>()

/** Result of the pragma: whether it was blocked, the number of pages, and the number written. */
function isTruncated(answer: unknown): boolean {
  const [row] = Array.isArray(answer) ? answer : []
  return row?.busy === 0
}
