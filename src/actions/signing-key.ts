import type { KeyObject } from 'node:crypto'
import { SYSTEM_CHAIN } from '../audit/chain.ts'
import { SERVICE } from '../audit/entry.ts'
import { digestOf } from '../base/digest.ts'
import { formatTimestamp } from '../base/time.ts'
import { ALGORITHM, canSign, publicKeyOf } from '../evidence/sign.ts'
import { creation } from '../records.ts'
import { type Deps, decideAndCommit, eventEntry, type Signer } from './deps.ts'

/** Where the private key is kept. */
export interface KeyFile {
  read(): KeyObject | undefined
  create(): KeyObject
}

/** The key at hand is not the one that this instance's evidence was signed with. */
export class WrongSigningKey extends Error {
  override readonly name = 'WrongSigningKey'
}

/**
 * The service's signing key: made at the first start, and from then on the one that the audit chain names.
 *
 * @throws WrongSigningKey when the chain names another key, or the key's file is gone
 */
export async function ensureSigner(deps: Deps, file: KeyFile): Promise<Signer> {
  const [recorded] = deps.store.state().signingKeys.values()
  const found = file.read()
  if (found !== undefined && !canSign(found))
    throw new WrongSigningKey('The signing key does not verify what it signs.')
  if (recorded === undefined) return recordSigner(deps, found ?? file.create())
  if (found === undefined) {
    throw new WrongSigningKey(
      'The signing key is missing, though evidence was signed with it. Restore its file; a new key could not speak for the old one.',
    )
  }
  const signer = { privateKey: found, publicKey: publicKeyOf(found) }
  if (signer.publicKey !== recorded.publicKey) {
    throw new WrongSigningKey(
      'The signing key is not the one that the audit chain names. Restore the right file, or set signingKey to it.',
    )
  }
  return signer
}

/** Two services that start at once on a new folder record the same key once: its id follows from the key. */
async function recordSigner(deps: Deps, privateKey: KeyObject): Promise<Signer> {
  const publicKey = publicKeyOf(privateKey)
  const id = digestOf(Buffer.from(publicKey, 'base64'))
  const signer = { privateKey, publicKey }
  return decideAndCommit(deps.store, async () => {
    if (deps.store.state().signingKeys.has(id)) return { submission: null, reply: () => signer }
    const { write, data } = creation('signingKey', {
      id,
      revision: 1,
      algorithm: ALGORITHM,
      publicKey,
      createdAt: formatTimestamp(deps.clock()),
    })
    const entry = eventEntry(deps, SYSTEM_CHAIN, 'key.created', data, SERVICE)
    return { submission: { guards: [], writes: [write], entries: [entry] }, reply: () => signer }
  })
}
