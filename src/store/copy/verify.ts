import type { SealKey } from '../../audit/seal.ts'
import type { Heads } from '../../evidence/anchor.ts'
import { AlteredFile } from '../errors.ts'
import { logKeyInUse, logKeysOf, revokedOf, type SigningKey } from '../records.ts'
import { runLater } from '../steps.ts'
import type { SealKeys } from '../store.ts'
import type { Tables } from '../tables.ts'
import { verifyChain } from '../verify/verify-chain.ts'
import type { Side, Watch } from './side.ts'

/** Facts outside of the store that both sides are held to. */
export interface Known {
  origin: string
  sealKeys: SealKeys
  /** The newest anchored heads. */
  anchors: Heads
  nowMs: number
}

/** The seals cannot be checked, and the next service could not append. */
class NoLogKey extends Error {
  override readonly name = 'NoLogKey'
}

/** Verifies a side as a start and `audit verify` do. @throws AlteredFile naming the fault, NoLogKey */
export async function verifySide(side: Side, role: 'source' | 'target', known: Known, watch: Watch): Promise<void> {
  const { tables, name } = side
  const { origin, anchors, nowMs } = known
  const keys = await tables.records.signingKey.all()
  const sealKey = await sealKeyOf(tables, keys, known.sealKeys)
  await followed(side, known)
  const logKeys = logKeysOf(origin, keys)
  const revoked = revokedOf(keys)
  for (const chain of await chainsOf(side, anchors)) {
    const anchor = anchors.get(chain) ?? null
    const anchoredSize = anchor?.size ?? 0
    const checked = { chain, sections: true, logKeys, revoked, anchor, anchoredSize, sealKey, nowMs }
    const { at, end } = watch(`${chain}, verifying the ${role}`, await tables.entries.length(chain))
    const { valid, fault, firstBadSeq } = await runLater(verifyChain(tables, origin, checked, at)).finally(end)
    if (!valid) throw new AlteredFile(`${name} does not verify: audit chain ${chain}, entry ${firstBadSeq}: ${fault}.`)
  }
}

/** @throws AlteredFile that says which side it is */
async function followed(side: Side, { origin, sealKeys }: Known): Promise<void> {
  try {
    await side.assertFollows(origin, sealKeys)
  } catch (cause) {
    if (!(cause instanceof AlteredFile)) throw cause
    throw new AlteredFile(`${side.name} does not verify: ${cause.message}`, { cause })
  }
}

/** Chains that there are, or were. */
async function chainsOf({ tables, ends }: Side, anchors: Heads): Promise<string[]> {
  const kept = (await ends()).map(({ name }) => name)
  const signed = [await tables.checkpoints.chains(), await tables.systemHeads.chains(), anchors.keys()]
  return [...new Set([...kept, ...signed.flatMap((names) => [...names])])].sort()
}

/** The key that seals; undefined before the first seal. @throws NoLogKey */
async function sealKeyOf(
  { seals }: Tables,
  keys: readonly SigningKey[],
  sealKeys: SealKeys,
): Promise<SealKey | undefined> {
  const inUse = logKeyInUse(keys)
  const key = sealKeys(inUse?.id)
  if (key !== undefined || (inUse === undefined && (await seals.chains()).length === 0)) return key
  throw new NoLogKey(
    'The log key of the trail is not at hand, so that its newest entries cannot be verified. Name its file with --signing-key.',
  )
}
