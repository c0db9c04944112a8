import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { GateError } from '../../src/base/errors.ts'
import { GateClient } from '../../src/client/index.ts'
import type { Verifier } from '../../src/store/sqlite/verifiers.ts'
import { verifyInThread } from '../../src/store/sqlite/verifiers.ts'
import { writeInThread } from '../../src/store/sqlite/writers.ts'
import { type Cleanup, fileTest, inThisThread, startGate } from '../helpers.ts'
import { aDecision, enrolment } from '../store/drafts.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'
import { openStreamAt } from './sse.ts'
import { assertRefused, untilLoaded } from './support.ts'

const DAYS = { startDate: '2020-01-01', endDate: '2099-12-31' }
const query = (days: object = DAYS) => `/audit/verify?${new URLSearchParams({ ...days })}`

const gate = await startGate({ after })
const auditor = await gate.key({ roles: ['auditor'] })
await untilLoaded(gate, auditor)

type Work = (onProgress: (checked: number) => void, signal: AbortSignal | undefined) => ReturnType<Verifier['verify']>

/** A gate whose verification takes as long as the test wants; what it comes to is the real thing. */
async function gateWith(t: Cleanup, work: (real: () => ReturnType<Verifier['verify']>) => Work) {
  const verifier: typeof verifyInThread = (address, file) => {
    const real = inThisThread.verifier(address, file)
    return {
      ...real,
      verify: (request, onProgress, signal) => work(() => real.verify(request, () => undefined))(onProgress, signal),
    }
  }
  const own = await startGate(t, { threads: { ...inThisThread, verifier } })
  return { own, key: await own.key({ roles: ['auditor'] }) }
}

test('a verification is told as it goes, and comes to what the POST comes to', async (t) => {
  await gate.server.store.commit(enrolment())
  for (let i = 0; i < 5; i += 1)
    await gate.server.store.commit({ guards: [], writes: [], entries: [aDecision('allow')] })
  const reader = await openStreamAt(t, gate.server.url + query(), auditor)
  assert.deepEqual([reader.status, reader.headers['content-type']], [200, 'text/event-stream'])
  assert.equal(await reader.ended, true)
  const { data } = (await gate.call(auditor, 'POST', '/audit/verify', DAYS)).body
  assert.equal(data.valid, true)
  assert.deepEqual(
    reader.events.map(({ event, data: told }) => [event, told]),
    [
      ['progress', { checked: 0, of: data.entriesChecked }],
      ['verified', data],
    ],
  )
  assert.doesNotMatch(reader.text(), /^(retry|id):/m, 'a reader that comes back would begin anew')
})

fileTest('what is wrong with the chain is what it comes to, not a failure', async (t) => {
  const own = await startGate(t)
  const key = await own.key({ roles: ['auditor'] })
  await untilLoaded(own, key)
  tamper(join(own.dir, 'data'), (db) =>
    db.exec("UPDATE section SET json = replace(json, 'auditor', 'owner') WHERE name = 'data'"),
  )
  const reader = await openStreamAt(t, own.server.url + query(), key)
  const { data } = await reader.find(({ event }) => event === 'verified')
  assert.deepEqual([data.valid, data.status], [false, 'tampered'])
  assert.deepEqual(data, (await own.call(key, 'POST', '/audit/verify', DAYS)).body.data)
})

const BAD: [days: object, note: string][] = [
  [{}, 'no days'],
  [{ startDate: '2026-01-01' }, 'one day'],
  [{ startDate: '2026-01-02', endDate: '2026-01-01' }, 'backwards'],
  [{ startDate: '2026-02-30', endDate: '2026-03-01' }, 'no real day'],
  [{ ...DAYS, tenantId: 'acme' }, 'another parameter'],
]

test('days that are none are refused as elsewhere', async () => {
  for (const [days, note] of BAD) assertRefused(await gate.call(auditor, 'GET', query(days)), 'invalid_request', note)
})

fileTest('progress is told while it goes on, at most some times a second', async (t) => {
  const { own, key } = await gateWith(t, (real) => async (onProgress) => {
    for (let checked = 1; checked <= 100; checked += 1) {
      onProgress(checked)
      await sleep(10)
    }
    // Nothing moves, and nothing is told.
    await sleep(700)
    return real()
  })
  const beginMs = performance.now()
  const reader = await openStreamAt(t, own.server.url + query(), key)
  assert.equal(await reader.ended, true)
  const most = 2 + (performance.now() - beginMs) / 250
  const checked = reader.events.filter(({ event }) => event === 'progress').map(({ data }) => data.checked)
  assert.ok(checked.length >= 3 && checked.length <= most, `${checked}`)
  assert.deepEqual(
    checked,
    [...new Set(checked)].sort((a, b) => a - b),
  )
  assert.equal(reader.events.at(-1)?.event, 'verified')
})

fileTest('a failure after the start is the last event, with the code that it has elsewhere', async (t) => {
  for (const [error, code] of [
    [new GateError('audit_unavailable', 'The disk is gone.'), 'audit_unavailable'],
    [new TypeError('a secret of ours'), 'internal'],
  ] as const) {
    const { own, key } = await gateWith(t, () => () => Promise.reject(error))
    const reader = await openStreamAt(t, own.server.url + query(), key)
    assert.equal(await reader.ended, true)
    assert.deepEqual(
      reader.events.map(({ event }) => event),
      ['progress', 'failed'],
    )
    const { data } = reader.events[1] ?? {}
    assert.equal(data.error, code)
    assert.doesNotMatch(data.message, /secret/)
    const client = new GateClient({ tenantId: key.tenant, apiKey: key.secret, baseUrl: own.server.url })
    const told: string[] = []
    const listening = (async () => {
      for await (const { type } of client.audit.verifyLive(DAYS)) told.push(type)
    })()
    await assert.rejects(listening, { name: 'GateError', code })
    assert.deepEqual(told, ['progress'])
    await own.server.close()
  }
})

fileTest('a reader that leaves, and a key that is revoked, end the work', async (t) => {
  const under = { way: 0, ended: 0 }
  const { own, key } = await gateWith(t, () => (_, signal) => {
    under.way += 1
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        under.ended += 1
        reject(signal.reason)
      })
    })
  })
  const reader = await openStreamAt(t, own.server.url + query(), key)
  await until('it is under way', () => under.way === 1)
  reader.close()
  await until('it is ended', () => under.ended === 1)

  const owner = await own.key()
  const revoked = await openStreamAt(t, own.server.url + query(), key)
  await until('it is under way', () => under.way === 2)
  await own.call(owner, 'DELETE', `/keys/${key.id}`)
  assert.equal(await revoked.ended, true)
  assert.equal(under.ended, 2)
  assert.equal(revoked.events.at(-1)?.event, 'progress')
})

fileTest(
  'the thread of a verification that nobody waits for ends at once, and the next one has its turn',
  async (t) => {
    const own = await startGate(t, { threads: { ...inThisThread, writer: writeInThread(), verifier: verifyInThread } })
    const { store } = own.server
    const key = await own.key({ roles: ['auditor'] })
    await untilLoaded(own, key)
    await store.commit(enrolment())
    for (let i = 0; i < 20; i += 1)
      await store.commit({ guards: [], writes: [], entries: Array.from({ length: 500 }, () => aDecision('allow')) })
    const gone = new AbortController()
    const request = {
      chain: 'acme/live',
      sections: true,
      // A busy machine takes so long that a checkpoint is signed meanwhile.
      logKeys: trustOf(store).logKeys,
      anchor: null,
      anchoredSize: 0,
      revoked: new Set<string>(),
    }
    let told = 0
    const leave = (): void => {
      told += 1
      gone.abort(new Error('left'))
    }
    const first = store.verifyChain(request, leave, gone.signal)
    const waiting = new AbortController()
    const second = store.verifyChain(request, () => undefined, waiting.signal)
    waiting.abort(new Error('left too'))
    await assert.rejects(first, /left/)
    await assert.rejects(second, /left too/)
    const reader = await openStreamAt(t, own.server.url + query(), key)
    assert.equal((await reader.find(({ event }) => event === 'verified')).data.valid, true)
    assert.ok(told < 10, `of 10,000 entries, ${told} thousand were read on`)
    const checked = reader.events.filter(({ event }) => event === 'progress').at(-1)?.data
    assert.equal(checked?.of, (await own.call(key, 'GET', '/audit/chain?limit=1')).body.page.total)
  },
)
