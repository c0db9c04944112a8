import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import { services } from '../fleet/services.ts'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { until } from '../until.ts'

const MAIL = { tenantId: 'acme', action: 'email.send' }
const DEPS = { clock: Date.now, newId: idMaker(Date.now, randomBytes) }
type Key = Awaited<ReturnType<Gate['key']>>

/** Starts services on one store, with the tenant on the free plan: sixty requests a minute. */
async function scene(t: TestContext, rateLimits: 'sidecar' | 'fleet') {
  const { start: startWith } = await services(t)
  const start = (): Promise<Gate> => startWith({ settings: { rateLimits }, watch: 'off' })
  const first = await start()
  const key = await first.key()
  await setPlan({ ...DEPS, store: first.server.store }, { kind: 'host', id: 'host:0' }, 'acme', 'free')
  return { first, key, start }
}

const check = (gate: Gate, key: Key): Promise<Answer> => gate.call(key, 'POST', '/gate/check', MAIL)
const limitOf = async (gate: Gate, key: Key) => (await check(gate, key)).headers.get('ratelimit-policy')

test('rateLimits fleet: each live sidecar allows its share of the plan, and says how large it is', async (t) => {
  const { first, key, start } = await scene(t, 'fleet')
  assert.equal(await limitOf(first, key), '"free";q=60;w=60')
  const others = [await start(), await start(), await start(), await start(), await start(), await start()]
  const share = '"free";q=8;w=60'
  for (const gate of [first, ...others]) await until('a share each', async () => (await limitOf(gate, key)) === share)
  const [second] = others
  assert.ok(second)
  const answers = await Promise.all(Array.from({ length: 12 }, () => check(second, key)))
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length >= 3, `${refused.length} refused`)
  assert.match(
    refused[0]?.body.message ?? '',
    /^The limit of 8 requests a minute at this sidecar, one of 7, is used up; try again in \d+ s\.$/,
  )
  await Promise.all(others.map(({ server }) => server.close()))
  await until('the whole again', async () => (await limitOf(first, key)) === '"free";q=60;w=60')
})

test('rateLimits sidecar: each sidecar allows the whole rate of the plan', async (t) => {
  const { first, key, start } = await scene(t, 'sidecar')
  const second = await start()
  await until('both are known', async () => first.server.store.fleet?.live() === 2)
  for (const gate of [first, second]) assert.equal(await limitOf(gate, key), '"free";q=60;w=60')
})

test('rateLimits fleet beside a data file allows the whole rate of the plan', async (t) => {
  const gate = await startGate(t, { settings: { rateLimits: 'fleet' } })
  const key = await gate.key()
  await setPlan({ ...DEPS, store: gate.server.store }, { kind: 'host', id: 'host:0' }, 'acme', 'free')
  // With GATE_TEST_STORE=postgres it is a fleet of one.
  assert.equal(await limitOf(gate, key), '"free";q=60;w=60')
})
