import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { archive, envelopeFor, verifyOverHttp } from '../evidence/bundles.ts'

/** Evidence comes from anywhere, and the worst that the limits of a body let in takes a second to read and check. */
const { gate, owner, decide, bundleOf } = await archive({ threads: 'own' })

const WORST = Object.fromEntries(Array.from({ length: 190_000 }, (_, n) => [`k${(n * 7919) % 190_000}`, n]))

/** A service that is held up answers the few that come before the bundle does. */
const MEANWHILE = 10

test('a bundle that takes long to check holds up nobody', async () => {
  const bundle = await bundleOf(await decide(1))
  let isOver = false
  const verified = verifyOverHttp(gate, owner, { ...bundle, context: { originalRequest: WORST } }).finally(() => {
    isOver = true
  })
  let answered = 0
  for (; !isOver; answered += 1) {
    const health = await fetch(`${gate.server.url}/healthz`)
    await health.arrayBuffer()
    await sleep(5)
  }
  assert.equal((await verified).verdict, 'invalid')
  assert.equal(answered >= MEANWHILE, true, `${answered} health checks meanwhile`)
})

test('an envelope is as limited as the bundle that it holds', async () => {
  const bundle = await bundleOf(await decide(1))
  const large = { ...bundle, context: { ...bundle.context, originalRequest: { list: Array(200_000).fill(0) } } }
  const { verdict, checks } = await verifyOverHttp(gate, owner, envelopeFor(large))
  assert.deepEqual([verdict, checks.map(({ check, result }) => `${check}: ${result}`)], ['invalid', ['form: failed']])
})

const REFUSED: [what: string, body: string, status: number, error: string][] = [
  ['no JSON', '{', 400, 'invalid_json'],
  ['a bundle that is no object', '{"bundle":1}', 400, 'invalid_request'],
  ['another tenant', '{"tenantId":"other","bundle":{}}', 403, 'tenant_mismatch'],
]
for (const [what, body, status, error] of REFUSED) {
  test(`refused from the thread as from anywhere: ${what}`, async () => {
    const answer = await gate.call(owner, 'POST', '/evidence/verify', body)
    assert.deepEqual([answer.status, answer.body.error], [status, error])
  })
}

test('those that come at once are answered each', async () => {
  const bundles = await Promise.all([1, 2].map(async (amount) => bundleOf(await decide(amount))))
  const verified = await Promise.all(bundles.map((bundle) => verifyOverHttp(gate, owner, bundle)))
  assert.deepEqual(
    verified.map(({ verdict }) => verdict),
    ['valid', 'valid'],
  )
})
