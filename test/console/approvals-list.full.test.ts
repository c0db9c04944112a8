import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { approvalOf, ask, heldPolicies, people } from './approvals-support.ts'
import { browser } from './shared-browser.ts'
import { addressOf, assertSound, openConsole } from './support.ts'

const WIDE = { viewport: { width: 1280, height: 800 } }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const policies = heldPolicies(
  'still',
  'order',
  'back',
  'stop',
  'revoked',
  'used',
  'refused',
  'send',
  'unsent',
  'line',
  'plan',
)
const gate = await startGate({ after }, { policies })

/** Below the top of the page, wherever it is scrolled to. */
const placeOf = (page: Page): Promise<number> =>
  page.evaluate("document.querySelector('.inbox-list').getBoundingClientRect().top + scrollY")

const topOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().top`)

test('selecting moves no row, at any size, and what can be done with it stays in view', async () => {
  const { ann, bot } = await people(gate, 'still')
  for (let amount = 1; amount < 21; amount++) await ask(gate, bot, 'payment.transfer', { amount })
  for (const options of [WIDE, PHONE]) {
    const opened = await openConsole(browser, gate, ann, 'approvals', options)
    const { page } = opened
    await page.locator('.inbox-row').first().waitFor()
    const newest = await ask(gate, bot, 'payment.transfer', { amount: 9000 + options.viewport.width })
    await page.getByRole('status').getByText('1 new').waitFor()
    const before = await placeOf(page)
    // The new one, which is new no longer then.
    await page.locator(`[data-id=${newest}] input`).check()
    await page.getByText('1 selected').waitFor()
    assert.equal(await placeOf(page), before)
    if (options === PHONE) await assertSound(opened)
    await page.evaluate('scrollTo(0, 1000)')
    const button = page.getByRole('button', { name: 'Approve… selected' })
    const box = await button.boundingBox()
    assert.ok(box !== null && box.y > 0 && box.y + box.height < 200, `at ${JSON.stringify(box)}`)
    await button.click()
    await page.getByRole('dialog').waitFor()
    await page.context().close()
  }
})

test('the filters are as wide as what is below them', async () => {
  const { ann, bot } = await people(gate, 'line')
  const note = 'n'.repeat(99)
  const context = { amount: 1, 'ben: 2, to': 'x\u202ey', note, other: { more: [1] }, yes: true }
  const id = await ask(gate, bot, 'payment.transfer', context)
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  await page.getByRole('region', { name: 'Requester' }).waitFor()
  const rightOf = (selector: string) =>
    page.evaluate(
      `Math.round(Math.max(...[...document.querySelectorAll('${selector}')].map((each) => each.getBoundingClientRect().right)))`,
    )
  assert.equal(await rightOf('.inbox-toolbar label'), await rightOf('.beside .card'))
  assert.deepEqual((await page.locator('.inbox .argument-line').allInnerTexts()).join().split('\n'), [
    `amount: 1, "ben: 2, to": "xU+202Ey", note: "${'n'.repeat(23)}…`,
    '2 more',
  ])
})

test('what is in a plan does not pass for an argument, nor an argument for it', async () => {
  const { ann, bot } = await people(gate, 'plan')
  await ask(gate, bot, 'payment.transfer', { 'plan.to': 1 }, { plan: { amount: 1 } })
  const { page } = await openConsole(browser, gate, ann, 'approvals', WIDE)
  assert.equal(await page.locator('.argument-line').textContent(), '"plan.to": 1, plan.amount: 1')
})

test('in another order, the keys begin at the first row', async () => {
  const { ann, bot } = await people(gate, 'order')
  for (let amount = 1; amount < 5; amount++) await ask(gate, bot, 'payment.transfer', { amount: amount * 1000 })
  const { page } = await openConsole(browser, gate, ann, 'approvals', WIDE)
  await page.locator('.inbox-row').first().waitFor()
  for (let i = 0; i < 3; i++) await page.keyboard.press('j')
  await page.getByLabel('Order').selectOption('newest')
  await page.locator('h1').focus()
  const focused = () =>
    page.evaluate(
      "[...document.querySelectorAll('.inbox-row')].findIndex((row) => row.contains(document.activeElement))",
    )
  await page.keyboard.press('j')
  assert.equal(await focused(), 0)
  await page.keyboard.press('j')
  assert.equal(await focused(), 1)
})

test('on a phone one comes back to the place in the list that one left', async () => {
  const { ann, bot } = await people(gate, 'back')
  const ids: string[] = []
  for (let amount = 1; amount < 31; amount++) ids.push(await ask(gate, bot, 'payment.transfer', { amount }))
  const { page } = await openConsole(browser, gate, ann, 'approvals', PHONE)
  const row = `[data-id=${ids[20]}]`
  await page.locator(row).waitFor()
  await page.evaluate(`document.querySelector('${row}').scrollIntoView({ block: 'center' })`)
  let before = Number.NaN
  await until('the rows above are drawn', async () => {
    const last = before
    before = await topOf(page, row)
    return before === last
  })
  for (const back of [
    () => page.getByRole('link', { name: 'Back to the list' }).click(),
    () => page.goBack(),
    () => page.keyboard.press('Escape'),
  ]) {
    await page.locator(`${row} a`).click()
    await page.getByRole('region', { name: 'Requester' }).waitFor()
    assert.equal(await page.evaluate('scrollY'), 0)
    const link = await page.getByRole('link', { name: 'Back to the list' }).boundingBox()
    assert.ok((link?.height ?? 0) >= 24)
    await back()
    await page.locator(row).waitFor()
    await until('it is where it was', async () => Math.abs((await topOf(page, row)) - before) < 2)
  }
})

test('a stop pauses what waits and cancels what was approved, and is named and linked', async () => {
  const { ann, ben, olga, bot } = await people(gate, 'stop')
  const waiting = await ask(gate, bot, 'payment.transfer', { amount: 1 })
  const approved = await ask(gate, bot, 'payment.transfer', { amount: 2 })
  await gate.call(ben, 'POST', `/approvals/${approved}/approve`, { approverId: 'ben' })
  const opened = await openConsole(browser, gate, ann, `approvals/${waiting}`, WIDE)
  const { page } = opened
  const open = page.getByRole('region', { name: 'Open approval' })
  await open.getByText(/59 min \d+ s left/).waitFor()
  const stop = { level: 'L2', scope: 'finance', reason: 'Drill <b>now</b>', triggeredBy: 'olga' }
  const { switches } = (await gate.call(olga, 'POST', '/killswitch/trigger', stop)).body.data
  await open.getByText('Paused by the stop L2 finance. Its deadline is suspended').waitFor()
  await open.getByText('Drill <b>now</b>').waitFor()
  await open.getByText('A stop covers this action: it cannot be approved until the stop ends.').waitFor()
  await page.locator('.inbox-row').getByText('paused', { exact: true }).waitFor()
  assert.equal(await page.getByText(/ left$/).count(), 0)
  await assertSound(opened)
  await open.getByRole('link', { name: 'L2 finance' }).click()
  assert.equal((await addressOf(page)).pathname, `/console/@${bot.tenant}/kill-switch/${switches[0].id}`)
  await page.getByRole('heading', { level: 1, name: 'Kill switch' }).waitFor()

  await page.goto(`${gate.server.url}/console/approvals/${approved}?status=cancelled`)
  await open.getByText('Cancelled by the stop L2 finance').waitFor()
  await open.getByRole('link', { name: 'L2 finance' }).waitFor()
  await page.locator('.inbox-row').getByText('Cancelled', { exact: true }).waitFor()
  await assertSound(opened)

  await gate.call(olga, 'POST', '/killswitch/recover', { recoveredBy: 'olga', comment: 'over' })
  await page.goto(`${gate.server.url}/console/approvals/${waiting}`)
  await open.getByText(/\d+ s left/).waitFor()
})

test('a vote whose key was revoked is struck and does not count, and who gave it may vote anew', async () => {
  const { ann, ben, olga, bot } = await people(gate, 'revoked')
  const id = await ask(gate, bot, 'payment.wire', { amount: 100 })
  await gate.call(ben, 'POST', `/approvals/${id}/approve`, { approverId: 'ben' })
  const opened = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  const votes = opened.page.getByRole('region', { name: 'Votes' })
  await votes.getByText('1 of 2 votes. One more person must approve.').waitFor()
  assert.equal(await votes.getByText('ben').count(), 1)
  await gate.call(olga, 'DELETE', `/keys/${ben.id}`)
  await opened.page.reload()
  await votes.getByText('0 of 2 votes. 2 people must approve.').waitFor()
  await votes.locator('s', { hasText: 'ben' }).waitFor()
  await votes.getByText("No longer counts: its key has ended, or another voter's key made it.").waitFor()
  await opened.page.locator('.inbox-row').getByText('0 of 2 votes').waitFor()
  await assertSound(opened)
  await opened.page.getByRole('button', { name: 'Approve…' }).click()
  await opened.page.getByRole('dialog').getByText('Your vote is 1 of 2. One more person must approve.').waitFor()
})

test('what was used keeps its votes, whatever becomes of their keys', async () => {
  const { ann, ben, olga, bot } = await people(gate, 'used')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 100 })
  await gate.call(ben, 'POST', `/approvals/${id}/approve`, { approverId: 'ben' })
  const check = { tenantId: bot.tenant, action: 'payment.transfer', context: { amount: 100 }, approvalId: id }
  assert.equal((await gate.call(bot, 'POST', '/gate/check', check)).body.data.decision, 'allow')
  await gate.call(olga, 'DELETE', `/keys/${ben.id}`)
  assert.equal((await approvalOf(gate, ann, id)).votes[0].counts, true)
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}?status=consumed`, WIDE)
  const votes = page.getByRole('region', { name: 'Votes' })
  await votes.getByText('1 of 1 vote.').waitFor()
  assert.equal(await votes.locator('s').count(), 0)
})

test('who rejected it is told as that, not as a vote that counts no longer', async () => {
  const { ann, ben, bot } = await people(gate, 'refused')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 101 })
  await gate.call(ben, 'POST', `/approvals/${id}/reject`, { approverId: 'ben', reason: 'not ours' })
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}?status=rejected`, WIDE)
  const votes = page.getByRole('region', { name: 'Votes' })
  await votes.getByText('0 of 1 vote.').waitFor()
  await votes.getByText('rejected it').waitFor()
  assert.equal(await votes.locator('s').count(), 0)
})

test('Ctrl+Enter sends what is complete, and says what is missing of what is not', async () => {
  const { ann, bot } = await people(gate, 'send')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 9000 })
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByLabel('Comment').press('Control+Enter')
  await page.getByText('Type it as shown above.').waitFor()
  assert.equal((await approvalOf(gate, ann, id)).votes.length, 0)
  await page.getByLabel('Name of the action').fill('payment.transfer')
  await page.getByLabel('Comment').press('Control+Enter')
  await page.getByText('Approved. The agent may act once.').waitFor()
  assert.equal((await approvalOf(gate, ann, id)).votes.length, 1)
})

test('Ctrl+Enter sends nothing from another button, and nothing where there is nothing to send', async () => {
  const { ann, bot } = await people(gate, 'unsent')
  const ids = [
    await ask(gate, bot, 'payment.transfer', { amount: 1 }),
    await ask(gate, bot, 'payment.transfer', { amount: 2 }),
  ]
  const { page } = await openConsole(browser, gate, ann, 'approvals', WIDE)
  const dialog = page.getByRole('dialog')
  await page.getByLabel('Select all 2 shown').check()
  await page.getByRole('button', { name: 'Approve… selected' }).click()
  const isAsking = async (): Promise<boolean> => {
    await page.waitForTimeout(200)
    return page.getByRole('dialog', { name: 'Approve 2 selected?' }).isVisible()
  }
  await dialog.getByRole('button', { name: 'Cancel' }).press('Control+Enter')
  assert.equal(await isAsking(), true)
  for (const id of ids) {
    assert.equal((await approvalOf(gate, ann, id)).votes.length, 0)
    await gate.call(ann, 'POST', `/approvals/${id}/reject`, { approverId: 'ann', reason: 'no' })
  }
  await dialog.getByRole('button', { name: 'Approve 0', disabled: true }).waitFor()
  await page.getByLabel('Comment').press('Control+Enter')
  assert.equal(await isAsking(), true)
})
