import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ACME_POLICY, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { focused } from './focused.ts'
import { fill, red, stopsOf } from './killswitch-support.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole, REFUSED } from './support.ts'

const gate = await startGate(
  { after },
  {
    policies: {
      'acme/main.yaml': ACME_POLICY,
      'linked/main.yaml': ACME_POLICY.replace('tenant: acme', 'tenant: linked'),
    },
  },
)

test('the address of a stop leads to it among all others, and to its card while it is in force', async () => {
  const operator = await gate.key({ tenant: 'linked', roles: ['operator'] })
  for (let i = 0; i < 30; i += 1) {
    const stop = { level: 'L1', scope: `payment.a${i}` }
    await gate.call(operator, 'POST', '/killswitch/trigger', { ...stop, reason: `stop ${i}`, triggeredBy: 'joe' })
    if (i > 0)
      await gate.call(operator, 'POST', '/killswitch/recover', { ...stop, recoveredBy: 'ann', comment: 'over' })
  }
  const { data } = (await gate.call(operator, 'GET', '/killswitch/history')).body
  const idOf = (scope: string): string => data.find((stop: { scope: string }) => stop.scope === scope).id
  const opened = await openConsole(browser, gate, operator, `kill-switch/${idOf('payment.a3')}`)
  const { page } = opened
  const marked = page.locator('tr.selected')
  await marked.getByText('stop 3', { exact: true }).waitFor()
  await page.getByText('21–30 of 30').waitFor()
  await until('the focus', async () => (await focused(page)) === 'L1 Action payment.a3')
  const isSeen = (box: { y: number } | null): boolean => box !== null && box.y > 60 && box.y < 700
  assert.equal(isSeen(await marked.boundingBox()), true)
  await assertSound(opened)
  await page.getByRole('link', { name: 'payment.a5' }).click()
  await page.waitForURL(`**/kill-switch/${idOf('payment.a5')}`)
  await marked.getByText('stop 5', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Newer' }).click()
  await page.waitForURL('**/kill-switch')
  assert.equal(await marked.count(), 0)

  await page.goto(`${gate.server.url}/console/kill-switch/${idOf('payment.a0')}`)
  const card = page.locator('.stops [aria-current]')
  await until('the focus', async () => (await focused(page))?.startsWith('L1 Action payment.a0') === true)
  assert.equal(isSeen(await card.boundingBox()), true)
  await assertSound(opened)
  await page.goto(`${gate.server.url}/console/kill-switch/ksw_none`)
  await page.getByText('The stop in the link is not in this history.').waitFor()
  await page.getByText('1–20 of 30').waitFor()
  const approver = await gate.key({ tenant: 'linked', roles: ['approver'] })
  const other = await openConsole(browser, gate, approver, `kill-switch/${idOf('payment.a3')}`)
  await other.page.getByText('The stop in the link is no longer in force.').waitFor()
  await assertSound(other)
})

test('a preview that is not allowed, or refused, says so, and a stop that is allowed goes on', async () => {
  const operator = await gate.key({ roles: ['operator'], identity: 'otto' })
  const { page, faults } = await openConsole(browser, gate, operator, 'audit')
  // The console takes it for one that may stop every tenant; the service knows better.
  await page.route('**/session', async (route) => {
    const answer = await route.fetch()
    const body = await answer.json()
    await route.fulfill({ response: answer, json: { ...body, data: { ...body.data, roles: ['admin', 'operator'] } } })
  })
  await page.goto(`${gate.server.url}/console/kill-switch`)
  await page.getByRole('radio', { name: /Every tenant/ }).check()
  const preview = page.locator('.preview')
  await preview.getByText('This key may not do it. L4 stops every tenant; only an admin may use it.').waitFor()
  await assertSound({ page, faults })
  await fill(page, { Reason: 'odd', 'To confirm': 'stop everything' })
  await red(page).click()
  await page.locator('.trigger').getByRole('alert').getByText('forbidden').waitFor()
  assert.equal(await focused(page), 'Stop everything')
  await assertSound({ page, faults }, REFUSED)
  assert.deepEqual(await stopsOf(gate, operator), [])

  const approver = await gate.key({ roles: ['approver'] })
  const { status, body } = await gate.call(approver, 'POST', '/killswitch/preview', { level: 'L3' })
  await page.route('**/killswitch/preview', (route) => route.fulfill({ status, json: body }))
  await page.getByRole('radio', { name: /An action/ }).check()
  await fill(page, { 'Action or pattern': 'payment.*', 'To confirm': 'stop payment.*' })
  await preview.getByText(body.message).waitFor()
  await preview.getByText('cannot be shown. You can still stop.').waitFor()
  await assertSound({ page, faults }, REFUSED)
  await preview.getByRole('button', { name: 'Check again' }).focus()
  await page.unroute('**/killswitch/preview')
  await page.keyboard.press('Enter')
  await preview.getByText('1 known action').waitFor()
  await until('the focus at the heading', async () => (await focused(page)) === 'Coverage of this stop')
  await red(page).click()
  await page.getByText('Stopped: L1 Actions payment.*').waitFor()
  assert.deepEqual(await stopsOf(gate, operator), [['L1', 'payment.*']])
})
