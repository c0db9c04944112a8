import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ACME_POLICY, startGate, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const CANDIDATE = ACME_POLICY.replace('value: 1000}', 'value: 500}')
const gate = await startGate({ after }, { policies: { 'acme/main.yaml': ACME_POLICY } })
const auditor = await gate.key({ roles: ['auditor'] })
const approver = await gate.key({ roles: ['approver'] })
const bot = await gate.key({ roles: ['agent'], identity: 'bot' })
const ask = (amount: number) =>
  gate.call(bot, 'POST', '/gate/check', { tenantId: 'acme', action: 'payment.transfer', context: { amount } })
const write = (text: string): void => writeFiles(join(gate.dir, 'policies'), { 'acme.shadow/main.yaml': text })

test('the page follows the set in shadow: none, faults, a running matrix that leads to its decisions', async () => {
  const opened = await openConsole(browser, gate, auditor, 'policies/shadow')
  const { page } = opened
  await page.getByText('No set is in shadow.').waitFor()
  await assertSound(opened)
  write(CANDIDATE.replace('effect: deny', 'effect: denny'))
  await page.getByText('The folder for the set in shadow has faults').waitFor()
  await page
    .getByText(/^main\.yaml:\d+:\d+$/)
    .first()
    .waitFor()
  await assertSound(opened)
  write(CANDIDATE)
  await page.getByRole('heading', { name: 'Nothing was asked yet' }).waitFor()
  for (const amount of [10, 700, 800]) await ask(amount)
  await page.getByRole('heading', { name: '2 of 3 decisions would change (66.7%)' }).waitFor()
  assert.match(await seenIn(page.locator('.matrix')), /Allowed\s+1\s+2\s+0/)
  await ask(20)
  await page.getByRole('heading', { name: '2 of 4 decisions would change (50%)' }).waitFor()
  await assertSound(opened)
  await page.locator('.matrix a').click()
  await page.getByRole('heading', { name: 'Decisions' }).waitFor()
  await until('both are listed', async () => (await page.locator('tbody tr').count()) === 2)
  assert.match(await seenIn(page.locator('tbody')), /Allowed\s*shadow: Needs approval/)
  await page.locator('tbody a').first().click()
  await page.getByText('In shadow').waitFor()
  assert.match(await seenIn(page.locator('.decision-summary')), /shadow: Needs approval[\s\S]*In shadow\s+.*rule large/)
  await assertSound(opened)
})

test('on a phone it reads as well, and an approver has no such page', async () => {
  const opened = await openConsole(browser, gate, auditor, 'policies/shadow', { viewport: { width: 390, height: 844 } })
  await opened.page.getByRole('heading', { name: /would change/ }).waitFor()
  await assertSound(opened)
  const { page } = await openConsole(browser, gate, approver, 'policies/shadow')
  await page.getByText('Your key may not see this.').waitFor()
  assert.equal(await page.getByRole('link', { name: 'In shadow' }).count(), 0)
})
