import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRecorded, post } from '../e2e/processes.ts'
import { until } from '../until.ts'
import { fleet } from './fleet.ts'
import { proxy } from './proxy.ts'

const MAIL = { action: 'email.send' }

for (const way of ['cut', 'stall'] as const) {
  test(`while the database is away (${way}) nothing is decided, and the service is not ready; then both again`, async (t) => {
    const network = proxy(t)
    const { serve, key, open } = await fleet(t, { at: network.address })
    const agent = await key('agent')
    const { url, end } = await serve('--max-staleness', '2s')
    const check = async () => post(url, agent, '/gate/check', MAIL)
    const ready = async () => (await fetch(`${url}/readyz`)).status === 200
    // A machine that halts for two seconds refuses one, too.
    await until('a check is decided', async () => (await check())?.status === 200)
    const before = await (await open()).lengths(['acme/live'])

    network[way]()
    await until('checks are refused', async () => (await check())?.status === 503)
    await until('it is not ready', async () => !(await ready()))
    await until('it says why', async () => /maxStaleness/.test(await (await fetch(`${url}/readyz`)).text()))
    // By now it does not wait for an answer.
    const askedMs = performance.now()
    const refused = await check()
    assert.equal(refused?.body.error, 'audit_unavailable')
    assert.ok(performance.now() - askedMs < 4500)
    assert.deepEqual(await (await open()).lengths(['acme/live']), before)

    network.mend()
    await until('checks are decided', async () => (await check())?.status === 200)
    await until('it is ready', ready)
    await end('SIGTERM')
    await assertRecorded(await open(), [])
  })
}
