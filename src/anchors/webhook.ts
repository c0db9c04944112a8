import { createHmac } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { type AnchorSink, SinkFailure } from '../actions/anchors/anchors.ts'
import { encodeHex, sha256 } from '../base/bytes.ts'
import { type Clock, formatTimestamp } from '../base/time.ts'
import { type Anchor, anchorRecord } from '../evidence/anchor.ts'

const TIMEOUT_MS = 10_000
/** Limit of an answer's body; only its status counts. */
const MAX_ANSWER_BYTES = 16 * 1024

export interface WebhookOptions {
  /** http or https. */
  url: string
  secret: Uint8Array
  clock: Clock
  timeoutMs?: number
}

/** Sends anchors to a foreign receiver, signed after Standard Webhooks 1.0. */
export function anchorWebhook({ url, secret, clock, timeoutMs = TIMEOUT_MS }: WebhookOptions): AnchorSink {
  return {
    name: 'webhook',
    async take(anchors, signal) {
      const nowMs = clock()
      const body = bodyOf(anchors, nowMs)
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...signatureHeaders(secret, { id: idOf(anchors), seconds: Math.floor(nowMs / 1000), body }),
      }
      const timeout = AbortSignal.timeout(timeoutMs)
      try {
        const status = await post(url, { body, headers, signal: AbortSignal.any([signal, timeout]) })
        if (status < 200 || status > 299) throw new SinkFailure(`The webhook answered ${status}.`)
      } catch (cause) {
        if (cause instanceof SinkFailure) throw cause
        if (timeout.aborted)
          throw new SinkFailure(`The webhook did not answer within ${timeoutMs / 1000} s.`, { cause })
        const code = cause instanceof Error && 'code' in cause ? cause.code : 'it failed'
        throw new SinkFailure(`The webhook cannot be reached: ${code}.`, { cause })
      }
    },
  }
}

function bodyOf(anchors: readonly Anchor[], nowMs: number): string {
  const data = { checkpoints: anchors.map(anchorRecord) }
  return JSON.stringify({ type: 'audit.checkpoint', timestamp: formatTimestamp(nowMs), data })
}

/** Derives the message id from the checkpoints: a retry, also by another process, has the same id. */
function idOf(anchors: readonly Anchor[]): string {
  return `msg_${encodeHex(sha256(...anchors.map(({ checkpoint }) => checkpoint))).slice(0, 32)}`
}

function signatureHeaders(secret: Uint8Array, { id, seconds, body }: { id: string; seconds: number; body: string }) {
  const signature = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
}

interface Sent {
  body: string
  headers: Record<string, string | number>
  signal: AbortSignal
}

/** Posts the body and returns the status. Follows no redirect: only the settings say where anchors go. */
function post(url: string, { body, headers, signal }: Sent): Promise<number> {
  const request = url.startsWith('https:') ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, signal }, (response) => {
      passOver(response, () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Discards the body, which can neither fail the delivery nor fill the memory. */
function passOver(response: IncomingMessage, ended: () => void): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength
    if (bytes > MAX_ANSWER_BYTES) response.destroy()
  })
  response.on('error', ended)
  response.on('close', ended)
}
