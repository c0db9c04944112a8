import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stopsEverOver } from '../../src/killswitch/killswitch.ts'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { assertDone, assertRefused } from '../http/support.ts'
import { stopOf } from './stops.ts'

type Key = Awaited<ReturnType<Gate['key']>>

const T0 = Date.parse('2026-03-01T10:00:00.000Z')
const at = (ms: number): string => new Date(T0 + ms).toISOString()

/** The service with a clock that is set, and what is done and read there. */
async function station(t: Parameters<typeof startGate>[0]) {
  const clock = { now: T0 }
  const gate = await startGate(t, { clock: () => clock.now })
  const operator = await gate.key({ roles: ['operator'] })
  return {
    gate,
    clock,
    operator,
    trigger: async (body: object, key: Key = operator) =>
      assertDone(await gate.call(key, 'POST', '/killswitch/trigger', { reason: 'drill', triggeredBy: 'ann', ...body })),
    recover: async (body: object = {}, key: Key = operator) =>
      assertDone(await gate.call(key, 'POST', '/killswitch/recover', { recoveredBy: 'bob', comment: 'over', ...body })),
    history: async (key: Key = operator, query = ''): Promise<Answer['body']> => {
      const answer = await gate.call(key, 'GET', `/killswitch/history${query}`)
      assertDone(answer)
      return answer.body
    },
  }
}

test('every stop, newest first, with its end where it has one', async (t) => {
  const { clock, trigger, recover, history } = await station(t)
  const { data, page } = await history()
  assert.deepEqual([data, page], [[], { limit: 50, offset: 0, total: 0 }])
  await trigger({ level: 'L2', scope: 'finance', reason: 'odd transfers' })
  clock.now = T0 + 1000
  await trigger({ level: 'L1', scope: 'email.*' })
  clock.now = T0 + 5000
  await recover({ level: 'L2' })
  const shown = (await history()).data.map(({ id, ...others }: Answer['body']) => {
    assert.match(id, /^ksw_/)
    return others
  })
  const ended = { recoveredAt: at(5000), recoveredBy: 'bob', comment: 'over', durationMs: 5000 }
  const active = { recoveredAt: null, recoveredBy: null, comment: null, durationMs: null }
  assert.deepEqual(shown, [
    { level: 'L1', scope: 'email.*', reason: 'drill', triggeredAt: at(1000), triggeredBy: 'ann', ...active },
    { level: 'L2', scope: 'finance', reason: 'odd transfers', triggeredAt: at(0), triggeredBy: 'ann', ...ended },
  ])
})

test('a trigger that repeats one is no stop of its own; one after its end is', async (t) => {
  const { clock, trigger, recover, history } = await station(t)
  await trigger({ level: 'L3' })
  clock.now = T0 + 1
  await trigger({ level: 'L3', reason: 'again', triggeredBy: 'carl' })
  const [stop, ...others] = (await history()).data
  assert.deepEqual([stop.reason, stop.triggeredBy, stop.triggeredAt, others], ['drill', 'ann', at(0), []])
  await recover()
  clock.now = T0 + 2
  await trigger({ level: 'L3', reason: 'anew' })
  assert.deepEqual(
    (await history()).data.map(({ reason }: Answer['body']) => reason),
    ['anew', 'drill'],
  )
})

test('order is by time, and by id where times are equal', () => {
  const stops = [
    stopOf({ id: 'ksw_3', triggeredAt: at(0) }),
    stopOf({ id: 'ksw_1', triggeredAt: at(1) }),
    stopOf({ id: 'ksw_2', triggeredAt: at(1) }),
  ]
  const ids = stopsEverOver(stops, 'acme/live').map(({ id }) => id)
  assert.deepEqual(ids, ['ksw_2', 'ksw_1', 'ksw_3'])
})

test('pages join, and are all there is', async (t) => {
  const { clock, trigger, recover, history, operator } = await station(t)
  for (let n = 0; n < 5; n += 1) {
    clock.now = T0 + n
    await trigger({ level: 'L1', scope: `a.b${n}` })
  }
  await recover({ level: 'L1', scope: 'a.b2' })
  const all = (await history()).data
  const scopes = (page: Answer['body']) => page.data.map(({ scope }: Answer['body']) => scope)
  assert.deepEqual(scopes({ data: all }), ['a.b4', 'a.b3', 'a.b2', 'a.b1', 'a.b0'])
  const pages = [
    await history(operator, '?limit=2'),
    await history(operator, '?limit=2&offset=2'),
    await history(operator, '?limit=2&offset=4'),
  ]
  assert.deepEqual(
    pages.flatMap(({ data }) => data),
    all,
  )
  assert.deepEqual(
    pages.map(({ page }) => page),
    [0, 2, 4].map((offset) => ({ limit: 2, offset, total: 5 })),
  )
  assert.deepEqual((await history(operator, '?offset=9')).data, [])
  assert.deepEqual((await history(operator, '?limit=0')).data, [])
  assert.equal((await history(operator, '?limit=99999')).page.limit, 500)
})

test('stops of other tenants and of the other side are not shown, those of everything are shown to all', async (t) => {
  const { gate, clock, trigger, recover, history, operator } = await station(t)
  const [sandbox, stranger, admin, auditor] = [
    await gate.key({ environment: 'test' }),
    await gate.key({ tenant: 'other' }),
    await gate.key({ roles: ['admin'] }),
    await gate.key({ roles: ['auditor'] }),
  ]
  const stops: [reason: string, key: Key][] = [
    ['live', operator],
    ['test', sandbox],
    ['other', stranger],
  ]
  for (const [reason, key] of stops) await trigger({ level: 'L3', reason }, key)
  clock.now = T0 + 1
  await trigger({ level: 'L4', reason: 'all' }, admin)
  await recover({ level: 'L4' }, admin)
  const seen = async (key: Key) => (await history(key)).data.map(({ reason }: Answer['body']) => reason)
  assert.deepEqual(await seen(operator), ['all', 'live'])
  assert.deepEqual(await seen(auditor), ['all', 'live'])
  assert.deepEqual(await seen(sandbox), ['all', 'test'])
  assert.deepEqual(await seen(stranger), ['all', 'other'])
  assert.deepEqual(await seen({ ...admin, tenant: 'other' }), ['all', 'other'])
  assertRefused(await gate.call({ ...stranger, tenant: 'acme' }, 'GET', '/killswitch/history'), 'tenant_mismatch')
})

test('a stop whose end the clock puts before it was in force for no time', async (t) => {
  const { clock, trigger, recover, history } = await station(t)
  await trigger({ level: 'L3' })
  clock.now = T0 - 5000
  await recover()
  assert.equal((await history()).data[0].durationMs, 0)
})

test('what was is there after a restart', async (t) => {
  const { gate, trigger, recover, history, operator } = await station(t)
  await trigger({ level: 'L3' })
  await recover()
  const before = (await history()).data
  await gate.server.close()
  const again = await startGate(t, { dir: gate.dir })
  assert.deepEqual((await again.call(operator, 'GET', '/killswitch/history')).body.data, before)
})
