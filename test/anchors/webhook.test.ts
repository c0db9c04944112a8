import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { SinkFailure } from '../../src/actions/anchors/anchors.ts'
import { readWebhookSecret, UnusableSecret } from '../../src/anchors/secret.ts'
import { anchorWebhook } from '../../src/anchors/webhook.ts'
import { type Cleanup, temporaryFolder } from '../helpers.ts'
import { type Received, receiver, SECRET } from './support.ts'

const { signal } = new AbortController()
const ANCHORS = [
  { at: '2026-01-01T00:00:00.000Z', checkpoint: 'gate-x/_system\n3\nroot=\n\n— gate-x sig=\n' },
  { at: '2026-01-01T00:00:00.000Z', checkpoint: 'gate-x/a/live\n5\nroot=\n\n— gate-x sig=\n' },
]
const secret = readWebhookSecret(secretFile(SECRET))
const sinkTo = (url: string, timeoutMs?: number) =>
  anchorWebhook({ url, secret, clock: Date.now, ...(timeoutMs !== undefined && { timeoutMs }) })

function secretFile(text: string, mode = 0o600): string {
  const path = join(temporaryFolder(), 'secret')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

/** Returns a delivery as the library that receivers use verifies and reads it. @throws when it is not genuine */
function verified({ body, headers }: Received): unknown {
  return new Webhook(SECRET).verify(body, headers as Record<string, string>)
}

test('a receiver that uses Standard Webhooks finds the delivery genuine, and what it holds', async (t) => {
  const { url, received } = await receiver(t)
  const beginMs = Date.now()
  await sinkTo(url).take(ANCHORS, signal)
  const [one] = received
  assert.ok(one)
  const { timestamp, ...rest } = verified(one) as { timestamp: string }
  assert.deepEqual(rest, { type: 'audit.checkpoint', data: { checkpoints: ANCHORS.map((one) => ({ ...one, v: 1 })) } })
  const ms = Date.parse(timestamp)
  assert.equal(ms >= beginMs && ms <= Date.now(), true)
  assert.equal(one.headers['content-type'], 'application/json')
  assert.match(one.headers['webhook-timestamp']?.toString() ?? '', /^\d{10}$/)
})

const FORGED: [name: string, change: (received: Received) => Received][] = [
  ['another body', (one) => ({ ...one, body: one.body.replace('_system', '_sistem') })],
  ['another id', (one) => ({ ...one, headers: { ...one.headers, 'webhook-id': 'msg_1' } })],
  ['another time', (one) => ({ ...one, headers: { ...one.headers, 'webhook-timestamp': '1' } })],
]
for (const [name, change] of FORGED) {
  test(`the signature is over all: ${name} is not genuine`, async (t) => {
    const { url, received } = await receiver(t)
    await sinkTo(url).take(ANCHORS, signal)
    const [one] = received
    assert.ok(one)
    assert.throws(() => verified(change(one)))
  })
}

test('the same checkpoints have the same id, others have another', async (t) => {
  const { url, received } = await receiver(t)
  const later = ANCHORS.map((anchor) => ({ ...anchor, at: '2026-01-02T00:00:00.000Z' }))
  for (const anchors of [ANCHORS, later, ANCHORS.slice(1)]) await sinkTo(url).take(anchors, signal)
  const ids = received.map(({ headers }) => headers['webhook-id'])
  assert.equal(ids[0], ids[1])
  assert.notEqual(ids[0], ids[2])
})

for (const status of [200, 201, 202, 204, 299]) {
  test(`${status} is success`, async (t) => {
    const { url } = await receiver(t, () => (_, response) => response.writeHead(status).end())
    await sinkTo(url).take(ANCHORS, signal)
  })
}

/** Sends a body that has no end, until nobody reads it any more. @param onSent receives the bytes of each part */
const endless =
  (onSent: (bytes: number) => void): RequestListener =>
  (_, response) => {
    const part = 'x'.repeat(65_536)
    response.writeHead(200)
    const more = (): void => {
      if (response.destroyed) return
      onSent(part.length)
      if (response.write(part)) setImmediate(more)
    }
    response.on('drain', more)
    more()
  }

test('of an answer without end no more is read than a little', async (t) => {
  let sent = 0
  const answer = endless((bytes) => {
    sent += bytes
  })
  const { url } = await receiver(t, () => answer)
  await sinkTo(url).take(ANCHORS, signal)
  // Buffers of sockets take some megabytes that nobody reads.
  assert.equal(sent < 32 * 1024 * 1024, true, `${sent} bytes`)
})

const REFUSED: [name: string, answer: RequestListener, failure: RegExp][] = [
  ['500', (_, response) => response.writeHead(500).end(), /answered 500/],
  ['404', (_, response) => response.writeHead(404).end(), /answered 404/],
  ['410', (_, response) => response.writeHead(410).end(), /answered 410/],
  ['no answer', () => undefined, /did not answer within 1 s/],
  ['headers only after the limit', (_, response) => void setTimeout(() => response.end(), 2000), /within 1 s/],
  ['a connection that is cut', (request) => void request.socket.destroy(), /cannot be reached: ECONNRESET/],
]
for (const [name, answer, failure] of REFUSED) {
  test(`${name} is a failure`, async (t) => {
    const { url, received } = await receiver(t, () => answer)
    const limitMs = failure.source.includes('within 1 s') ? 1000 : undefined
    await assert.rejects(sinkTo(url, limitMs).take(ANCHORS, signal), (error) => isFailure(error, failure, url))
    assert.equal(received.length, 1)
  })
}

test('a redirect is not followed', async (t) => {
  const elsewhere = await receiver(t)
  const { url } = await receiver(t, () => (_, response) => response.writeHead(307, { location: elsewhere.url }).end())
  await assert.rejects(sinkTo(url).take(ANCHORS, signal), (error) => isFailure(error, /answered 307/, url))
  assert.equal(elsewhere.received.length, 0)
})

test('a receiver that is not there is a failure', async (t) => {
  const { url, close } = await receiver(t)
  await close()
  await assert.rejects(sinkTo(url).take(ANCHORS, signal), (error) => isFailure(error, /ECONNREFUSED/, url))
})

test('who stops does not wait for a receiver', async (t: Cleanup) => {
  const { url } = await receiver(t, () => () => undefined)
  // Another failure than that of a receiver that had its time.
  await assert.rejects(sinkTo(url).take(ANCHORS, AbortSignal.timeout(100)), (error) =>
    isFailure(error, /cannot be reached: /, url),
  )
})

/** It says what happened, and neither where nor with which secret. */
function isFailure(error: unknown, wanted: RegExp, url: string): boolean {
  assert.equal(error instanceof SinkFailure, true, String(error))
  const { message } = error as SinkFailure
  assert.match(message, wanted)
  assert.equal(message.includes(new URL(url).host), false)
  return true
}

const base64 = (bytes: number): string => Buffer.alloc(bytes, 1).toString('base64')
for (const [name, text, bytes] of [
  ['24 bytes', `whsec_${base64(24)}`, 24],
  ['64 bytes', `whsec_${base64(64)}\n`, 64],
] as const) {
  test(`a secret of ${name} is taken, with or without a line feed`, () => {
    assert.equal(readWebhookSecret(secretFile(text)).byteLength, bytes)
  })
}

test('the group may read the secret, as a mounted one does', () => {
  assert.equal(readWebhookSecret(secretFile(SECRET, 0o440)).byteLength, 32)
})

const UNUSABLE: [name: string, path: string, message: RegExp][] = [
  ['too short', secretFile(`whsec_${base64(23)}`), /base64 of 24 to 64 bytes/],
  ['too long', secretFile(`whsec_${base64(65)}`), /base64 of 24 to 64 bytes/],
  ['without its prefix', secretFile(base64(32)), /is not whsec_/],
  ['no base64', secretFile(`whsec_${base64(32)}!`), /is not whsec_/],
  ['an empty file', secretFile(''), /is not whsec_/],
  ['no file', join(temporaryFolder(), 'none'), /cannot be read/],
  ['a folder', temporaryFolder(), /cannot be read/],
]
for (const [name, path, message] of UNUSABLE) {
  test(`refused as a secret: ${name}`, () => {
    assert.throws(
      () => readWebhookSecret(path),
      (error) => {
        assert.equal(error instanceof UnusableSecret, true, String(error))
        assert.match(String(error), message)
        assert.equal(String(error).includes(SECRET.slice(6)), false)
        return true
      },
    )
  })
}
