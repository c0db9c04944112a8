import { decodeBase64 } from '../base/bytes.ts'
import { readSecret } from '../files/private.ts'

/** The file of the webhook's secret cannot be used; the message says why, and the service does not start. */
export class UnusableSecret extends Error {
  override readonly name = 'UnusableSecret'
}

const PREFIX = 'whsec_'
const MIN_BYTES = 24
const MAX_BYTES = 64
/** Reads the secret of a Standard Webhooks receiver. @throws UnusableSecret */
export function readWebhookSecret(path: string): Uint8Array {
  const text = readSecret('The webhook secret', path, UnusableSecret).trim()
  const bytes = text.startsWith(PREFIX) ? decodeBase64(text.slice(PREFIX.length)) : undefined
  if (bytes !== undefined && bytes.byteLength >= MIN_BYTES && bytes.byteLength <= MAX_BYTES) return bytes
  throw new UnusableSecret(
    `The webhook secret ${path} is not ${PREFIX} and the base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes.`,
  )
}
