import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { decodeBase64 } from '../base/bytes.ts'

/** The file of the webhook's secret cannot be used; the message says why, and the service does not start. */
export class UnusableSecret extends Error {
  override readonly name = 'UnusableSecret'
}

const PREFIX = 'whsec_'
const MIN_BYTES = 24
const MAX_BYTES = 64
/** Permission bits of users other than the owner and the group: none may read or change the file. */
const FOR_ALL = 0o006

/** Reads the secret of a Standard Webhooks receiver. @throws UnusableSecret */
export function readWebhookSecret(path: string): Uint8Array {
  const text = readPrivately(path).trim()
  const bytes = text.startsWith(PREFIX) ? decodeBase64(text.slice(PREFIX.length)) : undefined
  if (bytes !== undefined && bytes.byteLength >= MIN_BYTES && bytes.byteLength <= MAX_BYTES) return bytes
  throw new UnusableSecret(
    `The webhook secret ${path} is not ${PREFIX} and the base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes.`,
  )
}

function readPrivately(path: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      if ((fstatSync(file).mode & FOR_ALL) !== 0)
        throw new UnusableSecret(`The webhook secret ${path} can be read or changed by every user; chmod 600 it.`)
      return readFileSync(file, 'utf8')
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    if (cause instanceof UnusableSecret) throw cause
    throw new UnusableSecret(`The webhook secret ${path} cannot be read.`, { cause })
  }
}
