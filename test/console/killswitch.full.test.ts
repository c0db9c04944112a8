import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import { ACME_POLICY, type KeyOptions, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { focused } from './focused.ts'
import { fill, HOSTILE, red, stopsOf } from './killswitch-support.ts'
import { browser } from './shared-browser.ts'
import { signal } from './signal.ts'
import { assertSound, openConsole, REFUSED } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

/** Each test stops a tenant of its own, since a stop is in everybody's way. */
const TENANTS = ['typed', 'seen', 'slow', 'levels', 'ended', 'twice', 'past', 'poor', 'elsewhere', 'away']
const policies = Object.fromEntries(
  TENANTS.map((tenant) => [`${tenant}/main.yaml`, ACME_POLICY.replace('tenant: acme', `tenant: ${tenant}`)]),
)
const gate = await startGate({ after }, { policies })

const operatorOf = (tenant: string, more: KeyOptions = {}) =>
  gate.key({ tenant, roles: ['operator'], identity: 'otto', ...more })

test('nothing is stopped before the phrase names the target that is chosen now', async () => {
  const operator = await operatorOf('typed')
  const opened = await openConsole(browser, gate, operator, 'kill-switch')
  const { page } = opened
  await fill(page, { 'Action or pattern': 'payment.*', Reason: 'odd', 'To confirm': 'stop email.*' })
  await red(page).click()
  await page.getByText('It does not match').waitFor()
  await assertSound(opened)
  await fill(page, { 'To confirm': 'stop payment.*' })
  await page.getByRole('radio', { name: /All of typed/ }).check()
  await red(page).click()
  await page.getByText('It does not match').waitFor()
  assert.deepEqual(await stopsOf(gate, operator), [])
  await fill(page, { 'To confirm': 'stop typed' })
  await red(page).click()
  await page.getByText('Stopped: L3 All of typed').waitFor()
  assert.deepEqual(await stopsOf(gate, operator), [['L3', 'typed']])
})

test('a preview says what is covered and paused, that a scope is mistyped, and that one is no pattern', async () => {
  const operator = await operatorOf('seen')
  const agent = await gate.key({ tenant: 'seen', roles: ['agent'] })
  const body = { tenantId: 'seen', action: 'payment.transfer', context: { amount: 5000 } }
  assert.equal((await gate.call(agent, 'POST', '/gate/check', body)).body.data.decision, 'require_approval')
  const opened = await openConsole(browser, gate, operator, 'kill-switch')
  const { page } = opened
  const preview = page.locator('.preview')
  await fill(page, { 'Action or pattern': 'payment.transfer' })
  await preview.getByText('1 that waits is paused').waitFor()
  await fill(page, { 'Action or pattern': 'paymnt.*' })
  await preview.getByText('Mistyped?').waitFor()
  await assertSound(opened)
  await preview.getByRole('button', { name: 'payment.*' }).click()
  assert.equal(await focused(page), 'Action or pattern')
  assert.equal(await page.getByLabel('Action or pattern').inputValue(), 'payment.*')
  await preview.getByText('1 known action', { exact: true }).waitFor()
  await fill(page, { 'Action or pattern': 'payment transfer' })
  await preview.getByRole('button', { name: 'payment.transfer' }).waitFor()
  await fill(page, { 'Action or pattern': 'weather.read' })
  await preview.getByText('matches weather.read').waitFor()
  assert.equal(await preview.getByRole('button').count(), 0)
  await fill(page, { 'Action or pattern': HOSTILE })
  await preview.getByText('is not an action or a pattern').waitFor()
  assert.equal(await page.locator('.phrase').getByText('U+202E').isVisible(), true)
  assert.equal(await page.locator('main img, main script').count(), 0)
  await assertSound(opened, REFUSED)
  await page.getByRole('radio', { name: /A domain/ }).check()
  await page.getByRole('combobox', { name: 'Domain' }).selectOption('finance')
  await preview.getByText('payment.transfer').waitFor()
  await assertSound(opened, REFUSED)
})

test('a stop waits neither for a preview that hangs nor for one that fails', async () => {
  const operator = await operatorOf('slow')
  const opened = await openConsole(browser, gate, operator)
  const { page } = opened
  const asked: string[] = []
  await page.route('**/killswitch/preview', async (route) => {
    asked.push(route.request().postData() ?? '')
    if (asked.length > 1) await route.abort()
  })
  await page.route('**/policies', (route) => route.abort())
  await page.getByRole('link', { name: 'Kill switch', exact: true }).click()
  await fill(page, { 'Action or pattern': 'payment.*', Reason: 'odd', 'To confirm': 'stop payment.*' })
  await red(page).click()
  await page.getByText('Stopped: L1 Actions payment.*').waitFor()
  await page.getByRole('button', { name: 'Stop something else' }).click()
  await until('the focus at the heading', async () => (await focused(page)) === 'Stop agents')
  await page.getByRole('radio', { name: /A domain/ }).check()
  await page.getByRole('textbox', { name: 'Domain' }).fill('finance')
  await fill(page, { Reason: 'odd', 'To confirm': 'stop finance' })
  await page.getByText('cannot be shown. You can still stop').waitFor()
  await assertSound(opened, REFUSED)
  await red(page).click()
  await page.getByText('Stopped: L2 Domain finance').waitFor()
  assert.deepEqual(await stopsOf(gate, operator), [
    ['L2', 'finance'],
    ['L1', 'payment.*'],
  ])
})

test('an admin stops every tenant and ends that; an operator is not offered it, and sees that only an admin ends it', async (t) => {
  const own = await startGate(t)
  await own.key({ tenant: 'a-tenant-with-a-long-name' })
  const admin = await own.key({ roles: ['admin'], identity: 'a.long.name@example.com' })
  const operator = await own.key({ roles: ['operator'] })
  const theirs = await openConsole(browser, own, operator, 'kill-switch')
  await theirs.page.getByRole('radio').first().waitFor()
  assert.equal(await theirs.page.getByRole('radio').count(), 3)
  const opened = await openConsole(browser, own, admin, 'kill-switch', PHONE)
  const { page } = opened
  await page.getByRole('radio', { name: /Every tenant/ }).check()
  await page.getByText('every action of every other tenant').waitFor()
  await fill(page, { Reason: 'all of it', 'To confirm': 'stop everything' })
  await red(page).click()
  await page.locator('.stop-outcome').getByText('Stopped: L4 Every tenant').waitFor()
  // However long the names of tenants and people are, what is in force can be read.
  const state = page.locator('.stop-state')
  assert.equal(await state.getByText('Stopped: L4 every tenant').count(), 1)
  assert.equal(await state.locator(':scope > span').evaluate((text) => text.scrollWidth <= text.clientWidth), true)
  await assertSound(opened)
  await theirs.page.getByText('Only an admin may end it.').waitFor()
  assert.equal(await theirs.page.getByRole('button', { name: /Recover/ }).count(), 0)
  await page.getByRole('button', { name: 'Recover…' }).click()
  await fill(page, { 'Why agents may act again': 'over' })
  await page.getByRole('button', { name: 'Recover', exact: true }).click()
  await theirs.page.getByText('No stop is in force').waitFor()
  await assertSound(theirs)
})

test('a stop that somebody else has ended is said to be, and one that came in its place is not ended', async () => {
  const operator = await operatorOf('ended')
  const stop = { level: 'L1', scope: 'payment.*' }
  const trigger = (reason: string) =>
    gate.call(operator, 'POST', '/killswitch/trigger', { ...stop, reason, triggeredBy: 'joe' })
  const recover = () =>
    gate.call(operator, 'POST', '/killswitch/recover', { ...stop, recoveredBy: 'joe', comment: 'a false alarm' })
  await trigger('the first')
  const opened = await openConsole(browser, gate, operator, 'kill-switch')
  const { page } = opened
  await page.getByRole('button', { name: 'Recover…' }).click()
  await fill(page, { 'Why agents may act again': 'over' })
  // The page learns nothing of what happens meanwhile, until it has sent its recovery.
  let isDeaf = true
  await page.route('**/killswitch/status', (route) => (isDeaf ? route.abort() : route.continue()))
  await page.route('**/killswitch/recover', (route) => {
    isDeaf = false
    return route.continue()
  })
  await recover()
  await trigger('the second')
  await page.getByRole('button', { name: 'Recover', exact: true }).click()
  await page.getByText('This stop has already been ended by joe.').waitFor()
  await page.getByRole('dialog').getByText('a false alarm').waitFor()
  await assertSound(opened, REFUSED)
  assert.deepEqual(await stopsOf(gate, operator), [['L1', 'payment.*']])
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.locator('.stops').getByText('the second').waitFor()
})

test('what somebody else stops while the form is open is said there, and stopping it twice is one stop', async () => {
  const operator = await operatorOf('twice')
  const opened = await openConsole(browser, gate, operator, 'kill-switch')
  const { page } = opened
  await fill(page, { 'Action or pattern': 'payment.*', Reason: 'odd', 'To confirm': 'stop payment.*' })
  const body = { level: 'L1', scope: 'payment.*', reason: 'seen too', triggeredBy: 'joe' }
  await gate.call(operator, 'POST', '/killswitch/trigger', body)
  await page.getByText('This is already stopped').waitFor()
  await assertSound(opened)
  let sent = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/killswitch/trigger')) sent += 1
  })
  const pressed = signal()
  await page.route('**/killswitch/trigger', (route) => pressed.given.then(() => route.continue()))
  await red(page).dblclick()
  await page.keyboard.press('Enter')
  pressed.give()
  await page.getByText('Stopped: L1 Actions payment.*').waitFor()
  assert.equal(sent, 1)
  assert.deepEqual(await stopsOf(gate, operator), [['L1', 'payment.*']])
})

test('the history pages through stops with their end, comment and duration', async () => {
  const operator = await operatorOf('past')
  for (let i = 0; i < 21; i += 1) {
    const stop = { level: 'L1', scope: `payment.a${i}` }
    await gate.call(operator, 'POST', '/killswitch/trigger', { ...stop, reason: `stop ${i}`, triggeredBy: 'joe' })
    await gate.call(operator, 'POST', '/killswitch/recover', { ...stop, recoveredBy: 'ann', comment: HOSTILE })
  }
  const opened = await openConsole(browser, gate, operator, 'kill-switch')
  const { page } = opened
  await page.getByText('of 21').waitFor()
  const row = page.getByRole('row', { name: /payment\.a20/ })
  assert.match((await row.textContent()) ?? '', /stop 20.*by joe.*by ann<img src=x.*\d+ m?s$/)
  await row.getByText('U+202E').waitFor()
  await page.getByRole('link', { name: 'Older' }).click()
  await page.getByRole('row', { name: /payment\.a0/ }).waitFor()
  await assertSound(opened)
  await page.getByRole('link', { name: 'Newer' }).click()
  await page.getByText('1–20 of 21').waitFor()
})

test("a plan that is used up is in no stop's way", async () => {
  const operator = await operatorOf('poor')
  const agent = await gate.key({ tenant: 'poor', roles: ['agent'] })
  const deps = { store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
  await setPlan(deps, { kind: 'host', id: 'host:0' }, 'poor', 'free')
  const risk = { tenantId: 'poor', action: 'payment.transfer', context: { amount: 1 } }
  await until('the plan used up', async () => (await gate.call(agent, 'POST', '/gate/risk', risk)).status === 429)
  const { page } = await openConsole(browser, gate, operator, 'kill-switch/stop')
  await fill(page, { 'Action or pattern': '*', Reason: 'odd', 'To confirm': 'stop *' })
  await red(page).click()
  await page.getByText('Stopped: L1 Every action').waitFor()
  assert.deepEqual(await stopsOf(gate, operator), [['L1', '*']])
})

test('header and banner of another page follow the event of a stop, and do not wait for a poll', async () => {
  const operator = await operatorOf('elsewhere')
  const auditor = await gate.key({ tenant: 'elsewhere', roles: ['auditor'] })
  const opened = await openConsole(browser, gate, auditor, 'audit')
  const { page } = opened
  await page.addInitScript('globalThis.setInterval = () => 0')
  const live = page.waitForResponse('**/events')
  await page.reload()
  await live
  await page.locator('.header').getByText('No stop').waitFor()
  const body = { level: 'L2', scope: 'finance', reason: HOSTILE.padEnd(1900, ' and so on'), triggeredBy: 'joe' }
  await gate.call(operator, 'POST', '/killswitch/trigger', body)
  await page.locator('.header').getByText('Stopped: L2 finance').waitFor()
  const banner = page.locator('.stop-banner')
  await banner.getByText('by joe').waitFor()
  const { height = 1000 } = (await banner.boundingBox()) ?? {}
  assert.ok(height < 110, `a long reason takes ${height} px`)
  await assertSound(opened)
  await gate.call(operator, 'POST', '/killswitch/recover', { recoveredBy: 'joe', comment: 'over' })
  await page.locator('.header').getByText('No stop').waitFor()
  assert.equal(await banner.count(), 0)
})

test('a stop that does not reach the service is said not to be known, and is sent again with what was entered', async () => {
  const operator = await operatorOf('away')
  const opened = await openConsole(browser, gate, operator, 'kill-switch')
  const { page } = opened
  await fill(page, { 'Action or pattern': 'payment.*', Reason: 'odd', 'To confirm': 'stop payment.*' })
  await page.context().setOffline(true)
  await red(page).click()
  await page.getByText('It is not known whether the stop is in force.').waitFor()
  await assertSound(opened, REFUSED)
  await page.context().setOffline(false)
  await red(page).click()
  await page.getByText('Stopped: L1 Actions payment.*').waitFor()
  assert.deepEqual(await stopsOf(gate, operator), [['L1', 'payment.*']])
})

test('a stop that is not on disk is loudly said to be in force here alone', async (t) => {
  const own = await startGate(t)
  const operator = await own.key({ roles: ['operator'], identity: 'otto' })
  const opened = await openConsole(browser, own, operator, 'kill-switch')
  const { page } = opened
  await page.getByText('No stops yet.').waitFor()
  await fill(page, { 'Action or pattern': 'payment.*', Reason: 'odd', 'To confirm': 'stop payment.*' })
  const file = join(own.dir, 'data/gate-sidecar.db')
  renameSync(file, `${file}.away`)
  await red(page).click()
  await page.getByText('In force here, but not on disk yet; retried each second.').waitFor()
  // Without the file no stream of events opens.
  await page.getByText('Not live:').waitFor()
  await page.locator('.header').getByText('Stopped: L1 payment.*').waitFor()
  await page.locator('.failure').getByText('kept in the reserve').waitFor()
  assert.equal(await page.getByText('It covers no known action.').count(), 0)
  // The header may lie over a button of the list, by how far the focus has scrolled.
  await page.evaluate('scrollTo(0, 0)')
  await assertSound(opened, REFUSED)
  renameSync(`${file}.away`, file)
  // Now it can be ended, as no stop can that is not on disk.
  const recovery = { recoveredBy: 'otto', comment: 'over' }
  await until('on disk', async () => (await own.call(operator, 'POST', '/killswitch/recover', recovery)).status === 200)
})
