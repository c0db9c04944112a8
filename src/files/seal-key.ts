import type { SealKey } from '../audit/seal.ts'
import { decodeBase64, encodeBase64 } from '../base/bytes.ts'
import { isDigest } from '../base/digest.ts'
import { isJsonObject, readJson } from '../base/json.ts'
import type { SealKeys } from '../store/store.ts'
import { readSecret } from './private.ts'

/** The seal key's file cannot be used; the message says why, and the service does not start. */
class UnusableSealKey extends Error {
  override readonly name = 'UnusableSealKey'
}

const SECRET_BYTES = 32

/** Content of the file; docs/format.md is the specification. */
export function sealKeyText({ id, secret }: SealKey): string {
  return `${JSON.stringify({ logKey: id, secret: encodeBase64(secret) })}\n`
}

/** The key in that file, which is read again for a log key that it did not have. @throws UnusableSealKey */
export function sealKeysIn(path: string): SealKeys {
  let key: SealKey | undefined
  return (id) => {
    if (id === undefined) return undefined
    if (key?.id !== id) key = readSealKey(path)
    return key.id === id ? key : undefined
  }
}

function readSealKey(path: string): SealKey {
  const content = readJson(readSecret('The seal key', path, UnusableSealKey), { maxDepth: 1 })
  const { logKey, secret, ...others } = isJsonObject(content) ? content : {}
  const bytes = decodeBase64(secret)
  if (isDigest(logKey) && bytes?.length === SECRET_BYTES && Object.keys(others).length === 0)
    return { id: logKey, secret: bytes }
  throw new UnusableSealKey(`The seal key ${path} is not one that \`gate-sidecar signing-keys export-seal\` wrote.`)
}
