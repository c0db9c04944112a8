import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { aDecision } from '../store/drafts.ts'
import { until } from '../until.ts'
import { HOSTILE } from './hostile.ts'
import { browser } from './shared-browser.ts'
import { addressOf, assertSound, type Opened, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
/** Older than what one request looks at. */
const DEEP = 4500

const gate = await startGate({ after })
const auditor = await gate.key({ roles: ['auditor'], identity: 'audrey' })
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
const rare = await gate.key({ roles: ['agent'], identity: 'rare-bot' })

interface Asked {
  decisionId: string
  approvalId: string | null
}

async function ask(amount: number, more: object = {}, key = agent): Promise<Asked> {
  const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount, ...more } }
  const answer = await gate.call(key, 'POST', '/gate/check', body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data
}

const started = new Date()
const first = await ask(1, {}, rare)
for (let i = 0; i < DEEP; i += 500)
  await Promise.all(
    Array.from({ length: 500 }, () =>
      gate.server.store.commit({ guards: [], writes: [], entries: [aDecision('allow', { action: 'bulk.read' })] }),
    ),
  )
for (let amount = 10; amount < 130; amount += 1) await ask(amount)

const rowsOf = (page: Page) => page.locator('.table tbody tr')

async function listOf(query = '', options = {}): Promise<Opened> {
  const opened = await openConsole(browser, gate, auditor, `decisions${query}`, options)
  await opened.page.locator('h1', { hasText: 'Decisions' }).waitFor()
  return opened
}

test('decisions are listed newest first, a screenful, and older ones when somebody wants them', async () => {
  const opened = await listOf()
  const { page } = opened
  await page.getByText('50 decisions, searched back to').waitFor()
  assert.equal(await rowsOf(page).count(), 50)
  for (const shown of ['Allowed', 'payment.transfer', 'bot', 'payments', 'allow rule'])
    assert.equal(await rowsOf(page).first().getByText(shown, { exact: true }).count(), 1, shown)
  await assertSound(opened)
  await page.getByRole('button', { name: 'Load older' }).click()
  await page.getByText('100 decisions').waitFor()
  const ids = await page
    .locator('.table .action a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  assert.equal(new Set(ids).size, 100)
})

test('names are found by a part of them, or whole where a count led here', async () => {
  await ask(300_000)
  const { page } = await listOf('?agent=RARE')
  await page.getByText('1 decision, all there are.').waitFor()
  assert.equal(await rowsOf(page).locator(`a[href$="${first.decisionId}"]`).count(), 1)
  await page.goto(`${gate.server.url}/console/decisions?agent=RARE&whole=yes`)
  await page.getByText('No decisions match these filters.').waitFor()
  assert.equal(await page.getByLabel('Names match').inputValue(), 'yes')
  await page.locator('.empty').getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('50 decisions').waitFor()
  await page.goto(`${gate.server.url}/console/decisions?decidedBy=deny_rule`)
  await rowsOf(page).first().getByText('deny rule').waitFor()
  assert.equal(await page.getByLabel('Decided by').inputValue(), 'deny_rule')
})

test('days are chosen by one click, in the zone of the viewer', async () => {
  const opened = await listOf()
  const { page } = opened
  // A run may cross midnight: the day of the viewer is the one on which the first decision was made.
  await page.clock.setFixedTime(started)
  await page.getByRole('button', { name: 'Yesterday' }).click()
  await page.getByText('No decisions match these filters.').waitFor()
  const { from, to } = Object.fromEntries((await addressOf(page)).searchParams)
  const local = (at = ''): string => new Date(at).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' })
  assert.deepEqual([local(from), local(to)], ['00:00:00', '00:00:00'])
  await page.getByRole('button', { name: 'Today' }).click()
  await page.getByText('50 decisions').waitFor()
  assert.equal((await addressOf(page)).searchParams.get('from'), to)
  assert.equal(await page.getByRole('button', { name: 'Today' }).getAttribute('aria-pressed'), 'true')
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('From (Europe/Berlin)').waitFor()
  assert.equal(await page.evaluate('document.activeElement.type'), 'datetime-local')
  await assertSound(opened)
})

test('who comes back from a decision finds the list as it was: its filters, what was loaded, and where it was read', async () => {
  const { page } = await listOf('?action=payment.*', PHONE)
  await page.getByText('50 decisions').waitFor()
  await page.getByRole('button', { name: 'Load older' }).click()
  await page.getByText('100 decisions').waitFor()
  const scrolled = () => page.evaluate<number>('scrollY')
  for (const back of ['link', 'button'] as const) {
    const row = rowsOf(page).nth(70)
    await row.scrollIntoViewIfNeeded()
    const before = await scrolled()
    // Anywhere in the row.
    await row.locator('.when').click()
    await page.locator('.decision-summary').waitFor()
    assert.equal(await scrolled(), 0)
    if (back === 'link') await page.getByRole('link', { name: 'Back to the list' }).click()
    else await page.goBack()
    await page.getByText('100 decisions').waitFor()
    await until('the list is where it was', async () => Math.abs((await scrolled()) - before) < 2)
    assert.equal((await addressOf(page)).search, '?action=payment.*')
  }
})

test('who comes back from a decision finds no rows of the filters before', async () => {
  const { page } = await listOf()
  await page.getByText('50 decisions').waitFor()
  // Before the pause in which filters are typed is over.
  await page.evaluate(`(async () => {
    const filter = document.querySelector('.decision-filters input')
    filter.value = 'no.such'
    filter.dispatchEvent(new Event('input', { bubbles: true }))
    await new Promise(setTimeout)
    document.querySelector('.table .action a').click()
  })()`)
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await page.getByText('No decisions match these filters.').waitFor()
  assert.equal((await addressOf(page)).search, '?action=no.such')
})

test('the focus is not lost with a button that is gone', async () => {
  const { page } = await listOf('?rule=no-such-rule')
  const button = page.locator('.empty').getByRole('button', { name: 'Clear filters' })
  await button.focus()
  await page.keyboard.press('Enter')
  await page.getByText('50 decisions').waitFor()
  assert.equal(await page.evaluate('document.activeElement === document.body'), false)
})

test('times are chosen in the zone of the viewer, and asked for in UTC', async () => {
  const { page } = await listOf()
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Before').fill('2020-01-01T12:00')
  await page.getByText('No decisions match these filters.').waitFor()
  assert.equal((await addressOf(page)).searchParams.get('to'), '2020-01-01T11:00:00.000Z')
})

test('a search that finds little goes on by itself, shows how far it is, and can be stopped', async () => {
  const opened = await listOf('?agent=rare-bot')
  const { page } = opened
  await page.getByText('1 decision, all there are.').waitFor()
  assert.equal(await rowsOf(page).locator(`a[href$="${first.decisionId}"]`).count(), 1)

  let asked = 0
  let letGo = (): void => undefined
  await page.route('**/decisions?**', async (route) => {
    asked += 1
    if (asked === 2) await new Promise<void>((resolve) => (letGo = resolve))
    // Fails when the page no longer waits for the answer.
    await route.continue().catch(() => undefined)
  })
  await page.getByLabel('Rule').fill('no-such-rule')
  await page.getByText(/^Searching back to/).waitFor()
  await assertSound(opened)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('0 decisions, searched back to').waitFor()
  letGo()
  await page.getByRole('button', { name: 'Load older' }).click()
  await page.getByText('No decisions match these filters.').waitFor()
  assert.equal(asked >= 4, true)
})

test('new decisions are told and do not move what is read, until somebody wants them', async () => {
  const { page } = await listOf('?action=payment.*')
  await page.getByText('50 decisions').waitFor()
  const before = await rowsOf(page).first().textContent()
  await ask(11)
  await ask(12)
  await page.getByRole('button', { name: '2 new decisions — show' }).waitFor()
  assert.equal(await rowsOf(page).first().textContent(), before)
  await page.getByRole('button', { name: '2 new decisions — show' }).click()
  assert.equal(await rowsOf(page).count(), 52)
  assert.equal(await page.getByRole('button', { name: /new decisions/ }).count(), 0)
})

test('an id leads to what it names', async () => {
  const { decisionId } = await ask(13)
  const { page } = await listOf()
  await page.getByLabel('Action or id').fill(` ${decisionId} `)
  await page.getByRole('heading', { name: 'Decision' }).waitFor()
  assert.equal((await addressOf(page)).pathname, `/console/@acme/decisions/${decisionId}`)
  await page.goto(`${gate.server.url}/console/decisions`)
  await page.getByLabel('Action or id').fill(decisionId.replace('dec_', 'aud_'))
  await page.locator('.decision-summary').waitFor()
  await page.goto(`${gate.server.url}/console/decisions`)
  await page.getByLabel('Action or id').fill(decisionId.replace('dec_', 'apr_'))
  await page.getByText('Your key may not see approvals.').waitFor()
})

test('what others wrote is text', async () => {
  const evil = await gate.key({ roles: ['agent'], identity: HOSTILE[0] })
  await ask(14, {}, evil)
  const opened = await listOf(`?agent=${encodeURIComponent(HOSTILE[0])}`)
  const { page } = opened
  await page.getByText('1 decision, all there are.').waitFor()
  assert.equal(await rowsOf(page).first().getByText(HOSTILE[0]).count(), 1)
  assert.equal(await page.locator('main img').count(), 0)
  await assertSound(opened)
})

test('without the network what is shown stays, and a failed search goes on when it is back', async () => {
  const { page } = await listOf('?action=payment.*')
  await page.getByText('50 decisions').waitFor()
  await page.route('**/decisions?**', (route) => route.abort())
  await page.getByRole('button', { name: 'Load older' }).click()
  await until('the failure is told', () => page.locator('.failure').isVisible())
  assert.equal(await rowsOf(page).count(), 50)
  await page.unroute('**/decisions?**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('100 decisions').waitFor()
})

test('who may not read decisions does not see the page', async () => {
  const { page } = await openConsole(browser, gate, agent, 'decisions')
  await page.getByText('Your key may not see Decisions.').waitFor()
})

test('the list is a list of cards on a phone, and says what comes where there is nothing', async (t) => {
  const opened = await listOf('?action=payment.*', PHONE)
  await opened.page.getByText('50 decisions').waitFor()
  assert.equal(await opened.page.evaluate('document.documentElement.scrollWidth'), 390)
  await assertSound(opened)
  const own = await startGate(t)
  const empty = await openConsole(browser, own, await own.key({ roles: ['auditor'] }), 'decisions')
  await empty.page.getByText('No decisions yet.').waitFor()
  await assertSound(empty)
})
