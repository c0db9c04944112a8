import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { type EntryDraft, SERVICE } from '../../audit/draft.ts'
import { limitConcurrency } from '../../base/concurrency.ts'
import { formatDigest } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import { steadyClock } from '../../base/time.ts'
import { keyIdOf, parseCheckpointNote } from '../../evidence/note.ts'
import type { Store } from '../../store/store.ts'
import type { Guard, StoredCheckpoint, Write } from '../../store/submission.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { chainTree, type Growth } from './chain-tree.ts'
import { isDue, unsignedChains } from './due.ts'
import { type Keyring, signedCheckpoint } from './signing-keys.ts'
import { trustOf } from './trust.ts'

/** Interval of checkpoints without decisions, which show that the log has kept its length. */
const HEARTBEAT_MS = 3_600_000

export type Checkpointer = ReturnType<typeof checkpointer>

/** Makes the entry that records these chains. */
type Recorder = (taken: readonly string[]) => EntryDraft

export interface CheckpointDeps extends Deps {
  keyring: Keyring
  /** Called once for a chain that cannot be signed, because it was altered. */
  onFault(chain: string, message: string): void
}

/**
 * Signs appended entries after verifying them again: each entry must follow from the one before, and the tree must
 * extend the last signed one. A chain that fails is signed no more.
 */
export function checkpointer(deps: CheckpointDeps) {
  const { store, clock } = deps
  const { sign, faults } = signing(deps)
  const steady = steadyClock(clock)
  let heartbeatMs = steady()
  // Two signings at once would only conflict.
  const serial = limitConcurrency(1)

  return {
    /** Signs the chains whose checkpoint is due. */
    tend: () =>
      serial(async () => {
        const isHeartbeat = steady() - heartbeatMs >= HEARTBEAT_MS
        const due: string[] = []
        for (const one of await unsignedChains(store)) {
          if (isHeartbeat || (await isDue(store, one, clock()))) due.push(one.chain)
        }
        if (isHeartbeat) heartbeatMs = steady()
        await sign(due)
      }),
    /** Signs all chains that have grown. */
    signAll: () => serial(async () => sign((await unsignedChains(store)).map(({ chain }) => chain))),
    /**
     * Signs these chains even where missing checkpoints left much unsigned, and commits the entry of `record` with them.
     * Chains that `_system` contradicts are not signed.
     */
    adopt: (chains: readonly string[], record: Recorder) => serial(() => sign(chains, record)),
    /**
     * The checkpoint to show for the entry; signed when there is none.
     *
     * @param maxNumber prefers a checkpoint up to this number
     */
    async covering(chain: string, seq: number, maxNumber?: number): Promise<StoredCheckpoint> {
      const find = (): Promise<StoredCheckpoint | undefined> => checkpointFor(store, chain, seq, maxNumber)
      const found = await find()
      if (found !== undefined) return found
      await serial(async () => ((await find()) === undefined ? sign([chain]) : undefined))
      const made = await find()
      if (made !== undefined) return made
      throw new GateError('audit_unavailable', faults.get(chain) ?? `Entry ${seq} of ${chain} cannot be signed.`)
    },
    /** Faults of the chains that cannot be signed. */
    faults: (): ReadonlyMap<string, string> => faults,
  }
}

/** Signs the growth of chains in one commit, in which `_system` records their heads. */
function signing(deps: CheckpointDeps) {
  const { store, onFault } = deps
  const trees = chainTree(store)
  const faults = new Map<string, string>()

  /** A fault in one chain does not stop the others. */
  const grow = async (chain: string, isAdopted: boolean): Promise<Growth[]> => {
    try {
      const growths = await trees.grow(chain, isAdopted)
      faults.delete(chain)
      return growths
    } catch (error) {
      if (!(error instanceof GateError)) throw error
      if (!faults.has(chain)) onFault(chain, error.message)
      faults.set(chain, error.message)
      return []
    }
  }

  const decide = async (chains: readonly string[], record?: Recorder) => {
    const growths: Growth[] = []
    for (const chain of chains) growths.push(...(await grow(chain, record !== undefined)))
    if (growths.length === 0) return { submission: null, reply: () => undefined }
    const key = await deps.keyring.logKey()
    const guards = growths.map(({ chain, from }): Guard => ({ kind: 'checkpointed', chain, size: from }))
    const writes = growths.map(({ chain, size, root, nodes }): Write => {
      return { kind: 'checkpoint', chain, size, note: signedCheckpoint(store, key, { chain, size, root }), nodes }
    })
    const data = { checkpoints: growths.map(({ chain, size, root }) => ({ chain, size, root: formatDigest(root) })) }
    const entries: EntryDraft[] = [eventEntry(deps, SYSTEM_CHAIN, 'audit.checkpoint', data, SERVICE)]
    if (record !== undefined) entries.push(record(growths.map(({ chain }) => chain)))
    return {
      submission: { guards: [...guards, { kind: 'logKeyInUse', id: key.id } as const], writes, entries },
      reply: () => growths.forEach(trees.keep),
    }
  }

  return {
    sign: (chains: readonly string[], record?: Recorder): Promise<void> =>
      decideAndCommit(store, () => decide(chains, record)),
    faults,
  }
}

/**
 * The checkpoint to show for an entry, undefined when none covers it: the first, preferably up to `maxNumber`. A
 * revoked log key proves nothing to holders of no anchor: then a later checkpoint by a valid key, if any.
 */
async function checkpointFor(
  store: Store,
  chain: string,
  seq: number,
  maxNumber?: number,
): Promise<StoredCheckpoint | undefined> {
  const covering =
    (await store.checkpointCovering(chain, seq, maxNumber)) ?? (await store.checkpointCovering(chain, seq))
  if (covering === undefined || !isByRevoked(store, covering)) return covering
  const taken = maxNumber === undefined ? undefined : await store.lastCheckpointUpTo(chain, maxNumber)
  for (const later of [taken, await store.lastCheckpoint(chain)])
    if (later !== undefined && later.size > seq && !isByRevoked(store, later)) return later
  return covering
}

function isByRevoked(store: Store, { note }: StoredCheckpoint): boolean {
  const { logKeys, revoked } = trustOf(store)
  const ids = logKeys.filter(({ publicKey }) => revoked.has(publicKey)).map(keyIdOf)
  const signed = parseCheckpointNote(note)?.signatures ?? []
  return signed.some(({ name, keyId }) => name === store.origin && ids.includes(keyId))
}
