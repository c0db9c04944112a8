import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Gate, startGate } from '../helpers.ts'
import { begin, live, policies } from '../replay/day.ts'
import { HOSTILE, section } from './policy-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { addressOf, assertSound, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
/** Length of the day, which ends now. */
const DAY_MS = 92 * 60_000
const day = await begin({ after }, () => Date.now() - DAY_MS)
await live(day)
const { gate } = day
const auditor = await gate.key({ roles: ['auditor'] })

const inForce = policies['acme/main.yaml']
const MORE = inForce.replace('value: 2}', 'value: 3}').replace('weight: 40', 'weight: 60')

test('a draft is written, tried on what was recorded, and each change is seen side by side', async () => {
  const opened = await openConsole(browser, gate, auditor, 'policies/replay')
  const { page } = opened
  await page.getByText('There is no draft yet.').waitFor()
  await assertSound(opened)
  await page.getByRole('link', { name: 'Write a draft' }).click()
  await page.getByLabel('Text of the draft').fill(MORE)
  await page.getByRole('link', { name: 'Try on yesterday' }).last().click()
  await page.getByText('By the draft, which replaces main.yaml').waitFor()
  await page.getByRole('button', { name: 'Try the draft' }).click()
  await page.getByRole('heading', { name: '2 of 21 requests change (9.5%)' }).waitFor()
  assert.match(await seenIn(section(page, 'Kinds of change')), /2\s+Denied\s+third\s+Allowed\s+all\s+transfer\.bank/)
  const shifts = await seenIn(section(page, 'By rule, factor and fact'))
  assert.match(shifts, /all decides \d+ instead of \d+[\s\S]*third decides 0 instead of 2[\s\S]*amount adds another/)
  await page.locator('.replay-changes summary').first().click()
  await page.getByRole('heading', { name: 'By the draft' }).waitFor()
  const change = page.locator('.replay-changes details').first()
  await change.getByText('history.count.transfers').nth(1).waitFor()
  assert.match(
    await seenIn(change),
    /Denied\s+→\s+Allowed\s+transfer\.bank\s+ann[\s\S]*As it was decided[\s\S]*greaterThan 2\s*— is 3[\s\S]*By the draft[\s\S]*greaterThan 3\s*— is 3/,
  )
  await assertSound(opened)
  // The matrix chooses among the changes; the address keeps the choice, and the result.
  await page.locator('.matrix button').click()
  await page.getByText('Denied → Allowed', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('Denied → Allowed', { exact: true }).waitFor()
  assert.equal(await page.locator('.replay-changes details').count(), 2)
  assert.deepEqual([...(await addressOf(page)).searchParams.keys()], ['id', 'from', 'to'])
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByText('Denied → Allowed', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Record in the trail' }).click()
  const told = await page.getByText(/^The trail tells of this result: entry aud_/).textContent()
  const [entry] = (await gate.call(auditor, 'GET', '/audit/chain?eventType=policy.replayed')).body.data
  assert.deepEqual([told?.includes(entry.id), entry.data.changed], [true, 2])
  await assertSound(opened)
})

test('on a phone, a draft with faults says so, and hostile texts stay texts', async () => {
  const hostile = MORE.replace('reason: Above 100.', `reason: '${HOSTILE}'`).replace('value: 100}', 'value: 15}')
  for (const [text, title] of [
    [inForce.replace('effect: allow', 'effect: alow'), 'The draft has faults, so it decides nothing'],
    [hostile, /requests change/],
  ] as const) {
    const files = [{ name: 'main.yaml', text }]
    const { id } = (await gate.call(auditor, 'POST', '/policies/replay', { files })).body.data
    const opened = await openConsole(browser, gate, auditor, `policies/replay?id=${id}`, PHONE)
    await opened.page.getByRole('heading', { name: title }).waitFor()
    const first = opened.page.locator('.replay-changes summary').first()
    if (title instanceof RegExp) {
      await first.click()
      await opened.page.getByText(HOSTILE).first().waitFor()
    }
    assert.equal(await opened.page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    await assertSound(opened)
  }
})

/** A service whose replays wait. */
async function waiting(t: Parameters<typeof startGate>[0]): Promise<Gate> {
  const { inThisThread } = await import('../helpers.ts')
  const openDraft = (_: unknown, signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  return startGate(t, { policies, threads: { ...inThisThread, openDraft } })
}

test('a replay under way says so, and is cancelled; one that is gone is told', async (t) => {
  const held = await waiting(t)
  const key = await held.key({ roles: ['auditor'] })
  const files = [{ name: 'main.yaml', text: inForce }]
  const { id } = (await held.call(key, 'POST', '/policies/replay', { files })).body.data
  const opened = await openConsole(browser, held, key, 'policies')
  // Longer than the interval of the looks, none of which may abort the one before.
  await opened.page.route('**/policies/replay/*', async (route) => {
    await sleep(1000)
    await route.continue()
  })
  await opened.page.goto(`${held.server.url}/console/policies/replay?id=${id}`)
  await opened.page.getByRole('progressbar').waitFor()
  await assertSound(opened)
  await opened.page.unrouteAll({ behavior: 'wait' })
  await opened.page.getByRole('button', { name: 'Cancel' }).click()
  await opened.page.getByText('The result appears here.').waitFor()
  assert.equal((await held.call(key, 'GET', `/policies/replay/${id}`)).status, 404)
  await opened.page.goto(`${held.server.url}/console/policies/replay?id=${id}`)
  await opened.page.getByText('There is no such replay here').waitFor()
})
