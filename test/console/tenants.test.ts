import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { ask, heldPolicies, people } from './approvals-support.ts'
import { fill, red, stopsOf } from './killswitch-support.ts'
import { browser } from './shared-browser.ts'
import { navigation } from './sign-in-support.ts'
import { addressOf, assertSound, openConsole, openPage } from './support.ts'

const WIDE = { viewport: { width: 1280, height: 800 } }

const gate = await startGate({ after }, { policies: heldPolicies('alpha', 'globex') })
const { ann, bot } = await people(gate, 'globex')
const owner = await gate.key({ tenant: 'alpha', roles: ['owner'] })
const admin = await gate.key({ tenant: 'globex', roles: ['admin'], identity: 'root' })
const approval = await ask(gate, bot, 'payment.transfer', { amount: 7 })

const chosen = (page: Page) => page.getByLabel('Tenant').inputValue()

test('a reload, a second tab and a link show the tenant that was chosen, and Back the one before', async () => {
  const { page } = await openConsole(browser, gate, admin, 'policies', WIDE)
  assert.equal(await chosen(page), 'alpha')
  assert.equal((await addressOf(page)).pathname, '/console/@alpha/policies')
  await page.getByLabel('Tenant').selectOption('globex')
  await page.waitForURL('**/console/@globex/policies')
  await page.reload()
  await navigation(page).waitFor()
  assert.equal(await chosen(page), 'globex')
  const link = `${gate.server.url}/console/@globex/approvals/${approval}`
  const tab = await page.context().newPage()
  await tab.goto(link)
  await tab.getByRole('heading', { level: 2, name: 'payment.transfer' }).waitFor()
  assert.equal(await chosen(tab), 'globex')
  // Another tab with another tenant changes nothing here.
  await tab.getByLabel('Tenant').selectOption('alpha')
  await tab.waitForURL('**/console/@alpha/approvals')
  await page.getByRole('link', { name: 'Stop agents…' }).click()
  await page.getByRole('radio', { name: /All of globex/ }).check()
  await fill(page, { Reason: 'odd', 'To confirm': 'stop globex' })
  await red(page).click()
  await page.getByText('Stopped: L3 All of globex').waitFor()
  assert.deepEqual(await stopsOf(gate, ann), [['L3', 'globex']])
  assert.deepEqual(await stopsOf(gate, owner), [])
  await tab.goBack()
  await tab.getByRole('heading', { level: 2, name: 'payment.transfer' }).waitFor()
  await tab.locator('.header').getByText('Stopped: L3 globex').waitFor()
  assert.equal(await chosen(tab), 'globex')
  await gate.call(ann, 'GET', '/killswitch/status')
  await gate.call(admin, 'POST', '/killswitch/recover', { recoveredBy: 'root', comment: 'over' })
})

test('a sign-in link of an admin opens the tenant that it was made for', async () => {
  const { url } = (await gate.call(admin, 'POST', '/session/code')).body.data
  assert.match(new URL(url).pathname, /^\/console\/@globex\/$/)
  const { page: own } = await openPage(browser, gate, url.slice(gate.server.url.length))
  await navigation(own).waitFor()
  assert.equal(await chosen(own), 'globex')
})

test('every link of every page names the tenant, and no page loses it', async () => {
  const { page } = await openConsole(browser, gate, admin, '@globex/overview', WIDE)
  const names = await navigation(page).getByRole('link').allInnerTexts()
  assert.equal(names.length >= 7, true)
  for (const name of names.map((text) => text.split('\n')[0] ?? '')) {
    await navigation(page).getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await until('all is there', async () => (await page.locator('.loading').count()) === 0)
    const links = await page.locator('a').evaluateAll((all) => all.map((a) => a.getAttribute('href') ?? ''))
    const others = links.filter((to) => to !== '#main' && !to.startsWith('/console/@globex/'))
    assert.deepEqual(others, [], name)
    assert.equal((await addressOf(page)).pathname.startsWith('/console/@globex/'), true, name)
  }
  await page.getByRole('link', { name: 'gate-sidecar, start page' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  assert.equal(await chosen(page), 'globex')
})

test('an address of another tenant than that of the key shows and asks nothing, and says so', async () => {
  const opened = await openConsole(browser, gate, ann, 'approvals', WIDE)
  const { page } = opened
  assert.equal((await addressOf(page)).pathname, '/console/@globex/approvals')
  const asked: string[] = []
  page.on('request', (request) => {
    const tenant = request.headers()['x-tenant-id']
    if (tenant !== undefined) asked.push(tenant)
  })
  for (const other of ['alpha', 'nobody', '%E2%80%AExe']) {
    await page.goto(`${gate.server.url}/console/@${other}/approvals/${approval}`)
    await page.getByText('or which your key may not see').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Stop agents…' }).count(), 0)
  }
  await page.getByText('U+202E').waitFor()
  await assertSound(opened)
  assert.deepEqual(asked, [])
  await page.getByRole('link', { name: 'Go to globex' }).click()
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor()
})

test('on a phone the tenants, a long scope and its age fit beside the red button', async () => {
  // Without a name it is shown by its id.
  const nameless = await gate.key({ tenant: 'globex', roles: ['admin'] })
  await gate.key({ tenant: 'a-tenant-with-a-long-name' })
  const stop = { level: 'L1', scope: 'payment.transfer.international', reason: 'odd', triggeredBy: 'root' }
  await gate.call(admin, 'POST', '/killswitch/trigger', stop)
  for (const width of [320, 740]) {
    const { page } = await openConsole(browser, gate, nameless, '@globex/kill-switch', {
      viewport: { width, height: 700 },
    })
    await page
      .locator('.header')
      .getByText(/last contact \d+ s ago/)
      .waitFor()
    await page.locator('.stops').getByText('odd').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
    const { width: button = 0 } = (await page.getByRole('link', { name: 'Stop agents…' }).boundingBox()) ?? {}
    assert.equal(button >= 60, true, `${button}`)
  }
})
