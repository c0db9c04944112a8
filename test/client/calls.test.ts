import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { GateClient, GateError, type GateEvent } from '../../src/client/index.ts'
import { plainFetch } from '../declared.ts'
import { ACME_POLICY, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { between } from './between.ts'
import { MAIL } from './cases.ts'

/* What is told by signals and streams, which the table of cases has no words for. */

const gate = await startGate({ after })
const proxy = await between(gate.server.url)
after(() => proxy.close())
const approver = await gate.key({ roles: ['approver'], identity: 'ann' })
const HELD = { action: 'payment.transfer', context: { amount: 5000 } }

async function scene(options: object = {}) {
  const key = await gate.key({ roles: ['agent'] })
  const client = new GateClient({
    tenantId: 'acme',
    apiKey: key.secret,
    baseUrl: proxy.url,
    fetch: plainFetch,
    ...options,
  })
  proxy.play([], 'pass')
  return { key, client }
}
const pendingOf = (key: { secret: string; tenant: string }): Promise<string> =>
  until('an approval is asked for', async () => (await gate.call(key, 'GET', '/approvals')).body.data[0]?.id)

test('an aborted call rejects with what it was aborted with, before, meanwhile, and between two tries', async () => {
  const { client } = await scene()
  const reason = new Error('enough')
  await assert.rejects(client.decide(MAIL, { signal: AbortSignal.abort(reason) }), reason)
  for (const step of ['hang', 'reset'] as const) {
    proxy.play([], step)
    const aborting = new AbortController()
    const checked = client.decide(MAIL, { signal: aborting.signal })
    await until('it is asked', () => proxy.requests.length > 0)
    aborting.abort(reason)
    await assert.rejects(checked, reason)
  }
})

test('a guarded action that is aborted while it is held never runs, though it is approved then', async () => {
  const { key, client } = await scene()
  const aborting = new AbortController()
  let ran = 0
  const run = (): void => {
    ran += 1
  }
  const guarded = client.guard(HELD, run, { approvalTimeout: 30_000, signal: aborting.signal })
  const id = await pendingOf(key)
  aborting.abort(new Error('enough'))
  await assert.rejects(guarded, /enough/)
  await gate.call(approver, 'POST', `/approvals/${id}/approve`, { approverId: 'ann' })
  assert.equal(ran, 0)
})

test('a guarded action that is aborted as its allow comes does not run, and the trail says so', async () => {
  const { key } = await scene()
  const aborting = new AbortController()
  const fetched: typeof fetch = async (...args) => {
    const response = await plainFetch(...args)
    const text = await response.text()
    aborting.abort(new Error('enough'))
    return new Response(text, response)
  }
  const other = new GateClient({ tenantId: 'acme', apiKey: key.secret, baseUrl: proxy.url, fetch: fetched })
  await assert.rejects(
    other.guard(MAIL, () => assert.fail('it ran'), { signal: aborting.signal }),
    /enough/,
  )
  const { data } = (await gate.call(await gate.key(), 'GET', '/audit/chain?eventType=outcome.recorded&limit=1')).body
  assert.deepEqual([data[0].data.reportedBy, data[0].data.status], [key.id, 'not_run'])
})

test('options that cannot be used are refused when the client is made', () => {
  for (const options of [
    { tenantId: '', apiKey: 'x' },
    { tenantId: 'acme', apiKey: '' },
    { tenantId: 'acme', apiKey: 'x', baseUrl: 'no address' },
    { tenantId: 'acme', apiKey: 'x', baseUrl: 'localhost:4500' },
  ])
    assert.throws(() => new GateClient(options), TypeError)
})

test('a request that has no JSON is refused before it is sent, and who only watches runs it', async () => {
  const { client } = await scene()
  const circle: Record<string, unknown> = {}
  circle.self = circle
  for (const context of [circle, { amount: 10n }]) {
    await assert.rejects(
      client.decide({ action: 'a', context }),
      (error) => error instanceof GateError && error.code === 'invalid_request',
    )
  }
  assert.deepEqual(proxy.requests, [])
  const watching = (await scene({ mode: 'observe', onObserved: () => undefined })).client
  assert.equal(await watching.guard({ action: 'a', context: circle }, () => 5), 5)
})

test('an action that runs only because the policies are observed is reported', async (t) => {
  const policy = `${ACME_POLICY}mode: observe\n`
  const observing = await startGate(t, { policies: { 'acme/main.yaml': policy } })
  const { secret } = await observing.key({ roles: ['agent'] })
  const told: string[] = []
  const onObserved = ({ action, reason }: { action: string; reason: string }) => void told.push(`${action}: ${reason}`)
  const connection = { tenantId: 'acme', apiKey: secret, baseUrl: observing.server.url, fetch: plainFetch }
  const client = new GateClient({ ...connection, onObserved })
  assert.equal(await client.guard(MAIL, () => 'sent'), 'sent')
  assert.deepEqual(told, [])
  assert.equal(await client.guard(HELD, () => 'paid'), 'paid')
  assert.deepEqual(told, ['payment.transfer: Observed only, not enforced: Large payments need a person.'])
})

/** Takes a number of events of a type from a stream, and leaves it. */
async function take(stream: AsyncIterable<GateEvent>, count: number, eventType: string): Promise<GateEvent[]> {
  const taken: GateEvent[] = []
  for await (const event of stream) {
    if (event.eventType === eventType) taken.push(event)
    if (taken.length === count) break
  }
  return taken
}

test('events come as they happen, and a stream that breaks goes on where it was: none is missing, none comes twice', async () => {
  const { client } = await scene()
  /** Passes so many blocks of a stream on, then breaks it. */
  const breaking = createServer(async ({ url = '', headers }, outgoing) => {
    const { 'x-api-key': key = '', 'x-tenant-id': tenant = '', 'last-event-id': last } = headers
    const sent = {
      'x-api-key': String(key),
      'x-tenant-id': String(tenant),
      ...(last && { 'last-event-id': String(last) }),
    }
    const stopping = new AbortController()
    outgoing.once('close', () => stopping.abort())
    const answer = await plainFetch(gate.server.url + url, { headers: sent, signal: stopping.signal })
    outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    let blocks = 0
    try {
      for await (const chunk of answer.body ?? []) {
        const text = Buffer.from(chunk).toString()
        blocks += text.split('\n\n').length - 1
        if (blocks <= 4) outgoing.write(text)
        // In the middle of a block, too.
        else return void outgoing.write(text.slice(0, (text.length * 2) / 3), () => outgoing.destroy())
      }
    } catch {
      outgoing.destroy()
    }
  }).listen(0, '127.0.0.1')
  await once(breaking, 'listening')
  after(() => {
    breaking.closeAllConnections()
    breaking.close()
  })
  const key = await gate.key()
  const baseUrl = `http://127.0.0.1:${(breaking.address() as AddressInfo).port}`
  const listener = new GateClient({ tenantId: 'acme', apiKey: key.secret, baseUrl, fetch: plainFetch })
  const decided: string[] = []
  for (let i = 0; i < 12; i += 1) decided.push((await client.decide(MAIL)).decisionId)
  const { data } = (await gate.call(key, 'GET', '/audit/chain?eventType=gate.decision&order=asc&limit=500')).body
  const all = data.map(({ id }: { id: string }) => id)
  const events = await take(listener.events({ lastEventId: '0-0' }), all.length, 'gate.decision')
  assert.deepEqual(
    events.map(({ id }) => id),
    all,
  )
  const behind = await take(listener.events({ lastEventId: events.at(-3)?.position ?? '' }), 2, 'gate.decision')
  assert.deepEqual(
    behind.map(({ id }) => id),
    all.slice(-2),
  )
})

test('a listener hears what happens until it is stopped, and why nothing more comes', async () => {
  const { client } = await scene()
  const heard: GateEvent[] = []
  const errors: unknown[] = []
  const stop = client.onEvent((event) => void heard.push(event), { onError: (error) => void errors.push(error) })
  const made: unknown[] = []
  await until('a decision is heard of', async () => {
    made.push((await client.decide(MAIL)).decisionId)
    return heard.some(({ data }) => made.includes((data as { id?: string } | null)?.id))
  })
  stop()
  const count = heard.length
  await client.decide(MAIL)
  assert.equal(heard.length, count)
  assert.deepEqual(errors, [])

  const refused: unknown[] = []
  const wrong = new GateClient({ tenantId: 'acme', apiKey: 'sk_live_x', baseUrl: proxy.url, fetch: plainFetch })
  wrong.onEvent(() => undefined, { onError: (error) => void refused.push(error) })
  const [why] = await until('it is told', () => refused.length > 0 && refused)
  assert.ok(why instanceof GateError && why.code === 'unauthenticated', String(why))

  const thrown: unknown[] = []
  const throwing = client.onEvent(() => Promise.reject(new Error('mine')), {
    lastEventId: '0-0',
    onError: (error) => void thrown.push(error),
  })
  await until('what the listener throws is told', () => thrown.length > 0)
  throwing()
  assert.match(String(thrown[0]), /mine/)
})
