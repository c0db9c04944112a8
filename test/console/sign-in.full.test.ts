import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { focused } from './focused.ts'
import { browser } from './shared-browser.ts'
import { linkOf, navigation, signInWith } from './sign-in-support.ts'
import { signal } from './signal.ts'
import { assertSound, openConsole, openPage } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key({ roles: ['owner'], identity: 'olga' })

/** The texts of the navigation that do not show to their end. */
const CUT_LABELS = `[...document.querySelectorAll('.navigation span:not(.badge)')]
  .filter((label) => label.scrollWidth > label.clientWidth)
  .map((label) => label.textContent)`

test('a page whose script is still on its way says which one it will be', async () => {
  const opened = await openConsole(browser, gate, owner, 'settings')
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  const seen = signal()
  await page.route('**/console/**/*.js', (route) => seen.given.then(() => route.continue()))
  await navigation(page).getByRole('link', { name: 'Policies' }).click()
  await page.getByText('Loading Policies').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor()
  await assertSound(opened)
  assert.equal(await focused(page), 'Policies')
  await navigation(page).getByRole('link', { name: 'Audit' }).focus()
  seen.give()
  await page.getByRole('heading', { level: 2 }).first().waitFor()
  assert.equal(await focused(page), 'Audit')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Audit trail' }).waitFor()
  assert.equal(await focused(page), 'Audit trail')
})

test('a key that is not valid is refused, and another one can be tried', async () => {
  const { page } = await openPage(browser, gate, '/console/')
  await signInWith(page, 'sk_live_nothing')
  await page.getByRole('alert').getByText('The API key is not valid.').waitFor()
  await signInWith(page, owner.secret)
  await navigation(page).waitFor()
})

test('a link takes the place of a session only when one says so', async () => {
  const opened = await openConsole(browser, gate, owner)
  const { page } = opened
  const other = await gate.key({ roles: ['operator'], identity: 'mallory' })
  const link = gate.server.url + (await linkOf(gate, other))
  const tab = await page.context().newPage()
  await tab.goto(link)
  await tab.getByText('You are signed in as olga').waitFor()
  await assertSound({ page: tab, faults: opened.faults })
  await tab.getByRole('button', { name: 'Stay signed in' }).click()
  await tab.locator('.account summary', { hasText: 'olga' }).waitFor()
  await tab.goto('about:blank')
  await tab.goto(link)
  await tab.getByRole('button', { name: 'Use the link' }).click()
  await tab.locator('.account summary', { hasText: 'mallory' }).waitFor()
})

test('the session outlives a reload, and a tab opened by hand takes it from the others', async () => {
  const { page } = await openConsole(browser, gate, owner)
  await page.reload()
  await navigation(page).waitFor()
  const tab = await page.context().newPage()
  await tab.goto(`${gate.server.url}/console/policies`)
  await tab.getByRole('heading', { name: 'Policies', level: 1 }).waitFor()
})

test('a page that is left open ends by itself when its session does', async () => {
  const key = await gate.key({ roles: ['operator'] })
  const { page } = await openConsole(browser, gate, key, 'kill-switch')
  await gate.call(owner, 'DELETE', `/keys/${key.id}`)
  await page.getByText('Your session has ended.').waitFor()
})

/**
 * A page puts its clock right by the header Date, which tells the real time: also that of the stream of events, which the page
 * asks for anew once its clock has jumped.
 */
const IGNORE_DATE = `(() => {
  const { get } = Headers.prototype
  Headers.prototype.get = function (name) { return name === 'date' ? null : get.call(this, name) }
})()`

/** The console of a service, and the time put forward for both. */
async function opensIdle(t: TestContext, idle: string, idleMs: number) {
  let aheadMs = 0
  const idling = await startGate(t, { clock: () => Date.now() + aheadMs })
  const opened = await openConsole(browser, idling, await idling.key())
  const { page } = opened
  await page.addInitScript(IGNORE_DATE)
  await page.clock.install()
  const live = page.waitForResponse('**/events')
  await page.reload()
  await live
  await navigation(page).waitFor()
  aheadMs = idleMs
  await page.clock.fastForward(idle)
  return opened
}

test('before nobody has done anything for too long, the page asks; who stays, stays', async (t) => {
  const opened = await opensIdle(t, '28:30', 28.5 * 60_000)
  const { page } = opened
  const dialog = page.getByRole('dialog', { name: 'You will be signed out soon' })
  await dialog.waitFor()
  await assertSound(opened)
  await dialog.getByRole('button', { name: 'Stay signed in' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.reload()
  await navigation(page).waitFor()
})

test('who does not answer is signed out', async (t) => {
  const { page } = await opensIdle(t, '30:10', 30 * 60_000 + 10_000)
  await page.getByLabel('API key').waitFor()
  assert.equal(await page.evaluate('sessionStorage.length'), 0)
})

const SEEN: [role: 'agent' | 'approver' | 'auditor' | 'operator' | 'owner', pages: string[]][] = [
  ['agent', ['Approvals', 'Kill switch']],
  ['approver', ['Approvals', 'Kill switch', 'Policies']],
  ['auditor', ['Overview', 'Kill switch', 'Decisions', 'Audit', 'Policies', 'Settings']],
  ['owner', ['Overview', 'Approvals', 'Kill switch', 'Decisions', 'Audit', 'Policies', 'Settings']],
]
for (const [role, pages] of SEEN) {
  test(`${role} sees ${pages.join(', ')}`, async () => {
    const { page } = await openConsole(browser, gate, await gate.key({ roles: [role] }))
    assert.deepEqual(await navigation(page).getByRole('link').allInnerTexts(), pages)
    for (const hidden of ['settings', 'nothing'].filter((path) => !pages.join().toLowerCase().includes(path))) {
      await page.goto(`${gate.server.url}/console/${hidden}`)
      await page.getByText(/Your key may not see Settings|There is no such page/).waitFor()
    }
  })
}

test('on a phone the pages that have no room stand behind a button, which says where one is', async () => {
  const opened = await openConsole(browser, gate, owner, '', { viewport: { width: 360, height: 640 } })
  const { page } = opened
  assert.deepEqual(await navigation(page).getByRole('link').allInnerTexts(), [
    'Overview',
    'Approvals',
    'Kill switch',
    'Decisions',
  ])
  const more = navigation(page).getByRole('button', { name: 'More' })
  await more.click()
  await assertSound(opened)
  await page.keyboard.press('Escape')
  await navigation(page).getByRole('button', { name: 'More', expanded: false }).waitFor()
  await more.click()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Escape')
  await navigation(page).getByRole('button', { name: 'More', expanded: false }).waitFor()
  assert.equal(await page.evaluate('document.activeElement?.className'), 'more')
  await more.click()
  await navigation(page).getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await navigation(page).getByRole('button', { name: 'More', expanded: false }).waitFor()
  assert.equal(await more.getAttribute('aria-current'), 'true')
  assert.deepEqual(await page.evaluate(CUT_LABELS), [])
})

test('an admin looks at one tenant after the other', async () => {
  const admin = await gate.key({ roles: ['admin'] })
  await gate.key({ tenant: 'beta', roles: ['owner'] })
  const opened = await openConsole(browser, gate, admin, 'policies')
  await opened.page.getByLabel('Tenant').selectOption('beta')
  await opened.page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor()
  assert.equal(await opened.page.getByLabel('Tenant').inputValue(), 'beta')
  await assertSound(opened)
})

test('light, dark, or as the system has it, and so after a reload', async () => {
  const { page } = await openConsole(browser, gate, owner)
  await page.locator('.account summary').click()
  await page.getByLabel('Appearance').selectOption('dark')
  await page.reload()
  assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
})
