import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ACME_POLICY, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { ask, askThirteen, figure, section } from './overview-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, barriersOf, openConsole } from './support.ts'

const HOUR_MS = 3_600_000
const PHONE = { viewport: { width: 390, height: 844 } }

const policyOf = (tenant: string): string => ACME_POLICY.replace('tenant: acme', `tenant: ${tenant}`)
const sink = join(temporaryFolder(), 'anchors')
// No file: nothing can be written to it.
mkdirSync(sink)
const gate = await startGate(
  { after },
  {
    watch: 'off',
    settings: { anchorFile: sink },
    policies: {
      'acme/main.yaml': ACME_POLICY,
      'stopped/main.yaml': policyOf('stopped'),
      'faulty/main.yaml': policyOf('faulty'),
      'quiet/main.yaml': policyOf('quiet'),
      'observed/main.yaml': `${policyOf('observed')}mode: observe\n`,
    },
  },
)
const owner = await gate.key({ identity: 'olga' })
const ann = await gate.key({ roles: ['approver'], identity: 'ann' })
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
await askThirteen(gate, agent, ann)

/** Answers as the service does, with edits for what a test cannot bring about here. */
const answeringWith = (page: Page, edit: (data: Record<string, object>) => void) =>
  page.route('**/overview?*', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    edit(json.data)
    await route.fulfill({ response, json })
  })

test('policies that are only observed are named above everything else, and so is what each decision would be', async () => {
  const olga = await gate.key({ tenant: 'observed', identity: 'olga' })
  await ask(gate, olga, 'payment.transfer', { amount: 200_000 })
  const opened = await openConsole(browser, gate, olga, 'overview')
  const { page } = opened
  const notice = page.getByRole('region', { name: 'Current problems' })
  assert.match(await seenIn(notice), /^Policies are only observed, not enforced/)
  await assertSound(opened)
  await figure(page, 'Decisions').getByRole('link').click()
  const row = page.getByRole('row', { name: /payment\.transfer/ })
  assert.match(await seenIn(row), /Allowed\s*observed: Denied/)
  await row.getByRole('link').first().click()
  assert.match(await seenIn(page.locator('.decision-summary')), /^Allowed\s*observed: Denied\s*payment\.transfer/)
  await assertSound(opened)
})

test('the bars are told by the keyboard, by the pointer, and as a table', async () => {
  const opened = await openConsole(browser, gate, owner, 'overview')
  const { page } = opened
  const bars = page.getByRole('slider', { name: 'Decisions, bar by bar' })
  await bars.focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('End')
  const said = await bars.getAttribute('aria-valuetext')
  assert.match(said ?? '', /: Allowed \d+, Needs approval \d+, Denied \d+$/)
  assert.match(
    (await seenIn(page.locator('.legend'))).replaceAll(/\s+/g, ' '),
    /–.* Allowed \d+ Needs approval \d+ Denied/,
  )
  await assertSound(opened)
  await page.keyboard.press('Home')
  assert.match((await bars.getAttribute('aria-valuetext')) ?? '', /Allowed 0, Needs approval 0, Denied 0$/)
  assert.equal(await bars.getAttribute('aria-valuenow'), '0')
  await bars.blur()
  assert.match(await seenIn(page.locator('.legend')), /Last 24 hours/)
  const box = await bars.boundingBox()
  await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) - 3, (box?.y ?? 0) + 50)
  assert.equal(await bars.getAttribute('aria-valuetext'), said)
  await page.getByText('As a table').click()
  const table = page.getByRole('table', { name: 'Decisions by time and kind' })
  const cells = await table.locator('td.number').allInnerTexts()
  assert.equal(
    cells.reduce((sum, text) => sum + Number(text), 0),
    13,
  )
  await assertSound(opened)
})

test('the range stands in the address, and decides what is counted', async (t) => {
  const time = { ms: Date.now() - 3 * HOUR_MS }
  const past = await startGate(t, { clock: () => time.ms, watch: 'off' })
  const key = await past.key()
  await ask(past, key, 'email.send')
  time.ms = Date.now()
  await ask(past, key, 'email.send')
  const opened = await openConsole(browser, past, key, 'overview?range=1h')
  const { page } = opened
  assert.match(await seenIn(figure(page, 'Decisions')), /1$/)
  await page.getByRole('button', { name: '24 hours' }).click()
  await page.waitForURL('**/overview?range=24h')
  await figure(page, 'Decisions').getByText('2', { exact: true }).waitFor()
  await page.getByRole('button', { name: '7 days' }).click()
  await page.getByText('Last 7 days').waitFor()
  await page.reload()
  await page.getByText('Last 7 days').waitFor()
  assert.equal(await page.getByRole('button', { name: '7 days' }).getAttribute('aria-pressed'), 'true')
  await assertSound(opened)
})

test('what happens is shown without a reload', async () => {
  const { page } = await openConsole(browser, gate, owner, 'overview')
  const shown = figure(page, 'Decisions').locator('.key-value')
  const before = Number(await seenIn(shown))
  await ask(gate, agent, 'email.send')
  await until('the decision is counted', async () => Number(await seenIn(shown)) === before + 1)
})

test('what is wrong comes first, each with where it is put right', async () => {
  const operator = await gate.key({ tenant: 'stopped', roles: ['operator', 'auditor'] })
  const stop = { level: 'L3', scope: 'stopped', reason: 'odd', triggeredBy: 'ops' }
  assert.equal((await gate.call(operator, 'POST', '/killswitch/trigger', stop)).status, 200)
  const opened = await openConsole(browser, gate, operator, 'overview')
  const wrong = opened.page.getByRole('region', { name: 'Current problems' })
  await wrong.getByText('Stopped: L3 stopped').waitFor()
  await until('the sink fails', async () =>
    (await seenIn(wrong)).includes('External anchors fail: nothing can be written to “file”'),
  )
  assert.deepEqual(await wrong.getByRole('link').allInnerTexts(), ['Kill switch', 'Audit'])
  await assertSound(opened)
})

test('policies that are not in force, or not the newest, are told', async () => {
  const faulty = await gate.key({ tenant: 'faulty' })
  writeFiles(join(gate.dir, 'policies/faulty'), { 'main.yaml': policyOf('faulty').replace('rules:', 'rulez:') })
  await gate.call(faulty, 'POST', '/policies/reload')
  const { page } = await openConsole(browser, gate, faulty, 'overview')
  await page.getByText('The newest policies are not in force').waitFor()
  await page.getByRole('link', { name: 'See the faults' }).click()
  await page.waitForURL('**/console/*/policies')
  const none = await gate.key({ tenant: 'empty' })
  const opened = await openConsole(browser, gate, none, 'overview', PHONE)
  await opened.page.getByText('No policies are in force', { exact: true }).waitFor()
  assert.match(await seenIn(section(opened.page, 'In force')), /Policies\s+none/)
  await assertSound(opened)
})

test('where nothing was asked, what comes first is said', async (t) => {
  const fresh = await startGate(t, { watch: 'off' })
  const first = await fresh.key()
  const opened = await openConsole(browser, fresh, first, 'overview')
  const { page } = opened
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
  await page.getByText('No decisions in the last 24 hours.').waitFor()
  await assertSound(opened)
  await page.getByRole('link', { name: 'Create a key in the settings' }).click()
  await page.waitForURL('**/console/*/settings')
  const auditor = await fresh.key({ roles: ['auditor'] })
  const other = await openConsole(browser, fresh, auditor, 'overview')
  await other.page.getByText('An owner can create one in the settings.').waitFor()
})

test('a faulty trail, figures that are not complete, and texts of others are shown as what they are', async () => {
  const hostile = '"><img src=x onerror=alert(1)>\u202Egnp.exe'
  const opened = await openConsole(browser, gate, owner, 'settings')
  const { page } = opened
  await answeringWith(page, (data) => {
    Object.assign(data, {
      completeFrom: new Date(Date.now() - HOUR_MS).toISOString(),
      denials: [{ rule: hostile, decidedBy: 'deny_rule', count: 1_234_567 }],
      denialsLeftOut: 3,
    })
    Object.assign(data.audit ?? {}, {
      fault: hostile,
      lastVerified: { at: new Date().toISOString(), valid: false, chains: 2 },
    })
  })
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).click()
  const wrong = page.getByRole('region', { name: 'Current problems' })
  await wrong.getByText('The audit trail did not verify').waitFor()
  assert.match(await seenIn(wrong), /nothing is decided\s+"><img src=x onerror=alert\(1\)>U\+202Egnp\.exe/)
  const denials = section(page, 'Denials by rule')
  assert.match(await seenIn(denials), /"><img src=x onerror=alert\(1\)>U\+202Egnp\.exe\s+1,234,567/)
  assert.match(await seenIn(denials), /3 more rules and steps/)
  await page.getByText('Complete only from').waitFor()
  const to = new URL((await denials.getByRole('link').getAttribute('href')) ?? '', gate.server.url)
  assert.equal(to.searchParams.get('rule'), hostile)
  await assertSound(opened)
})

test('what was there stays while the service cannot be reached, and is said to be old', async () => {
  const { page } = await openConsole(browser, gate, owner, 'overview')
  const before = await seenIn(figure(page, 'Decisions'))
  await page.context().setOffline(true)
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
  await page.getByText('These figures are old:').waitFor()
  assert.equal(await seenIn(figure(page, 'Decisions')), before)
  assert.deepEqual(await barriersOf(page), [])
  // Heard again, the page asks by itself.
  await page.context().setOffline(false)
  await page.getByText('These figures are old:').waitFor({ state: 'detached' })
  await page.route('**/overview?*', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '60' },
      json: { success: false, error: 'rate_limited', message: 'Wait.', requestId: 'req_1' },
    }),
  )
  await page.getByRole('button', { name: '7 days' }).click()
  await page.getByText('These figures are old:').waitFor()
  assert.equal(await page.locator('.figures').isVisible(), true)
})

test('each role sees what it may: an approver none of it, and links lead only where one may go', async () => {
  const { page: approver } = await openConsole(browser, gate, ann)
  assert.equal(await approver.getByRole('link', { name: 'Overview' }).count(), 0)
  await approver.getByRole('heading', { name: 'Approvals' }).waitFor()
  await approver.goto(`${gate.server.url}/console/overview`)
  await approver.getByText('Your key may not see Overview.').waitFor()
  const operator = await gate.key({ roles: ['operator'] })
  const opened = await openConsole(browser, gate, operator, 'overview', PHONE)
  const { page } = opened
  await section(page, 'Denials by rule').getByText('huge').waitFor()
  assert.equal(await section(page, 'Denials by rule').getByRole('link').count(), 0)
  assert.equal(await figure(page, 'Pending').getByRole('link').count(), 0)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  await assertSound(opened)
})
