import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { ask, heldPolicies, people } from './approvals-support.ts'
import { browser } from './shared-browser.ts'
import { addressOf, assertSound, barriersOf, openConsole, REFUSED, untilTitled } from './support.ts'

const WIDE = { viewport: { width: 1280, height: 800 } }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const policies = heldPolicies('inbox', 'empty', 'live', 'keys', 'roles', 'past', 'offline', 'failing', 'alerts')
const gate = await startGate({ after }, { policies })

test('filters stand in the address, and say how much they leave', async () => {
  const { ann, bot, mailer } = await people(gate, 'inbox')
  await ask(gate, mailer, 'email.send', { to: 'x@example.org' })
  await ask(gate, bot, 'payment.transfer', { amount: 900 })
  await ask(gate, bot, 'payment.wire', { amount: 9000 })
  const { page } = await openConsole(browser, gate, ann, 'approvals?action=payment.&order=newest', WIDE)
  const actions = page.locator('.inbox-action')
  await page.getByText('2 shown of 2 that match, of 3.').waitFor()
  await page.getByLabel('Search').fill('PERSON')
  await page.getByText('1 shown of 1 that match, of 3.').waitFor()
  assert.deepEqual(await actions.allInnerTexts(), ['payment.transfer'])
  assert.match((await addressOf(page)).href, /\?text=PERSON&action=payment\.&order=newest$/)
  await page.getByLabel('Search').fill('nothing like this')
  await page.getByText('No approvals match.').waitFor()
  await page.getByLabel('Search').fill('')
  await page.getByLabel('Risk').selectOption('70 or more')
  await page.getByText('1 shown of 1 that match, of 3.').waitFor()
  assert.deepEqual(await actions.allInnerTexts(), ['payment.wire'])
})

test('an empty inbox says so, at any size', async () => {
  const { ann } = await people(gate, 'empty')
  for (const options of [WIDE, PHONE]) {
    const opened = await openConsole(browser, gate, ann, 'approvals', options)
    await opened.page.getByText('No approvals are waiting.').waitFor()
    await untilTitled(opened.page, 'Approvals')
    await assertSound(opened)
  }
})

test('new ones appear without moving the focus or the selection, and what others decided goes', async () => {
  const { ann, ben, bot } = await people(gate, 'live')
  const first = await ask(gate, bot, 'payment.transfer', { amount: 1 })
  const second = await ask(gate, bot, 'payment.transfer', { amount: 2 })
  const { page, faults } = await openConsole(browser, gate, ann, 'approvals', WIDE)
  await page.locator('.inbox-row').first().waitFor()
  await page.locator(`[data-id=${first}] input`).check()
  await page.locator(`[data-id=${second}] input`).check()
  await page.locator(`[data-id=${first}] a`).focus()
  for (let amount = 3; amount < 6; amount++) await ask(gate, bot, 'payment.transfer', { amount: amount * 1000 })
  await page.getByRole('status').getByText('3 new').waitFor()
  const focused = () => page.evaluate("document.activeElement?.closest('[data-id]')?.dataset.id")
  assert.equal(await focused(), first)
  assert.equal(await page.locator('.inbox-row').count(), 5)
  assert.equal(await page.locator(`[data-id=${first}] input`).isChecked(), true)

  await gate.call(ben, 'POST', `/approvals/${first}/reject`, { approverId: 'ben', reason: 'no' })
  await page.getByRole('status').getByText('One selected approval is no longer pending').waitFor()
  assert.equal(await page.locator(`[data-id=${first}]`).count(), 0)
  assert.equal(await page.getByText('1 selected').count(), 1)
  // The focus is at the row that took its place, not lost.
  assert.ok((await focused()) !== undefined)
  assert.deepEqual(faults, [])
})

test('keys move, open, select and ask; none decides, none acts where somebody types, and letters can be turned off', async () => {
  const { ann, bot } = await people(gate, 'keys')
  for (let amount = 1; amount < 4; amount++) await ask(gate, bot, 'payment.transfer', { amount: amount * 1000 })
  const opened = await openConsole(browser, gate, ann, 'approvals', WIDE)
  const { page } = opened
  const { keyboard } = page
  const rows = page.locator('.inbox-row')
  await rows.first().waitFor()
  const focused = () =>
    page.evaluate(
      "[...document.querySelectorAll('.inbox-row')].findIndex((row) => row.contains(document.activeElement))",
    )
  await keyboard.press('j')
  assert.equal(await focused(), 0)
  await keyboard.press('j')
  await keyboard.press('ArrowDown')
  await keyboard.press('ArrowDown')
  assert.equal(await focused(), 2)
  await keyboard.press('k')
  assert.equal(await focused(), 1)
  await keyboard.press('x')
  assert.equal(await rows.nth(1).getByRole('checkbox').isChecked(), true)
  await keyboard.press('x')
  assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 0)
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 2, name: 'payment.transfer' }).waitFor()
  await keyboard.press('Escape')
  await page.getByText('No approval is open.').waitFor()
  assert.equal(await focused(), 1)

  await keyboard.press('Control+a')
  assert.equal(await page.getByRole('dialog').count(), 0)
  await keyboard.press('a')
  await page.getByRole('dialog', { name: 'Approve this action?' }).waitFor()
  await page.getByLabel('Comment').fill('')
  await keyboard.type('jkxar?')
  assert.equal(await page.getByLabel('Comment').inputValue(), 'jkxar?')
  await keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await until('the focus is back', async () => (await focused()) === 1)
  await page.getByLabel('Search').focus()
  await keyboard.type('r')
  assert.equal(await page.getByRole('dialog').count(), 0)
  await page.getByLabel('Search').fill('')

  await rows.first().getByRole('link').focus()
  await keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await assertSound(opened)
  await page.getByLabel('Use single-letter shortcuts').uncheck()
  await keyboard.press('Escape')
  await rows.first().getByRole('link').focus()
  await keyboard.press('j')
  await keyboard.press('a')
  assert.equal(await focused(), 0)
  await keyboard.press('ArrowDown')
  assert.equal(await focused(), 1)
  assert.equal(await page.getByRole('dialog').count(), 0)
})

test('an agent sees what it asked for and decides nothing; an auditor has no such page', async () => {
  const { bot, mailer, aud } = await people(gate, 'roles')
  const own = await ask(gate, bot, 'payment.transfer', { amount: 5 })
  await ask(gate, mailer, 'email.send')
  const opened = await openConsole(browser, gate, bot, `approvals/${own}`, WIDE)
  const { page } = opened
  await page.getByRole('heading', { level: 2 }).waitFor()
  assert.deepEqual(await page.locator('.inbox-action').allInnerTexts(), ['payment.transfer\nrequested by you'])
  for (const name of [/approve/i, /reject/i, /notify/i])
    assert.equal(await page.getByRole('button', { name }).count(), 0)
  assert.equal(await page.getByRole('checkbox').count(), 0)
  await page.keyboard.press('a')
  assert.equal(await page.getByRole('dialog').count(), 0)
  await untilTitled(page, 'Approvals')
  await assertSound(opened)

  const auditor = await openConsole(browser, gate, aud, 'approvals', WIDE)
  await auditor.page.getByText('Your key may not see Approvals.').waitFor()
  assert.equal(await auditor.page.getByRole('link', { name: 'Approvals' }).count(), 0)
})

test('what was decided is found by its status', async () => {
  const { ann, ben, bot } = await people(gate, 'past')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 5 })
  await gate.call(ben, 'POST', `/approvals/${id}/reject`, { approverId: 'ben', reason: 'not <b>ours</b>' })
  const opened = await openConsole(browser, gate, ann, 'approvals', WIDE)
  const { page } = opened
  await page.getByText('No approvals are waiting.').waitFor()
  await page.getByLabel('Status').selectOption('rejected')
  await page.locator('.inbox-row').getByText('Rejected', { exact: true }).waitFor()
  assert.equal(await page.locator('.inbox-row').getByRole('checkbox').count(), 0)
  await page.locator('.inbox-row a').click()
  await page.getByRole('region', { name: 'Votes' }).getByText('not <b>ours</b>').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Approve…' }).count(), 0)
  await assertSound(opened)
  await page.getByLabel('Status').selectOption('consumed')
  await page.getByText('No approvals with this status.').waitFor()
})

test('without the service the list stays, and says that it may be old; then it is right again', async () => {
  const { ann, bot } = await people(gate, 'offline')
  await ask(gate, bot, 'payment.transfer', { amount: 5 })
  const opened = await openConsole(browser, gate, ann, 'approvals', WIDE)
  const { page } = opened
  await page.locator('.inbox-row').waitFor()
  await page.context().setOffline(true)
  await page.getByText('Not live').waitFor()
  assert.equal(await page.locator('.inbox-row').count(), 1)
  await assertSound(opened, REFUSED)
  await ask(gate, bot, 'payment.transfer', { amount: 6 })
  await page.context().setOffline(false)
  await page.locator('.inbox-row').nth(1).waitFor()
  await until('live again', async () => (await page.getByText('Not live').count()) === 0)
})

test('a list that cannot be had says why, and is had by trying again; without events it says that it may be old', async () => {
  const { ann, bot } = await people(gate, 'failing')
  await ask(gate, bot, 'payment.transfer', { amount: 5 })
  const { page } = await openConsole(browser, gate, ann, 'policies', WIDE)
  const body = { success: false, error: 'internal', message: '<b>Out of order.</b>', requestId: 'req_1' }
  await page.route('**/approvals?*', (route) => route.fulfill({ status: 500, json: body }))
  await page.route('**/events', (route) => route.abort())
  await page.goto(`${gate.server.url}/console/approvals`)
  await page.getByText('<b>Out of order.</b>').waitFor()
  await page.getByText('Not live').waitFor()
  assert.deepEqual(await barriersOf(page), [])
  await page.unroute('**/approvals?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.inbox-row').waitFor()
})

/** Keeps what is shown in `shown`, the last one in `last`. A browser without a window grants permission, but says that it has not. */
const NOTE_NOTIFICATIONS = `{
  globalThis.shown = []
  let permission = 'default'
  globalThis.Notification = class extends Notification {
    static get permission() { return permission }
    static async requestPermission() { return permission = await super.requestPermission() }
    constructor(title, options) {
      super(title, options)
      shown.push({ title, body: options.body, tag: options.tag })
      globalThis.last = this
    }
  }
}`

test('who asks to be told is told of each new one while the page is not looked at, without anything hidden in it', async () => {
  const { ann, bot } = await people(gate, 'alerts')
  const { page, faults } = await openConsole(browser, gate, ann, 'policies', WIDE)
  await page.context().grantPermissions(['notifications'])
  await page.evaluate(NOTE_NOTIFICATIONS)
  const shown = () => page.evaluate<{ body: string; tag: string }[]>('shown')
  const hide = (hidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })`)
  await hide(true)
  await ask(gate, bot, 'payment.transfer', { amount: 1 })
  await until('the title says one', async () => (await page.title()).startsWith('(1) '))
  assert.deepEqual(await shown(), [], 'nobody asked for it')

  await page.getByRole('link', { name: /^Approvals/ }).click()
  await page.getByRole('button', { name: 'Notify me' }).click()
  await page.getByRole('button', { name: 'Notifications on', pressed: true }).waitFor()
  await page.getByRole('link', { name: 'Policies' }).click()
  const id = await ask(gate, bot, 'payment.transfer', { amount: 2 })
  await until('a notification', async () => (await shown()).length === 1)
  assert.deepEqual(await shown(), [{ title: 'An action waits for approval', body: 'payment.transfer', tag: id }])
  await hide(false)
  await ask(gate, bot, 'payment.transfer', { amount: 3 })
  await until('the title says three', async () => (await page.title()).startsWith('(3) '))
  assert.equal((await shown()).length, 1, 'the page is looked at')
  await page.evaluate('last.onclick()')
  await page.waitForURL(`**/console/*/approvals/${id}`)
  assert.deepEqual(faults, [])
})
