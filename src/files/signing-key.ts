import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { idOf, type KeyFile, sealKeyFrom } from '../actions/evidence/signing-keys.ts'
import type { SealKey } from '../audit/seal.ts'
import { publicKeyOf } from '../evidence/signature.ts'
import type { SealKeys } from '../store/store.ts'
import { Exposed, readPrivately } from './private.ts'
import { syncFolder, writeDurably } from './rewrite.ts'

/** The signing key's file cannot be used; the message says why, and the service does not start. */
class UnusableKey extends Error {
  override readonly name = 'UnusableKey'
}

/** File of the log key. A successor waits in a file beside it. */
export function signingKeyFile(path: string): KeyFile {
  const next = (id: string): string => `${path}.${id.slice('sha256:'.length).slice(0, 16)}`
  return {
    read: () => readSigningKey(path),
    create: () => writeSigningKey(path, generateKeyPairSync('ed25519').privateKey),
    createNext() {
      const { privateKey } = generateKeyPairSync('ed25519')
      return writeSigningKey(next(idOf(publicKeyOf(privateKey))), privateKey)
    },
    readNext: (id) => readSigningKey(next(id)),
    promoteNext(id) {
      try {
        renameSync(next(id), path)
        syncFolder(dirname(path))
      } catch (cause) {
        if (isAbsent(cause)) return
        throw new UnusableKey(`The new signing key ${next(id)} cannot replace ${path}; move it there.`, {
          cause,
        })
      }
    },
    removeNext: (id) => rmSync(next(id), { force: true }),
  }
}

/**
 * Keys of the seals, of the log key in that file or of its successor beside it.
 *
 * @param missing whether a first log key is made where there is none
 */
export function sealKeysAt(path: string, missing: 'made' | 'left' = 'made'): SealKeys {
  const file = signingKeyFile(path)
  const known = new Map<string, SealKey>()
  return (id) => {
    const cached = id === undefined ? undefined : known.get(id)
    if (cached !== undefined) return cached
    const isMade = id === undefined && missing === 'made'
    const inPlace = file.read() ?? (isMade ? file.create() : undefined)
    for (const privateKey of [inPlace, id === undefined ? undefined : file.readNext(id)]) {
      if (privateKey === undefined) continue
      const key = sealKeyFrom(privateKey)
      known.set(key.id, key)
      if (id === undefined || key.id === id) return key
    }
    return undefined
  }
}

/** Reads the Ed25519 private key of a PEM file (PKCS #8); undefined when there is no file. @throws UnusableKey */
export function readSigningKey(path: string): KeyObject | undefined {
  let pem: string
  try {
    pem = readPrivately('The signing key', path)
  } catch (cause) {
    if (isAbsent(cause)) return undefined
    if (cause instanceof Exposed) throw new UnusableKey(cause.message, { cause })
    throw new UnusableKey(`The signing key ${path} cannot be read.`, { cause })
  }
  const key = parseKey(path, pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new UnusableKey(`The signing key ${path} is not an Ed25519 key.`)
  return key
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function parseKey(path: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new UnusableKey(`The signing key ${path} is not a private key in PEM form.`, { cause })
  }
}

/**
 * Writes a key where there is none (mode 0600), on disk before anything is signed with it.
 * The file appears whole or not at all; two processes that create it at once get the same key.
 *
 * @throws UnusableKey when the file cannot be written
 */
function writeSigningKey(path: string, privateKey: KeyObject): KeyObject {
  // Containers that share a folder can have equal process ids.
  const draft = `${path}.${randomUUID()}`
  try {
    writeDurably(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
    linkUnlessThere(draft, path)
    rmSync(draft)
    syncFolder(dirname(path))
  } catch (cause) {
    throw new UnusableKey(`The signing key ${path} cannot be created.`, { cause })
  }
  return readSigningKey(path) ?? privateKey
}

function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
