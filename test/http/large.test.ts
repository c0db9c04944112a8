import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Answer, startGate } from '../helpers.ts'
import { assertDone } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key()
const text = 'x'.repeat(1_000_000)
const COUNT = 12
for (let n = 0; n < COUNT; n += 1) {
  assertDone(await gate.call(owner, 'POST', '/audit/log', { eventType: 'my.large', data: { text, n } }))
  const context = { amount: 2000 + n, text }
  assertDone(await gate.call(owner, 'POST', '/gate/check', { tenantId: 'acme', action: 'payment.transfer', context }))
}

/** All pages, each from where the one before says that it ends. */
async function pages(path: string): Promise<{ ids: string[]; sizes: number[]; total: number }> {
  const ids: string[] = []
  const sizes: number[] = []
  for (let offset = 0; ; ) {
    const answer: Answer = await gate.call(owner, 'GET', `${path}&offset=${offset}`)
    assertDone(answer)
    const { data, page } = answer.body
    if (data.length === 0) return { ids, sizes, total: page.total }
    ids.push(...data.map(({ id }: { id: string }) => id))
    sizes.push(JSON.stringify(data).length)
    offset = page.offset + page.limit
  }
}

for (const path of ['/audit/chain?limit=500&eventType=my.large', '/approvals?limit=1000']) {
  test(`pages of large items end early, and join: ${path}`, async () => {
    const { ids, sizes, total } = await pages(path)
    assert.equal(new Set(ids).size, COUNT)
    assert.deepEqual([ids.length, total], [COUNT, COUNT])
    assert.ok(sizes.length > 1)
    for (const size of sizes) assert.ok(size < 10 * 1024 * 1024, `${size} characters in one answer`)
  })
}

test('decisions are told without the request, however large it is', async () => {
  const { body } = await gate.call(owner, 'GET', '/audit/chain?limit=500&eventType=gate.decision')
  assert.equal(body.data.length, COUNT)
  assert.deepEqual(body.page, { limit: 500, offset: 0, total: COUNT })
})

test('being ready does not depend on how many entries there are', async () => {
  const { store } = gate.server
  const { chains } = store
  store.chains = () => Promise.reject(new Error('every chain was read'))
  assertDone(await gate.call(owner, 'GET', '/readyz'))
  store.chains = chains
})
