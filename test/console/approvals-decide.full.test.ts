import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { approvalOf, ask, heldPolicies, people } from './approvals-support.ts'
import { browser } from './shared-browser.ts'
import { signal } from './signal.ts'
import { assertSound, barriersOf, openConsole } from './support.ts'

const WIDE = { viewport: { width: 1280, height: 800 } }

const policies = heldPolicies(
  'phone',
  'quorum',
  'once',
  'overtaken',
  'stopped',
  'refused',
  'batch',
  'down',
  'late',
  'typing',
)
const gate = await startGate({ after }, { policies })

const dialogOf = (page: Page) => page.getByRole('dialog')
const sendOf = (page: Page, name: string) => dialogOf(page).getByRole('button', { name, exact: true })

test('who asks to approve and types at once writes the comment, and does nothing else', async () => {
  const { ann, bot } = await people(gate, 'typing')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 100 })
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  await page.getByRole('region', { name: 'Requester' }).waitFor()
  await page.keyboard.press('a')
  await page.getByLabel('Comment').waitFor()
  await page.keyboard.type('checked with the supplier')
  assert.equal(await page.getByLabel('Comment').inputValue(), 'checked with the supplier')
  assert.equal(await dialogOf(page).getByText('Approve this action?').count(), 1)
})

test('what is not bound is marked wherever it stands, whatever it is called, and nothing else is', async () => {
  const { ann, bot } = await people(gate, 'typing')
  const context = {
    'transfer note': 'a',
    'meta.note': 'b',
    meta: { note: 'c' },
    list: [{ note: 'd' }],
    toolCallId: 'e',
  }
  const id = await ask(gate, bot, 'payment.transfer', { amount: 200, ...context })
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  await page.getByRole('region', { name: 'Requester' }).waitFor()
  const marked = page.locator('.approval .json .unbound > dt .text')
  assert.deepEqual(await marked.allInnerTexts(), ['note', 'toolCallId', '"transfer note"'])
})

test('a vote that is clicked twice is sent once', async () => {
  const { ann, bot } = await people(gate, 'once')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 1 })
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  let sent = 0
  const clicked = signal()
  await page.route('**/approve', async (route) => {
    sent += 1
    await clicked.given
    await route.continue()
  })
  await page.getByRole('button', { name: 'Approve…' }).click()
  await sendOf(page, 'Approve').dblclick()
  clicked.give()
  await page.getByText('Approved. The agent may act once.').waitFor()
  assert.equal(sent, 1)
  assert.equal((await approvalOf(gate, ann, id)).votes.length, 1)
})

test('who is asked while somebody else decides is told so, and nothing is sent', async () => {
  const { ann, ben, bot } = await people(gate, 'overtaken')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 1 })
  const opened = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  const { page } = opened
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByLabel('Comment').fill('fine')
  await gate.call(ben, 'POST', `/approvals/${id}/reject`, { approverId: 'ben', reason: '<i>not now</i>' })
  await dialogOf(page).getByText('Someone has rejected it meanwhile: ben.').waitFor()
  await dialogOf(page).getByText('<i>not now</i>').waitFor()
  assert.equal(await sendOf(page, 'Approve').count(), 0)
  await assertSound(opened)
  await sendOf(page, 'Close').last().click()
  assert.equal(await dialogOf(page).count(), 0)
})

test('what expires while one is asked is not sent', async () => {
  const { ann, bot } = await people(gate, 'late')
  const id = await ask(gate, bot, 'payment.now', { amount: 1 })
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  await page.getByRole('button', { name: 'Approve…' }).click()
  await dialogOf(page).getByText('It has expired meanwhile.').waitFor()
  assert.equal(await sendOf(page, 'Approve').count(), 0)
  await until('it leaves the list', async () => (await page.locator('.inbox-row').count()) === 0)
})

test('while a stop is in force nothing can be approved, and the dialog says so as it comes; rejecting can be', async () => {
  const { ann, olga, bot } = await people(gate, 'stopped')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 1 })
  const opened = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  const { page } = opened
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByLabel('Comment').fill('fine')
  const stop = { level: 'L2', scope: 'finance', reason: 'Drill <b>now</b>', triggeredBy: 'olga' }
  await gate.call(olga, 'POST', '/killswitch/trigger', stop)
  await dialogOf(page).getByText('You cannot vote now.').waitFor()
  assert.equal(await sendOf(page, 'Approve').isDisabled(), true)
  assert.equal(await page.getByLabel('Comment').inputValue(), 'fine')
  await assertSound(opened)
  await gate.call(olga, 'POST', '/killswitch/recover', { recoveredBy: 'olga', comment: 'over' })
  await until('it can be sent', () => sendOf(page, 'Approve').isEnabled())
  await sendOf(page, 'Approve').click()
  await page.getByText('Approved. The agent may act once.').waitFor()
})

test('a refusal says what to do, and loses nothing that was typed', async () => {
  const { ann, bot } = await people(gate, 'refused')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 1 })
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  const codes = {
    self_approval: 'Ask someone else to approve it',
    approver_mismatch: 'Sign out, then sign in again.',
    approval_expired: 'the agent requests it again',
    kill_switch_active: 'until the stop ends',
    approval_not_pending: 'Someone else decided first.',
    forbidden: 'the groups that the policy names',
  }
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByLabel('Comment').fill('kept')
  for (const [error, advice] of Object.entries(codes)) {
    const json = { success: false, error, message: `<img src=x onerror=alert(1)> ${error}`, requestId: 'req_1' }
    await page.route('**/approve', (route) => route.fulfill({ status: 409, json }))
    await sendOf(page, 'Approve').click()
    const failure = dialogOf(page).locator('.failure', { hasText: advice })
    await failure.getByText(`<img src=x onerror=alert(1)> ${error}`).waitFor()
    assert.equal(await page.getByLabel('Comment').inputValue(), 'kept')
    await page.unroute('**/approve')
  }
  assert.deepEqual(await barriersOf(page), [])
})

test('without the network nothing is lost, and the same vote sent again counts once', async () => {
  const { ann, bot } = await people(gate, 'down')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 1 })
  const { page } = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  await page.getByRole('button', { name: 'Reject…' }).click()
  await page.getByLabel('Reason').fill('not ours')
  const keys = new Set<string | undefined>()
  await page.route('**/reject', (route) => {
    keys.add(route.request().headers()['idempotency-key'])
    return route.abort()
  })
  await sendOf(page, 'Reject').click()
  await dialogOf(page).getByText('a vote that arrived counts only once').waitFor()
  assert.equal(await page.getByLabel('Reason').inputValue(), 'not ours')
  await page.unroute('**/reject')
  const again = page.waitForRequest('**/reject')
  await sendOf(page, 'Reject').click()
  keys.add((await again).headers()['idempotency-key'])
  await page.getByText('Rejected. The agent sees the reason.').waitFor()
  assert.equal(keys.size, 1)
})

test('several are decided with one reason, one vote each; high risks are left out, and what is refused stays selected', async () => {
  const { ann, ben, bot, olga } = await people(gate, 'batch')
  const [one, two, gone] = [
    await ask(gate, bot, 'payment.transfer', { amount: 1 }),
    await ask(gate, bot, 'payment.transfer', { amount: 2, toolCallId: 'c' }),
    await ask(gate, bot, 'payment.transfer', { amount: 3 }),
  ]
  const risky = await ask(gate, bot, 'payment.transfer', { amount: 9000 })
  const mail = await ask(gate, bot, 'email.send', { to: 'x@example.org' })
  const opened = await openConsole(browser, gate, ann, 'approvals?order=newest', WIDE)
  const { page } = opened
  await page.getByLabel('Select all 5 shown').check()
  await page.getByRole('button', { name: 'Approve… selected' }).click()
  const dialog = dialogOf(page)
  const itemOf = (text: string) => dialog.locator('.batch-items li', { hasText: text })
  await itemOf('High risk: open it and decide it separately.').waitFor()
  const lines = ['to: "x@example.org"', 'amount: 9000', 'amount: 3', 'amount: 2, toolCallId: "c"', 'amount: 1']
  assert.deepEqual(await page.locator('.inbox .argument-line').allInnerTexts(), lines)
  assert.deepEqual(await dialog.locator('.argument-line').allInnerTexts(), lines)
  await itemOf('amount: 2')
    .getByText(/2 arguments, \d+ bytes/)
    .click()
  await itemOf('amount: 2').getByText('not bound', { exact: true }).waitFor()
  await itemOf('amount: 2').getByText('but not context.toolCallId').waitFor()
  await gate.call(ben, 'POST', `/approvals/${gone}/reject`, { approverId: 'ben', reason: 'no' })
  await itemOf('No longer pending').waitFor()
  await gate.call(olga, 'POST', '/killswitch/trigger', {
    level: 'L1',
    scope: 'email.*',
    reason: 'No mail',
    triggeredBy: 'olga',
  })
  await dialog.getByText('A stop is in force').waitFor()
  await assertSound(opened)
  await itemOf('A stop covers it: it cannot be approved until the stop ends.').waitFor()
  const json = { success: false, error: 'audit_unavailable', message: '<i>full</i>', requestId: 'req_1' }
  await page.route(`**/${two}/approve`, (route) => route.fulfill({ status: 503, json }), { times: 9 })
  await page.getByLabel('Comment').press('Control+Enter')
  await dialog.getByRole('status').getByText('1 of 2 done, 1 refused and still selected.').waitFor()
  await page.getByRole('dialog', { name: '1 approved, 4 not' }).waitFor()
  await itemOf('<i>full</i>').waitFor()
  assert.equal(await itemOf('Approved. The agent may act once.').count(), 1)
  assert.deepEqual(await barriersOf(page), [])
  await sendOf(page, 'Close').last().click()
  const statuses = await Promise.all(
    [one, two, gone, risky, mail].map(async (id) => (await approvalOf(gate, ann, id)).status),
  )
  assert.deepEqual(statuses, ['approved', 'pending', 'rejected', 'pending', 'pending'])
  const selected = await page.evaluate(
    "[...document.querySelectorAll('.inbox-row.selected')].map((row) => row.dataset.id)",
  )
  assert.deepEqual(selected, [mail, risky, two])

  await page.getByRole('button', { name: 'Reject… selected' }).click()
  await page.getByLabel('Reason').press('Control+Enter')
  await dialog.getByText('Give a reason').waitFor()
  await page.getByLabel('Reason').fill('Closed for today.')
  await sendOf(page, 'Reject 3').click()
  await page.getByRole('dialog', { name: '3 rejected' }).waitFor()
  await sendOf(page, 'Close').last().click()
  await page.getByText('No approvals are waiting.').waitFor()
  const comments = await Promise.all(
    [risky, two, mail].map(async (id) => (await approvalOf(gate, ann, id)).votes[0].comment),
  )
  assert.deepEqual(new Set(comments), new Set(['Closed for today.']))
})
