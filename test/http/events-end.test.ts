import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { revokeKey } from '../../src/actions/keys/keys.ts'
import { idMaker } from '../../src/base/id.ts'
import { type Gate, openBeside, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { openStream } from './sse.ts'
import { assertDone } from './support.ts'

let now = Date.now()
const gate = await startGate({ after }, { clock: () => now })
const owner = await gate.key()
type Key = typeof owner
const LARGE = 'x'.repeat(300_000)
let amount = 2000
/** A stream that does not end by itself goes on for ever; a busy machine may take some seconds. */
const HUNG_MS = 15_000

/** Holds of which each event has some 300 kB, more than sockets take together; by a new key, since pending ones have a limit. */
async function manyLarge(at: Gate, count: number, text = LARGE): Promise<void> {
  const key = await at.key()
  for (let i = 0; i < count; i += 1) {
    amount += 1
    const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount, text } }
    const answer = await at.call(key, 'POST', '/gate/check', body)
    assertDone(answer)
    assert.equal(answer.body.data.decision, 'require_approval', answer.body.data.reason)
  }
}

async function elapsed(work: Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work
  return performance.now() - begin
}

async function revokedElsewhere(id: string): Promise<void> {
  const store = await openBeside(gate.dir)
  const deps = { store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
  await revokeKey(deps, { actor: { kind: 'host', id: 'host:0' }, caller: undefined }, id)
  await store.close()
}

const ENDS: [how: string, end: (key: Key) => Promise<unknown>][] = [
  ['revoked', (key) => gate.call(owner, 'DELETE', `/keys/${key.id}`)],
  ['revoked by another process', ({ id }) => revokedElsewhere(id)],
]

/** Counts how often an approval is put together from its entries. */
function countReads(t: { after(work: () => void): void }): () => number {
  const { store } = gate.server
  const { changesOf } = store
  let reads = 0
  store.changesOf = (kind, id) => {
    reads += 1
    return changesOf(kind, id)
  }
  t.after(() => {
    store.changesOf = changesOf
  })
  return () => reads
}

/** Writes large events until a paused reader takes no more; tells how many. Kernels differ in what they buffer. */
async function untilBehind(reads: () => number): Promise<number> {
  for (let written = 30; written <= 300; written += 30) {
    await manyLarge(gate, 30)
    // Until nothing more is read for a while: a busy machine may be late with it.
    for (let before = -1; before !== reads(); await sleep(300)) before = reads()
    if (reads() > 0 && reads() < written - 10) return written
  }
  throw new Error('A reader that takes nothing is read for without end.')
}

for (const [how, end] of ENDS) {
  test(`a key that is ${how} ends its streams, that of a slow reader too`, async (t) => {
    const key = await gate.key()
    const slow = await openStream(t, gate.server.url, key)
    slow.response.pause()
    const written = await untilBehind(countReads(t))
    const quick = await openStream(t, gate.server.url, key)
    await manyLarge(gate, 1)
    await quick.find(({ data }) => data.data.context?.amount === amount)
    const told = quick.events.length
    await end(key)
    assert.equal(await quick.ended, true)
    await manyLarge(gate, 1)
    // In steps: after a halt of this process, what is due in the service comes before the next one.
    for (let i = 0; i < 6; i += 1) await sleep(100)
    slow.response.resume()
    assert.equal(await slow.ended, false)
    // The slow reader gets only the events that were on their way before the end. A hold has two, of which one is large.
    assert.ok(slow.events.filter(({ event }) => event === 'approval.requested').length < written)
    assert.equal(quick.events.length, told)
    const answer = await gate.call(key, 'GET', '/events')
    assert.equal(answer.body.error, 'unauthenticated')
  })
}

test('a key that expires ends its streams', async (t) => {
  const expiresAt = new Date(now + 60_000).toISOString()
  const made = await gate.call(owner, 'POST', '/keys', { roles: ['agent'], expiresAt })
  const reader = await openStream(t, gate.server.url, { secret: made.body.data.key, tenant: 'acme' })
  now += 61_000
  await reader.ended
})

test('a slow reader is read for no further than it takes, and gets everything in order', async (t) => {
  const slow = await openStream(t, gate.server.url, await gate.key())
  slow.response.pause()
  const reads = countReads(t)
  const first = amount + 1
  const written = await untilBehind(reads)
  slow.response.resume()
  await slow.find(({ data }) => data.data.context?.amount === amount)
  const amounts = slow.events.flatMap(({ data }) => data.data.context?.amount ?? [])
  assert.deepEqual(
    amounts,
    Array.from({ length: written }, (_, i) => first + i),
  )
})

test('readers at the same place share what is read', async (t) => {
  const keys = await Promise.all([gate.key(), gate.key(), gate.key({ roles: ['auditor'] })])
  const readers = await Promise.all([...keys, ...keys].map((key) => openStream(t, gate.server.url, key)))
  await sleep(200)
  const reads = countReads(t)
  // Unshared, six readers of 20 approvals read 120 times. A busy machine lets some of them fall behind.
  await until('fewer than 60 reads', async () => {
    const before = reads()
    await manyLarge(gate, 20, 'small')
    for (const reader of readers) await reader.find(({ data }) => data.data.context?.amount === amount)
    return reads() - before < 60
  })
})

test('a service that stops ends its streams, and they go on with the next one', async (t) => {
  const stopping = await startGate(t)
  const key = await stopping.key()
  const reader = await openStream(t, stopping.server.url, key)
  const slow = await openStream(t, stopping.server.url, key)
  slow.response.pause()
  await manyLarge(stopping, 30)
  await reader.find(({ data }) => data.data.context?.amount === amount)
  assert.ok((await elapsed(stopping.server.close())) < HUNG_MS)
  assert.equal(await reader.ended, true)
  const next = await startGate(t, { dir: stopping.dir })
  const again = await openStream(t, next.server.url, key, reader.lastId())
  await sleep(50)
  assert.equal(again.events.filter(({ event }) => !event.startsWith('policy.')).length, 0)
})

test('a store that cannot be read ends the stream without an end, so that its reader comes back', async (t) => {
  const broken = await startGate(t)
  const key = await broken.key()
  const reader = await openStream(t, broken.server.url, key)
  const { lengths } = broken.server.store
  broken.server.store.lengths = () => Promise.reject(new Error('the disk is gone'))
  assert.equal(await reader.ended, false)
  broken.server.store.lengths = lengths
  assert.equal((await openStream(t, broken.server.url, key, reader.lastId())).status, 200)
})
