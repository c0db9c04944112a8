import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ACME_POLICY, startGate } from '../helpers.ts'
import { browser } from './shared-browser.ts'
import { signInWith } from './sign-in-support.ts'
import { assertSound, openConsole, REFUSED } from './support.ts'
import { startWire } from './wire.ts'

const tenants = ['offline', 'silent', 'asleep', 'unplugged', 'refused', 'hung', 'unheard']
const policies = Object.fromEntries(
  tenants.map((tenant) => [`${tenant}/main.yaml`, ACME_POLICY.replace('tenant: acme', `tenant: ${tenant}`)]),
)
const gate = await startGate({ after }, { policies })

const ownerOf = (tenant: string) => gate.key({ tenant, roles: ['owner'], identity: 'olga' })
const STOP = { level: 'L1', scope: 'payment.*', reason: 'odd', triggeredBy: 'olga' }

const header = (page: Page) => page.locator('.stop-state')
/** Whatever says that nothing is stopped. */
const claims = (page: Page) => page.getByText(/^(No stop\b|none$)/).filter({ visible: true })

test('offline no page says that nothing is stopped; back, each says what was stopped meanwhile', async () => {
  const owner = await ownerOf('offline')
  const opened = await openConsole(browser, gate, owner, 'kill-switch')
  const { page } = opened
  await page.getByText('No stop is in force').waitFor()
  await header(page)
    .getByText(/No stop\s*last contact \d+ s ago/)
    .waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { name: 'In force' }).waitFor()
  await page.context().setOffline(true)
  for (const name of ['Overview', 'Kill switch']) {
    await page.getByRole('link', { name, exact: true }).click()
    await header(page).getByText('Stops unknown').waitFor()
    await page.getByText('Not live:').waitFor()
    await page.getByText(/^Last contact \d+ s ago\.$/).waitFor()
    assert.deepEqual(await claims(page).allInnerTexts(), [], name)
  }
  await page.getByText('It is not known whether a stop is in force. At last contact, none was.').waitFor()
  await assertSound(opened, REFUSED)
  await gate.call(owner, 'POST', '/killswitch/trigger', STOP)
  await page.context().setOffline(false)
  await header(page).getByText('Stopped: L1 payment.*').waitFor()
  await page.locator('.stops h3').getByText('payment.*').waitFor()
  assert.equal(await page.getByText('Not live:').count(), 0)
  assert.equal(await page.getByText('in force at last contact').count(), 0)
  await page.context().setOffline(true)
  await page.locator('.stop-banner').getByText('in force at last contact').waitFor()
  await page.getByText('At last contact, these were.').waitFor()
})

/** Times that pass for a page in which its stream is open and says nothing. */
const SILENCES: [tenant: string, what: string, pass: string][] = [
  [
    'silent',
    'for two heartbeats',
    'const { now } = performance; performance.now = () => now.call(performance) + 31_000',
  ],
  ['asleep', 'while the machine slept, as its uptime did', 'const { now } = Date; Date.now = () => now() + 600_000'],
]
for (const [tenant, what, pass] of SILENCES) {
  test(`a stream that is open and was not heard ${what} leaves nothing known; heard again, it is`, async (t) => {
    const owner = await ownerOf(tenant)
    const wire = await startWire(t, gate)
    const { page } = await openConsole(browser, wire.gate, owner, 'kill-switch')
    await page.getByText('No stop is in force').waitFor()
    await header(page)
      .getByText(/last contact \d+ s ago/)
      .waitFor()
    wire.stall()
    await page.evaluate(`{ ${pass} }`)
    await header(page).getByText('Stops unknown').waitFor()
    await header(page)
      .getByText(/last contact ([3-9]\d s|\d+ min) ago/)
      .waitFor()
    assert.deepEqual(await claims(page).allInnerTexts(), [])
    wire.resume()
    await header(page).getByText('No stop').waitFor()
    await page.getByText('No stop is in force').waitFor()
  })
}

test('a browser that says that it is offline is believed before its stream breaks', async () => {
  const owner = await ownerOf('unplugged')
  const { page } = await openConsole(browser, gate, owner, 'kill-switch')
  await page.getByText('No stop is in force').waitFor()
  const plug = (isIn: boolean) =>
    page.evaluate(`{
      Object.defineProperty(navigator, 'onLine', { value: ${isIn}, configurable: true })
      dispatchEvent(new Event('${isIn ? 'online' : 'offline'}'))
    }`)
  await plug(false)
  await header(page).getByText('Stops unknown').waitFor()
  assert.deepEqual(await claims(page).allInnerTexts(), [])
  await plug(true)
  await page.getByText('No stop is in force').waitFor()
})

test('a stream that is refused leaves nothing known, though the stops themselves are told', async () => {
  const owner = await ownerOf('refused')
  const { page } = await openConsole(browser, gate, owner, 'kill-switch')
  // Until the press: the console's own next attempt would take the button away.
  let isRefused = true
  await page.exposeFunction('accept', () => {
    isRefused = false
  })
  await page.route('**/events', (route) => (isRefused ? route.fulfill({ status: 503, body: '' }) : route.fallback()))
  await page.reload()
  await header(page).getByText('Stops unknown').waitFor()
  await page.getByText('It is not known whether a stop is in force.').waitFor()
  await page.evaluate(`addEventListener('click', () => accept(), { capture: true })`)
  await page.getByRole('button', { name: 'Reconnect' }).click()
  await page.getByText('No stop is in force').waitFor()
})

test('a stop that is heard of and cannot be looked at is not taken for none', async () => {
  const owner = await ownerOf('hung')
  const { page } = await openConsole(browser, gate, owner, 'kill-switch')
  await page.getByText('No stop is in force').waitFor()
  await page.route('**/killswitch/status', () => undefined)
  await gate.call(owner, 'POST', '/killswitch/trigger', STOP)
  await header(page).getByText('Stops: checking…').waitFor()
  assert.deepEqual(await claims(page).allInnerTexts(), [])
})

test('a stop of which no event tells, as of one that could not be written, is seen all the same', async () => {
  const owner = await ownerOf('unheard')
  const { page } = await openConsole(browser, gate, owner, 'policies')
  await page.route('**/events', (route) => route.fulfill({ contentType: 'text/event-stream', body: 'id: 0\n\n' }))
  await page.reload()
  await header(page).getByText('No stop').waitFor()
  await gate.call(owner, 'POST', '/killswitch/trigger', STOP)
  await header(page).getByText('Stopped: L1 payment.*').waitFor()
})

test('a service that has stopped is known for nothing; started anew, one signs in where one was, and stops', async (t) => {
  const first = await startGate(t)
  const operator = await first.key({ roles: ['operator'], identity: 'otto' })
  const { page } = await openConsole(browser, first, operator, 'kill-switch')
  await page.getByText('No stop is in force').waitFor()
  await first.server.close()
  await header(page).getByText('Stops unknown').waitFor()
  assert.deepEqual(await claims(page).allInnerTexts(), [])
  const { port } = new URL(first.server.url)
  const second = await startGate(t, { dir: first.dir, settings: { port } })
  await page.getByText('Your session has ended.').waitFor()
  await signInWith(page, operator.secret)
  await page.getByText('No stop is in force').waitFor()
  await second.call(operator, 'POST', '/killswitch/trigger', STOP)
  await header(page).getByText('Stopped: L1 payment.*').waitFor()
})
