import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Answer, fileTest, startGate } from '../helpers.ts'
import { assertDone, assertRefused, untilLoaded } from './support.ts'

const T0 = Date.parse('2026-03-01T10:00:00.000Z')
let now = T0
const gate = await startGate({ after }, { clock: () => now })
const owner = await gate.key()
await untilLoaded(gate, owner)
// Ten notes, a second apart, then three holds.
for (let i = 0; i < 10; i += 1) {
  now = T0 + 60_000 + i * 1000
  await gate.call(owner, 'POST', '/audit/log', { eventType: i % 2 === 0 ? 'note.even' : 'note.odd', data: { i } })
}
for (let i = 0; i < 3; i += 1) {
  now += 1000
  await gate.call(owner, 'POST', '/gate/check', {
    tenantId: 'acme',
    action: 'payment.transfer',
    context: { amount: 2000 + i },
  })
}

const get = async (path: string): Promise<Answer['body']> => {
  const answer = await gate.call(owner, 'GET', path)
  assertDone(answer)
  return answer.body
}
const notes = (body: Answer['body']): number[] => body.data.map(({ data }: Answer['body']) => data.i)

fileTest('the chain is told newest first, fifty at a time, without gaps', async () => {
  const { data, page } = await get('/audit/chain')
  const seqs = data.map(({ seq }: Answer['body']) => seq)
  assert.equal(seqs[0], page.total - 1)
  assert.deepEqual(seqs, [...seqs.keys()].reverse())
  assert.equal(page.limit, 50)
  assert.equal(page.offset, 0)
  for (const [i, entry] of data.slice(0, -1).entries()) assert.equal(entry.previousHash, data[i + 1].hash)
})

test('pages join', async () => {
  const all = (await get('/audit/chain')).data
  for (const order of ['desc', 'asc']) {
    const pages: unknown[] = []
    for (let offset = 0; offset < all.length; offset += 4) {
      pages.push(...(await get(`/audit/chain?limit=4&offset=${offset}&order=${order}`)).data)
    }
    assert.deepEqual(order === 'asc' ? pages.reverse() : pages, all)
  }
})

const CLAMPED: [path: string, limit: number][] = [
  ['/audit/chain?limit=0', 0],
  ['/audit/chain?limit=500', 500],
  ['/audit/chain?limit=501', 500],
  ['/audit/chain?limit=999999999', 500],
  ['/approvals', 1000],
  ['/approvals?limit=1', 1],
  ['/approvals?limit=5000', 1000],
]

for (const [path, limit] of CLAMPED) {
  test(`${path} gives at most ${limit}`, async () => {
    const { data, page } = await get(path)
    assert.equal(page.limit, limit)
    assert.equal(data.length, Math.min(limit, page.total))
  })
}

const REFUSED = [
  '/audit/chain?limit=-1',
  '/audit/chain?limit=1.5',
  '/audit/chain?limit=1e3',
  '/audit/chain?limit=0x10',
  '/audit/chain?limit=01',
  '/audit/chain?limit=',
  '/audit/chain?limit=%201',
  '/audit/chain?limit=9999999999',
  '/audit/chain?offset=-1',
  '/audit/chain?offset=x',
  '/audit/chain?before=-1',
  '/audit/chain?order=up',
  '/audit/chain?from=2026-03-01',
  '/audit/chain?from=2026-02-30T00:00:00Z',
  '/audit/chain?to=2026-03-01T00:00:00',
  '/audit/chain?limt=5',
  '/audit/chain?limit=5&limit=6',
  '/audit/chain?limit=5&limit=5',
  '/audit/chain?__proto__=1',
  '/audit/chain?constructor=1',
  '/approvals?status=open',
  '/approvals?status=',
  '/approvals?wait=1',
  '/approvals/apr_x?wait=x',
  '/approvals/apr_x?wait=-1',
  '/approvals/apr_x?status=pending',
  '/killswitch/status?x=1',
  '/keys?limit=1',
  '/evidence/bundle/x?format=pdf',
]

for (const path of REFUSED) {
  test(`${path} is refused`, async () => assertRefused(await gate.call(owner, 'GET', path), 'invalid_request'))
}

test('an offset beyond the end gives an empty page', async () => {
  for (const path of ['/audit/chain?offset=999999999', '/approvals?offset=999999999']) {
    assert.deepEqual((await get(path)).data, [], path)
  }
})

test('entries by type, time and place', async () => {
  assert.deepEqual(notes(await get('/audit/chain?eventType=note.even')), [8, 6, 4, 2, 0])
  assert.deepEqual((await get('/audit/chain?eventType=no.such')).data, [])
  const from = '2026-03-01T10:01:03Z'
  const to = encodeURIComponent('2026-03-01T11:01:06.000+01:00')
  assert.deepEqual(notes(await get(`/audit/chain?from=${from}&to=${to}&order=asc`)), [3, 4, 5])
  const [newest] = (await get('/audit/chain?eventType=note.odd&limit=1')).data
  assert.equal((await get(`/audit/chain?before=${newest.id}&limit=1`)).data[0].seq, newest.seq - 1)
  const [first] = (await get('/audit/chain?order=asc&limit=1')).data
  assert.deepEqual((await get(`/audit/chain?before=${first.id}`)).data, [])
  const unknown = `/audit/chain?before=aud_${'0'.repeat(26)}`
  assertRefused(await gate.call(owner, 'GET', unknown), 'invalid_request')
})

test('the end of time is after every entry', async () => {
  const far = encodeURIComponent('9999-12-31T23:59:59-23:59')
  assert.equal(notes(await get(`/audit/chain?eventType=note.even&to=${far}`)).length, 5)
})

const RANGES: [startDate: string, endDate: string, checked: boolean][] = [
  ['2026-03-01', '2026-03-01', true],
  ['2026-01-01', '2026-12-31', true],
  ['0000-01-01', '9999-12-31', true],
  ['2026-02-28', '2026-02-28', false],
  ['2026-03-02', '2026-03-02', false],
]

for (const [startDate, endDate, checked] of RANGES) {
  test(`verifying ${startDate} to ${endDate} checks ${checked ? 'all' : 'nothing'}`, async () => {
    const { total } = (await get('/audit/chain')).page
    const answer = await gate.call(owner, 'POST', '/audit/verify', { startDate, endDate })
    const { valid, entriesChecked, firstEntry, lastEntry } = answer.body.data
    assert.deepEqual({ valid, entriesChecked }, { valid: true, entriesChecked: checked ? total : 0 })
    assert.equal(firstEntry === '', !checked)
    assert.equal(lastEntry === '', !checked)
  })
}

test('approvals: pending by default, oldest deadline first, by status', async () => {
  const { data, page } = await get('/approvals')
  assert.deepEqual(
    data.map(({ context }: Answer['body']) => context.amount),
    [2000, 2001, 2002],
  )
  assert.deepEqual(page, { limit: 1000, offset: 0, total: 3 })
  assert.deepEqual((await get('/approvals?limit=1&offset=1')).data[0], data[1])
  for (const status of ['approved', 'rejected', 'expired', 'cancelled', 'consumed']) {
    assert.deepEqual((await get(`/approvals?status=${status}`)).data, [], status)
  }
})
