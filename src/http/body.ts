import type { IncomingMessage } from 'node:http'
import { GateError } from '../base/errors.ts'
import { type Json, parseJson } from '../base/json.ts'

export interface BodyLimits {
  maxBytes: number
  maxDepth: number
}

export const REQUEST_LIMITS: BodyLimits = { maxBytes: 1024 * 1024, maxDepth: 32 }
/** A bundle holds a whole request and what proves it. */
export const BUNDLE_LIMITS: BodyLimits = { maxBytes: 8 * 1024 * 1024, maxDepth: 64 }

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * The JSON body of the request, parsed once and strictly.
 *
 * @param take counts the bytes as they come, and throws when it will have no more
 * @throws GateError `unsupported_media_type`, `payload_too_large`, `invalid_json`, and what `take` throws
 */
export async function readJsonBody(
  request: IncomingMessage,
  limits: BodyLimits,
  take: (bytes: number) => void,
): Promise<Json> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new GateError('unsupported_media_type', 'Send JSON, with Content-Type: application/json.')
  }
  if (request.headers['content-encoding'] !== undefined) {
    throw new GateError('unsupported_media_type', 'Bodies are taken uncompressed only.')
  }
  return parseJson(await readBytes(request, limits.maxBytes, take), { maxDepth: limits.maxDepth })
}

function readBytes(request: IncomingMessage, maxBytes: number, take: (bytes: number) => void): Promise<Buffer> {
  const tooLarge = (): GateError =>
    new GateError('payload_too_large', `The body is larger than ${maxBytes} bytes.`, {
      headers: { Connection: 'close' },
    })
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const keep = (chunk: Buffer): void => {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge()
      take(chunk.byteLength)
      chunks.push(chunk)
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
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', reject)
    request.once('aborted', () => reject(new GateError('invalid_request', 'The request ended before its body did.')))
  })
}
