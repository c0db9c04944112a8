import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileTest, startGate } from '../helpers.ts'
import { LIVE } from '../store/drafts.ts'
import { until } from '../until.ts'
import { lanesBeside } from './lanes.ts'
import { openStream, type SseEvent } from './sse.ts'
import { assertRefused } from './support.ts'

const gate = await startGate({ after })
const { url } = gate.server
const [owner, agent, operator, approver] = [
  await gate.key(),
  await gate.key({ roles: ['agent'] }),
  await gate.key({ roles: ['operator'] }),
  await gate.key({ roles: ['approver'] }),
]
const lanes = await lanesBeside({ after }, gate)
/** Lanes that the service itself does not hold. */
const [ONE, TWO, NEXT] = [8, 9, 10]
type Key = typeof owner

const open = (t: Parameters<typeof openStream>[0], key: Key, id?: string) => openStream(t, url, key, id)
const told = (events: readonly SseEvent[]) =>
  events.filter(({ event }) => /^(gate|outcome)\./.test(event)).map(({ data }) => data.data.decisionId ?? data.data.id)

fileTest('a position of a trail without lanes is as it always was', async (t) => {
  const reader = await open(t, owner)
  assert.match(reader.lastId(), /^\d+-\d+$/)
  const { decisionId } = (await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' }))
    .body.data
  await reader.find(({ data }) => data.data.id === decisionId)
  assert.match(reader.lastId(), /^\d+-\d+$/)
})

test('decisions and outcomes of every lane are told by role, also of a lane that appears meanwhile', async (t) => {
  const other = await gate.key({ roles: ['agent'] })
  const readers = await Promise.all([owner, agent, operator, approver].map((key) => open(t, key)))
  const mine = await lanes.decide(ONE, agent)
  const theirs = await lanes.decide(TWO, other)
  await lanes.tell(TWO, agent, mine)
  await lanes.note(ONE)
  // Of each lane in its order; between lanes there is none.
  const expected = [[mine, theirs, mine], [mine], [mine], []]
  await until('all are told', () => readers.every(({ events }, i) => told(events).length >= (expected[i]?.length ?? 0)))
  await sleep(300)
  assert.deepEqual(
    readers.map(({ events }) => told(events).sort()),
    expected.map((ids) => ids.toSorted()),
  )
  // The entry of a caller is no event: the id alone goes on.
  await until('the id is beyond all entries', () => readers[0]?.lastId().endsWith('~8:3~9:3'))
  assert.match(readers[3]?.lastId() ?? '', /^\d+-\d+$/)
})

test('the lanes of one environment are told there alone, also while readers of both follow', async (t) => {
  const sandbox = await gate.key({ environment: 'test' })
  const [live, inTest] = [await open(t, owner), await open(t, sandbox)]
  const ours = await lanes.decide(20, agent)
  const theirs = await lanes.decide(20, sandbox, { trail: 'acme/test' })
  await until('both are told', () => told(live.events).length > 0 && told(inTest.events).length > 0)
  await sleep(300)
  assert.deepEqual([told(live.events), told(inTest.events)], [[ours], [theirs]])
})

test('from each id on, exactly what came after it comes, in every lane; across a restart too', async (t) => {
  const reader = await open(t, owner)
  const start = reader.lastId()
  for (const lane of [ONE, 0, NEXT, TWO, NEXT, ONE]) await lanes.tell(lane, agent, await lanes.decide(lane, agent))
  await until('all are told', () => told(reader.events).length === 12)
  await gate.server.close()
  const again = await startGate(t, { dir: gate.dir })
  for (const [i, { id }] of [{ id: start }, ...reader.events].entries()) {
    const rest = reader.events.slice(i)
    const next = await openStream(t, again.server.url, owner, id)
    await until('the rest comes', () => next.events.length >= rest.length)
    await sleep(5)
    assert.deepEqual(told(next.events).sort(), told(rest).sort())
    assert.deepEqual(next.events.map(({ data }) => data.id).sort(), rest.map(({ data }) => data.id).sort())
    assert.equal(next.lastId(), reader.lastId())
    next.close()
  }
  const ids: string[] = []
  for (const chain of await lanes.store.lanes(LIVE))
    for (const { header } of await lanes.store.entriesFrom(chain, 0, 1000))
      if (/^(approval|gate|outcome|killswitch|policy)\./.test(header.type)) ids.push(header.id)
  const all = await openStream(t, again.server.url, owner, '0-0')
  await until('all that there is comes', () => all.events.length >= ids.length)
  assert.deepEqual(all.events.map(({ data }) => data.id).sort(), ids.sort())
})

const REFUSED = [
  ['a lane without a number', '0-0~8'],
  ['a lane before the chains', '~8:0'],
  ['lane 0, which is the chain itself', '0-0~0:1'],
  ['a number with a leading zero', '0-0~08:1'],
  ['a count with a leading zero', '0-0~8:01'],
  ['lanes in another order', '0-0~9:1~8:1'],
  ['a lane twice', '0-0~8:1~8:1'],
  ['a lane that ends with a sign', '0-0~8:1~'],
  ['a count beyond the lane', '0-0~8:99999'],
  ['a lane that is not there', '0-0~99:1'],
  ['a lane with too large a number', '0-0~12345678:1'],
  ['a count with too many digits', '0-0~8:1000000000000000'],
  ['more lanes than a position may name', `0-0${Array.from({ length: 257 }, (_, i) => `~${i + 1}:0`).join('')}`],
] as const
test('a position of another form, or beyond a lane, is refused', async (t) => {
  const running = await startGate(t, { dir: gate.dir })
  const get = (key: Key, id: string) => running.call(key, 'GET', '/events', undefined, { 'last-event-id': id })
  for (const [what, id] of REFUSED) {
    const answer = await get(owner, id)
    assert.equal(answer.body.error, 'invalid_request', what)
    assertRefused(answer, 'invalid_request')
  }
  assertRefused(await get(approver, '0-0~8:1'), 'invalid_request')
  const reader = await openStream(t, running.server.url, owner, '0-0~8:0~99:0')
  assert.match(reader.text(), /^id: 0-0$/m)
})
