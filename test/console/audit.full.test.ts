import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { RANGE_STATUSES } from '../../src/client/api.ts'
import type { verifyInThread } from '../../src/store/sqlite/verifiers.ts'
import { inThisThread, startGate } from '../helpers.ts'
import { untilLoaded } from '../http/support.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'
import { HOSTILE, nested } from './hostile.ts'
import { browser } from './shared-browser.ts'
import { addressOf, assertSound, type Opened, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

/** While set, a verification goes on. */
let isHeld = false
const verifier: typeof verifyInThread = (address, file) => {
  const real = inThisThread.verifier(address, file)
  return {
    ...real,
    verify: async (request, onProgress, signal) => {
      for (let checked = 1; isHeld; checked += 1) {
        signal?.throwIfAborted()
        onProgress(checked)
        await sleep(50)
      }
      return real.verify(request, onProgress, signal)
    },
  }
}

const gate = await startGate({ after }, { threads: { ...inThisThread, verifier } })
const auditor = await gate.key({ roles: ['auditor'], identity: 'audrey' })
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })

async function log(eventType: string, data: object): Promise<{ id: string; seq: number }> {
  return (await gate.call(agent, 'POST', '/audit/log', { eventType, data })).body.data
}
async function ask(amount: number): Promise<string> {
  const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount } }
  return (await gate.call(agent, 'POST', '/gate/check', body)).body.data.decisionId
}

// An entry of the service is none of those that are counted here.
await untilLoaded(gate, auditor)
for (let page = 0; page < 130; page += 1) await log('invoice.read', { page })

const entriesOf = (page: Page) => page.locator('.entries > li')

async function trail(query = '', options = {}): Promise<Opened> {
  const opened = await openConsole(browser, gate, auditor, `audit${query}`, options)
  await opened.page.locator('.entries').waitFor()
  return opened
}

const verify = (page: Page) => page.getByRole('button', { name: 'Verify', exact: true }).click()

test('the trail says how long it is, and what was written last', async () => {
  const { id, seq } = await log('invoice.paid', { invoice: 1 })
  const { page } = await trail()
  const state = page.getByRole('region', { name: 'State' })
  // To have signed in is an entry too.
  await state.getByText(/^session\.started, number/).waitFor()
  await state.getByText((seq + 2).toLocaleString('en-GB'), { exact: true }).waitFor()
  assert.equal(await entriesOf(page).filter({ hasText: 'invoice.paid' }).count(), 1)
  await page.goto(`${gate.server.url}/console/audit?entry=${id}`)
  await page.locator('.entry[open]').getByText('An entry written by a caller.').waitFor()
})

test('a good range is verified, with progress, and what that means is said', async (t) => {
  isHeld = true
  t.after(() => {
    isHeld = false
  })
  const opened = await trail()
  const { page } = opened
  await verify(page)
  await page.getByRole('progressbar').waitFor()
  await page.getByText(/^\d+ of \d+ entries$/).waitFor()
  isHeld = false
  await page.getByRole('status').getByText('Valid, not anchored').waitFor()
  const verdict = (await page.locator('.verdict').textContent()) ?? ''
  assert.equal(verdict.includes(`${RANGE_STATUSES.unanchored.slice(1)}.`), true, verdict)
  assert.match(verdict, /Verified1\d\d entries/)
  assert.match(verdict, /1\d\d entries are in no external anchor yet/)
  assert.equal(await page.getByRole('progressbar').count(), 0)
  await assertSound(opened)
})

test('a verification can be cancelled, and tells nothing then', async (t) => {
  isHeld = true
  t.after(() => {
    isHeld = false
  })
  const { page } = await trail()
  await verify(page)
  await page.getByText(/^[1-9]\d* of \d+ entries$/).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Cancelled, without a result.').waitFor()
  assert.equal(await page.locator('.verdict').count(), 0)
  isHeld = false
  await verify(page)
  await page.locator('.verdict').waitFor()
})

test('by the keyboard, the focus goes from the button to the one that cancels, and to the verdict', async (t) => {
  isHeld = true
  t.after(() => {
    isHeld = false
  })
  const { page } = await trail()
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  await page.getByRole('button', { name: 'Verify', exact: true }).focus()
  await page.keyboard.press('Enter')
  await until('it can be cancelled', async () => (await focused()) === 'Cancel')
  isHeld = false
  await page.locator('.verdict').waitFor()
  assert.equal(await focused(), 'Valid, not anchored')
  isHeld = true
  await page.getByRole('button', { name: 'Verify', exact: true }).press('Enter')
  await until('it can be cancelled again', async () => (await focused()) === 'Cancel')
  await page.keyboard.press('Enter')
  await page.getByText('Cancelled, without a result.').waitFor()
  assert.equal(await focused(), 'Verify')
})

test('who did it is told by name, the service and the host as what they are, and days by their zone', async () => {
  const { page } = await trail('?eventType=policy.loaded')
  await page.locator('.entry-actor', { hasText: 'service' }).waitFor()
  await page.getByText('Days begin and end at midnight UTC; other times on this page are in Europe/Berlin.').waitFor()
  await page.getByLabel('Before (Europe/Berlin)').waitFor()
  await page.goto(`${gate.server.url}/console/audit?eventType=key.created`)
  await page.locator('.entry-actor', { hasText: 'host user 0' }).first().waitFor()
})

test('days are picked, and those that are none are refused before anybody is asked', async () => {
  const { page } = await trail()
  const [from, to] = [page.getByLabel('From day (UTC)'), page.getByLabel('To day (UTC)')]
  const today = new Date().toISOString().slice(0, 10)
  assert.equal(await to.inputValue(), today)
  await page.getByRole('button', { name: 'Today' }).click()
  assert.equal(await from.inputValue(), today)
  await page.getByRole('button', { name: 'All' }).click()
  assert.equal(await from.inputValue(), '1970-01-01')
  await verify(page)
  await page.getByText('Valid, not anchored').waitFor()
  await from.fill('2099-01-02')
  await page.getByText('The first day is after the last one.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Verify', exact: true }).isDisabled(), true)
  await from.fill('2020-01-01')
  await to.fill('2020-01-02')
  await verify(page)
  await page.getByText('No entries', { exact: true }).waitFor()
})

test('a trail that was changed in the file is broken, and where is shown', async (t) => {
  const own = await startGate(t)
  const key = await own.key({ roles: ['auditor'] })
  const bot = await own.key({ roles: ['agent'] })
  const entry = (await own.call(bot, 'POST', '/audit/log', { eventType: 'invoice.read', data: { amount: 100 } })).body
    .data
  for (let i = 0; i < 3; i += 1) await own.call(bot, 'POST', '/audit/log', { eventType: 'invoice.read', data: { i } })
  tamper(join(own.dir, 'data'), (db) =>
    db.exec(`UPDATE section SET json = replace(json, '"amount":100', '"amount":900') WHERE name = 'data'`),
  )
  const opened = await openConsole(browser, own, key, 'audit')
  const { page } = opened
  await page.locator('.entries').waitFor()
  await verify(page)
  await page.getByRole('alert').getByText('Tampered with').waitFor()
  await page.getByText(`number ${entry.seq}: `).waitFor()
  await page.getByText('Do not rely on entries from there on.').waitFor()
  await assertSound(opened)
  await page.getByRole('link', { name: 'show the entries up to it' }).click()
  await entriesOf(page).first().getByText('invoice.read').waitFor()
  await until('the list begins there', async () => {
    const text = (await entriesOf(page).first().locator('.entry-seq').textContent()) ?? ''
    return text === String(entry.seq)
  })
})

test('entries are paged by their place, filtered by type and time, and kept in the address', async () => {
  const opened = await trail()
  const { page } = opened
  await page.getByText('50 entries.').waitFor()
  await page.getByRole('button', { name: 'Load older' }).click()
  await page.getByText('100 entries.').waitFor()
  const seqs = await page.locator('.entry-seq').allTextContents()
  const [newest = 0, ...older] = seqs.map(Number)
  assert.deepEqual(
    older,
    older.map((_, i) => newest - i - 1),
  )
  await page.getByLabel('Type').selectOption('policy.loaded')
  await page.getByText('1 entry, all there are.').waitFor()
  assert.equal((await addressOf(page)).search, '?eventType=policy.loaded')
  await page.getByLabel('Type').selectOption('invoice.read')
  await page.getByText('50 entries.').waitFor()
  await page.reload()
  await page.getByText('50 entries.').waitFor()
  assert.equal(await page.getByLabel('Type').inputValue(), 'invoice.read')
  await page.getByLabel('Before').fill('2020-01-01T12:00')
  await page.getByText('No entries match.').waitFor()
  await assertSound(opened)
  await page.locator('.empty').getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('50 entries.').waitFor()
})

test('an entry opens to all that it says, and that of a decision leads to it', async () => {
  const decisionId = await ask(5)
  const { page } = await trail('?eventType=gate.decision')
  await entriesOf(page).first().locator('summary').click()
  const entry = entriesOf(page).first()
  await entry.getByText('A check was decided; data holds action and decision.').waitFor()
  await entry.getByRole('button', { name: 'Copy the hash of the entry', exact: true }).waitFor()
  await entry.getByRole('link').click()
  await page.locator('.decision-summary').getByText(decisionId).waitFor()
})

test('newer entries are told, and do not move what is read', async () => {
  const { page } = await trail()
  await page.getByText('50 entries.').waitFor()
  const before = await entriesOf(page).first().textContent()
  await ask(6)
  await page.getByRole('button', { name: 'Newer entries have been written — show' }).waitFor()
  assert.equal(await entriesOf(page).first().textContent(), before)
  await page.getByRole('button', { name: 'Newer entries have been written — show' }).click()
  await entriesOf(page).first().getByText('gate.decision').waitFor()
})

test('what callers wrote is text, however long and deep', async () => {
  const data = {
    [HOSTILE[0]]: HOSTILE[1],
    link: HOSTILE[2],
    action: HOSTILE[3],
    long: 'x'.repeat(100_000),
    deep: nested(25),
  }
  const { id } = await log('evil.note', data)
  const opened = await trail(`?entry=${id}`)
  const { page } = opened
  await page.locator('.entry[open]').getByText(HOSTILE[1]).waitFor()
  const text = (await page.locator('.entry[open]').textContent()) ?? ''
  for (const shown of [HOSTILE[0], HOSTILE[2], 'U+202E', 'more characters'])
    assert.equal(text.includes(shown), true, shown)
  assert.equal(await page.locator('main img, main script, main a[href^="javascript"]').count(), 0)
  await assertSound(opened)
  await page.goto(`${gate.server.url}/console/audit?entry=${encodeURIComponent(HOSTILE[0])}&eventType=%E2%80%AEx`)
  await page.getByText('Entry not found.').waitFor()
  assert.equal(await page.getByLabel('Type').inputValue(), '')
})

test('a verification that the service refuses, or that breaks, is told where it was begun', async () => {
  const { page } = await trail()
  await page.route('**/audit/verify?**', (route) => route.abort())
  await verify(page)
  await page.locator('.card .failure').waitFor()
  await page.unroute('**/audit/verify?**')
  await page.route('**/audit/verify?**', (route) =>
    route.fulfill({
      status: 429,
      contentType: 'application/json',
      body: JSON.stringify({ success: false, error: 'rate_limited', message: 'Ask again later.', requestId: 'req_1' }),
    }),
  )
  await verify(page)
  await page.locator('.card .failure').getByText('Ask again later.').waitFor()
  await page.unroute('**/audit/verify?**')
  await verify(page)
  await page.getByText('Valid, not anchored').waitFor()
})

test('every status that a verification can come to is told with what it means', async () => {
  const { page } = await trail()
  const base = { entriesChecked: 3, firstEntry: 'aud_a', lastEntry: 'aud_b', redactedEntries: 2, unanchoredEntries: 0 }
  for (const [status, meaning] of Object.entries(RANGE_STATUSES)) {
    const valid = ['ok', 'unanchored', 'empty'].includes(status)
    const bad = valid ? { fault: null, firstBadSeq: null } : { fault: HOSTILE[0], firstBadSeq: 2 }
    const event = `event: verified\ndata: ${JSON.stringify({ ...base, ...bad, valid, status })}\n\n`
    await page.route('**/audit/verify?**', (route) => route.fulfill({ contentType: 'text/event-stream', body: event }))
    await verify(page)
    await page
      .getByRole(valid ? 'status' : 'alert')
      .getByText(`${meaning.slice(1)}.`)
      .waitFor()
    await page.locator('.verdict').getByText('parts of 2 entries, by a recorded command').waitFor()
    if (!valid) await page.locator('.verdict').getByText(HOSTILE[0]).waitFor()
    await page.unroute('**/audit/verify?**')
  }
})

test('on a phone all of it fits', async () => {
  const opened = await trail('', PHONE)
  const { page } = opened
  await verify(page)
  await page.getByText('Valid, not anchored').waitFor()
  await entriesOf(page).first().locator('summary').click()
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  await assertSound(opened)
})
