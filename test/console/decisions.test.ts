import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { decisionsOf } from './decision-support.ts'
import { HOSTILE, nested } from './hostile.ts'
import { browser } from './shared-browser.ts'
import { addressOf, assertSound, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

const gate = await startGate({ after })
const owner = await gate.key({ roles: ['owner'], identity: 'olga' })
const auditor = await gate.key({ roles: ['auditor'], identity: 'audrey' })
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
const { ask, detailOf, approvedTransfer } = decisionsOf(gate, { owner, auditor, agent })

test('filters stand in the address, and are taken from it', async () => {
  for (let amount = 10; amount < 65; amount += 1) await ask(amount)
  const denied = await ask(200_000)
  const { page } = await openConsole(browser, gate, auditor, 'decisions')
  await page.getByLabel('Decision', { exact: true }).selectOption('deny')
  await page.getByText('1 decision, all there are.').waitFor()
  await page.getByLabel('Action or id').pressSequentially('payment.*')
  await page.getByLabel('Rule').fill('huge')
  await page.getByLabel('Risk from').fill('30')
  await page.getByText('1 decision, all there are.').waitFor()
  const query = (await addressOf(page)).searchParams
  assert.deepEqual(Object.fromEntries(query), { action: 'payment.*', decision: 'deny', rule: 'huge', minRisk: '30' })
  await page.reload()
  await page.getByText('1 decision, all there are.').waitFor()
  assert.equal(await page.getByLabel('Rule').inputValue(), 'huge')
  assert.equal(await page.locator('.table tbody tr').locator(`a[href$="${denied.decisionId}"]`).count(), 1)
  await page.getByLabel('Rule').fill('other')
  await page.getByText('No decisions match these filters.').waitFor()
  await page.getByLabel('Action or id').fill('pay ment')
  await page.locator('.field .fault').first().waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('50 decisions').waitFor()
})

test('a decision shows what was asked, why it came out so, and what happened, on a phone too', async () => {
  const { held, used } = await approvedTransfer()
  const opened = await detailOf(used.decisionId, owner)
  const { page } = opened
  await page.getByText('The same policies decide the same again.').waitFor()
  const rules = await page.locator('.explained > li').allInnerTexts()
  assert.match(
    rules[0] ?? '',
    /large[\s\S]*decides[\s\S]*main\.yaml:12[\s\S]*context.amount greaterThan 1000 — is 2000/,
  )
  assert.match(rules.join('\n'), /huge[\s\S]*greaterThan 100000/)
  assert.match(rules.at(-1) ?? '', /amount[\s\S]*adds 6 of 30[\s\S]*from 0 to 10000 — is 2000/)
  const told = await page.locator('.timeline > li').allInnerTexts()
  const wanted = [
    /Needs approval/,
    /An approval was requested/,
    /it is approved/,
    /this decision/,
    /was used/,
    /failed/,
  ]
  assert.equal(told.length, wanted.length)
  for (const [i, pattern] of wanted.entries()) assert.match(told[i] ?? '', pattern)
  assert.equal(await page.locator(`.timeline a[href$="${held.decisionId}"]`).count(), 1)
  await page.getByText('Its hash is correct, and links it to its neighbours.').waitFor()
  await assertSound(opened)
  await page.setViewportSize(PHONE.viewport)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  await assertSound(opened)
  await page.locator(`.timeline a[href$="${held.decisionId}"]`).click()
  await page.locator('.decision-summary .badge', { hasText: 'Needs approval' }).waitFor()
  assert.equal(await page.locator('.timeline > li').count(), wanted.length)
})

test('what others wrote is text', async () => {
  const context = {
    long: 'x'.repeat(100_000),
    [HOSTILE[0]]: HOSTILE[1],
    link: HOSTILE[2],
    hidden: HOSTILE[3],
    deep: nested(25),
  }
  const evil = await gate.key({ roles: ['agent'], identity: HOSTILE[0] })
  const { decisionId } = await ask(14, context, evil)
  const opened = await detailOf(decisionId)
  const { page } = opened
  const text = (await page.locator('main').textContent()) ?? ''
  for (const written of HOSTILE.slice(0, 3)) assert.equal(text.includes(written), true, written)
  for (const code of ['U+202E', 'U+200B']) assert.equal(text.includes(code), true, code)
  assert.equal(text.includes('more characters'), true)
  assert.equal(await page.locator('main img, main script, main a[href^="javascript"]').count(), 0)
  await assertSound(opened)
})
