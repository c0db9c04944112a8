import type { IncomingMessage } from 'node:http'
import { MAX_BUNDLE_VALUES } from '../actions/evidence/verify.ts'
import { GateError } from '../base/errors.ts'
import type { JsonLimits } from '../base/json.ts'
import { type BodyShare, FIRST_PART_BYTES } from './body-budget.ts'

export interface BodyLimits extends JsonLimits {
  maxBytes: number
}

/** As many values as are parsed and made canonical in some 20 ms at worst, in which nobody else is served. */
export const REQUEST_LIMITS: BodyLimits = { maxBytes: 1024 * 1024, maxDepth: 32, maxValues: 10_000 }
/** Limits of a bundle, which holds a whole request and its proof. */
export const BUNDLE_LIMITS: BodyLimits = {
  maxBytes: 8 * 1024 * 1024,
  maxDepth: 64,
  maxValues: MAX_BUNDLE_VALUES,
  rounds: true,
}
/** Limits of policy texts: the largest allowed set fits, and is parsed in less than a tenth of a second. */
export const POLICY_LIMITS: BodyLimits = { maxBytes: 4 * 1024 * 1024, maxDepth: 4, maxValues: 10_000 }
/** Limits of policies together with a request. */
export const DRY_RUN_LIMITS: BodyLimits = { ...REQUEST_LIMITS, maxBytes: POLICY_LIMITS.maxBytes }

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * Reads the body of a request that is declared as JSON.
 *
 * @param share counts bytes before they are kept, and throws at its limit
 * @throws GateError `unsupported_media_type`, `payload_too_large`, and the errors of `share`
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, share: BodyShare): Promise<Buffer> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new GateError('unsupported_media_type', 'Send JSON, with Content-Type: application/json.')
  }
  if (request.headers['content-encoding'] !== undefined) {
    throw new GateError('unsupported_media_type', 'Compressed bodies are not accepted.')
  }
  return readBytes(request, limits.maxBytes, share)
}

function readBytes(request: IncomingMessage, maxBytes: number, share: BodyShare): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  return new Promise((resolve, reject) => {
    // One growing buffer: each chunk kept would cost hundreds of bytes, and a chunk may have only one.
    let body: Buffer = NOTHING
    let bytes = 0
    const keep = (chunk: Buffer): void => {
      const length = bytes + chunk.byteLength
      if (length > maxBytes) throw tooLarge(maxBytes)
      if (length === declared && bytes === 0) {
        share.take(length)
        body = chunk
      } else if (length > body.byteLength) {
        const grown = Math.min(maxBytes, Math.max(length, Math.min(declared, FIRST_PART_BYTES), 2 * body.byteLength))
        share.take(grown - body.byteLength)
        const larger = Buffer.allocUnsafe(grown)
        body.copy(larger, 0, 0, bytes)
        body = larger
      }
      if (body !== chunk) chunk.copy(body, bytes)
      bytes = length
    }
    request.on('data', (chunk: Buffer) => {
      try {
        keep(chunk)
      } catch (refusal) {
        request.removeAllListeners('data')
        request.pause()
        reject(refusal)
      }
    })
    request.on('end', () => resolve(bytes === body.byteLength ? body : body.subarray(0, bytes)))
    request.on('error', () => reject(new GateError('invalid_request', 'The request ended before its body did.')))
  })
}

const NOTHING = Buffer.alloc(0)

function tooLarge(maxBytes: number): GateError {
  return new GateError('payload_too_large', `The body is larger than ${maxBytes} bytes.`, {
    headers: { Connection: 'close' },
  })
}
