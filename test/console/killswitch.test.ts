import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ACME_POLICY, startGate } from '../helpers.ts'
import { focused } from './focused.ts'
import { fill, HOSTILE, red, stopsOf } from './killswitch-support.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole, untilTitled } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
const policies = Object.fromEntries(
  ['phone', 'roles'].map((tenant) => [`${tenant}/main.yaml`, ACME_POLICY.replace('tenant: acme', `tenant: ${tenant}`)]),
)
const gate = await startGate({ after }, { policies })

const operatorOf = (tenant: string) => gate.key({ tenant, roles: ['operator'], identity: 'otto' })

test('an operator with a phone stops by the red button, a scope, a reason and the typed phrase, and lets go on', async () => {
  const operator = await operatorOf('phone')
  const agent = await gate.key({ tenant: 'phone', roles: ['agent'] })
  const opened = await openConsole(browser, gate, operator, 'kill-switch', PHONE)
  const { page } = opened
  await page.getByText('No stop is in force').waitFor()
  await assertSound(opened)
  await page.getByRole('link', { name: 'Stop agents…' }).click()
  await page.waitForFunction('document.activeElement.name === "level"')
  await page.getByRole('button', { name: 'payment.*' }).click()
  assert.equal(await focused(page), 'Action or pattern', 'the field that was filled')
  await page.getByText('1 known action', { exact: true }).waitFor()
  // A phone makes the first letter a capital one.
  await fill(page, { Reason: 'odd transfers', 'To confirm': 'Stop payment.* ' })
  assert.equal(await page.getByLabel('Triggered by').inputValue(), 'otto')
  await assertSound(opened)
  const { height = 0, width = 0 } = (await red(page).boundingBox()) ?? {}
  assert.ok(height >= 44 && width >= 300, `${width} × ${height}`)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  await red(page).click()
  await page.getByText('Stopped: L1 Actions payment.*').waitFor()
  await page.locator('.header').getByText('Stopped: L1 payment.*').waitFor()
  await page.locator('.stop-banner').getByText('odd transfers').waitFor()
  await assertSound(opened)
  const check = async (): Promise<string> =>
    (
      await gate.call(agent, 'POST', '/gate/check', {
        tenantId: 'phone',
        action: 'payment.transfer',
        context: { amount: 1 },
      })
    ).body.data.decision
  assert.equal(await check(), 'deny')

  await page.getByRole('button', { name: 'Recover…' }).click()
  await page.getByText('Pending approvals continue').waitFor()
  await assertSound(opened)
  await page.getByRole('button', { name: 'Recover', exact: true }).click()
  assert.deepEqual(await stopsOf(gate, operator), [['L1', 'payment.*']], 'without a comment')
  await fill(page, { 'Why agents may act again': 'transfers were fine' })
  await page.getByRole('button', { name: 'Recover', exact: true }).click()
  await page.getByText('No stop is in force').waitFor()
  await page.locator('.header').getByText('No stop').waitFor()
  await page.locator('.stop-outcome').getByText('It has since been ended.').waitFor()
  assert.equal(await check(), 'allow')
})

test('an approver sees what is in force and nothing else; an auditor the history too, and nothing to press', async () => {
  const operator = await operatorOf('roles')
  const body = { level: 'L1', scope: 'email.*', reason: HOSTILE, triggeredBy: HOSTILE }
  assert.equal((await gate.call(operator, 'POST', '/killswitch/trigger', body)).status, 200)
  for (const role of ['approver', 'auditor'] as const) {
    const key = await gate.key({ tenant: 'roles', roles: [role] })
    const opened = await openConsole(browser, gate, key, 'kill-switch')
    const { page } = opened
    await page.locator('.stops').getByText('U+202E').first().waitFor()
    assert.match((await page.locator('main').textContent()) ?? '', /<img src=x onerror=/, role)
    assert.equal(await page.getByRole('heading', { name: 'History' }).count(), role === 'auditor' ? 1 : 0)
    assert.equal(await page.locator('main').getByRole('button').count(), 0, role)
    assert.equal(await page.getByRole('link', { name: 'Stop agents…' }).count(), 0, role)
    await untilTitled(page, 'Kill switch')
    await assertSound(opened)
  }
})
