import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { approvalOf, ask, heldPolicies, people } from './approvals-support.ts'
import { browser } from './shared-browser.ts'
import { addressOf, assertSound, openConsole, untilTitled } from './support.ts'

const WIDE = { viewport: { width: 1280, height: 800 } }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const gate = await startGate({ after }, { policies: heldPolicies('inbox', 'phone', 'quorum') })

const dialogOf = (page: Page) => page.getByRole('dialog')
const sendOf = (page: Page, name: string) => dialogOf(page).getByRole('button', { name, exact: true })

test('what expires soonest is first, of the same minute the riskiest, and one opens beside the list with all that one decides by', async () => {
  const { ann, bot, mailer } = await people(gate, 'inbox')
  await gate.call(bot, 'POST', '/gate/check', { tenantId: 'inbox', action: 'invoice.read' })
  // The two payments expire in the same minute.
  const leftMs = 60_000 - (Date.now() % 60_000)
  if (leftMs < 10_000) await sleep(leftMs)
  await ask(gate, mailer, 'email.send', { to: 'x@example.org' })
  await ask(gate, bot, 'payment.transfer', { amount: 900 })
  const risky = await ask(gate, bot, 'payment.wire', { amount: 9000, toolCallId: 'c1' }, { plan: { steps: ['pay'] } })
  const opened = await openConsole(browser, gate, ann, 'approvals', WIDE)
  const { page } = opened
  const rows = page.locator('.inbox-row')
  await rows.first().waitFor()
  assert.deepEqual(await rows.locator('.inbox-action').allInnerTexts(), [
    'payment.wire',
    'payment.transfer',
    'email.send',
  ])
  await untilTitled(page, '(3) Approvals')
  await page.getByRole('link', { name: 'Approvals 3 waiting' }).waitFor()
  assert.match(
    (await rows.allInnerTexts())[0] ?? '',
    /5\d min[\s\S]*81.0[\s\S]*0 of 2 votes[\s\S]*amount: 9000, toolCallId: "c1", plan\.steps: \["pay"\]/,
  )
  await assertSound(opened)

  await rows.first().getByRole('link').click()
  await page.getByRole('region', { name: 'Requester' }).waitFor()
  assert.match((await addressOf(page)).href, new RegExp(`/console/@inbox/approvals/${risky}$`))
  const [text = ''] = await page.getByRole('region', { name: 'Open approval' }).allInnerTexts()
  for (const part of [
    'Wires need two people of treasury.',
    'requested by billing-bot · rule wires',
    /toolCallId\s*not bound/,
    /for billing-bot, once,\s+until 23|for billing-bot, once, until/,
    /Not covered, and may differ when the agent acts:\s*context.toolCallId/,
    '0 of 2 votes. 2 people must approve.',
    'Only the group treasury may vote, but not on their own requests.',
    /amount\s*81 of 90/,
    /Risk in all\s*81 of 100/,
    /inbox\/main.yaml, lines? \d+/,
    '- {id: wires, actions: ["payment.wire"], effect: require_approval',
    /billing-bot: in the last 24 hours 1 allowed, 2 needed approval, 0 denied\./,
    'invoice.read',
    /sha256:[0-9a-f]{64}/,
  ])
    assert.ok(typeof part === 'string' ? text.includes(part) : part.test(text), `${part} in ${text}`)
  await assertSound(opened)

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download JSON' }).click()
  const stream = await (await download).createReadStream()
  let json = ''
  for await (const part of stream) json += part
  assert.deepEqual(JSON.parse(json), {
    action: 'payment.wire',
    context: { amount: 9000, toolCallId: 'c1' },
    plan: { steps: ['pay'] },
  })
})

test('on a phone one rejects with a reason, which is needed, and is back at the list', async () => {
  const { ann, bot } = await people(gate, 'phone')
  const id = await ask(gate, bot, 'payment.transfer', { amount: 4000, iban: 'DE89 3704' })
  await ask(gate, bot, 'email.send', { to: 'x@example.org' })
  const opened = await openConsole(browser, gate, ann, 'approvals', PHONE)
  const { page } = opened
  await page.locator(`[data-id=${id}]`).waitFor()
  await assertSound(opened)
  await page.locator(`[data-id=${id}] a`).click()
  await page.getByRole('region', { name: 'Requester' }).waitFor()
  assert.equal(await page.locator('.inbox-row').count(), 0)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  await assertSound(opened)
  await page.getByRole('button', { name: 'Reject…' }).click()
  await sendOf(page, 'Reject').click()
  await page.getByText('Give a reason').waitFor()
  assert.equal((await approvalOf(gate, ann, id)).status, 'pending')
  await assertSound(opened)
  await page.getByRole('button', { name: 'The recipient is not known.' }).click()
  await page.getByLabel('Reason').press('End')
  await page.getByLabel('Reason').pressSequentially(' Ask Eve.')
  await sendOf(page, 'Reject').click()
  await page.getByText('Rejected. The agent sees the reason.').waitFor()
  await page.locator('.inbox-row').waitFor()
  const { status, votes } = await approvalOf(gate, ann, id)
  assert.deepEqual(
    [status, votes[0].comment, votes[0].approverId],
    ['rejected', 'The recipient is not known. Ask Eve.', 'ann'],
  )
})

test('a high risk is approved by typing its name, and two people must; what is bound is shown again', async () => {
  const { ann, ben, cleo, bot } = await people(gate, 'quorum')
  const id = await ask(gate, bot, 'payment.wire', { amount: 9000, toolCallId: 'c' })
  const opened = await openConsole(browser, gate, ann, `approvals/${id}`, WIDE)
  const { page } = opened
  await page.getByRole('button', { name: 'Approve…' }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('Your vote is 1 of 2. One more person must approve.').waitFor()
  await dialog.getByText('All of this is bound except for context.toolCallId').waitFor()
  await assertSound(opened)
  for (const typed of ['', 'payment.wir', 'payment wire']) {
    await page.getByLabel('Name of the action').fill(typed)
    await sendOf(page, 'Approve').click()
    await dialog.getByText('Type it as shown above.').waitFor()
  }
  assert.equal((await approvalOf(gate, ann, id)).votes.length, 0)
  await page.getByLabel('Name of the action').fill(' Payment.wire ')
  await page.getByLabel('Comment').fill('seen the invoice')
  await sendOf(page, 'Approve').click()
  await page.getByText('Your vote counts: 1 of 2.').waitFor()
  await page.locator('.inbox-row').getByText('you voted').waitFor()
  await page.getByText('You have already voted.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Approve…' }).isDisabled(), true)
  assert.equal(await page.getByRole('button', { name: 'Reject…' }).isDisabled(), false)
  await page.getByLabel('Needs my vote').check()
  await page.getByText('No approvals match.').waitFor()

  // Not of the group.
  const other = await openConsole(browser, gate, cleo, `approvals/${id}`, WIDE)
  await other.page.getByText('To vote, you need the group treasury.').waitFor()
  assert.equal(await other.page.getByRole('button', { name: 'Approve…' }).isDisabled(), true)

  await gate.call(ben, 'POST', `/approvals/${id}/approve`, { approverId: 'ben' })
  await page.getByText('Someone has approved it meanwhile: ben.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Approve…' }).count(), 0)
  await assertSound(opened)
})
