import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { ask, heldPolicies, people } from './approvals-support.ts'
import { browser } from './shared-browser.ts'
import { openConsole, untilTitled } from './support.ts'

const AGENTS = 5
/** Approvals of each agent: fewer than it may have pending. */
const EACH = 100
const MANY = AGENTS * EACH
/** So many rows are drawn at first. */
const SHOWN = 50
/** Most changes of the document by a key: not one for each row. */
const FEW = 20

const gate = await startGate({ after }, { policies: heldPolicies('many') })

/** Changes of the document by what `act` does, until it and the frame after are drawn. */
function changesBy(page: Page, act: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    let changes = 0
    const observer = new MutationObserver((records) => { changes += records.length })
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
    ${act}
    requestAnimationFrame(() => requestAnimationFrame(() => { observer.disconnect(); resolve(changes) }))
  })`)
}

test('with 500 pending, 50 are drawn, a key changes a few of them, and what is not drawn can be', async () => {
  const { ann, bot } = await people(gate, 'many')
  for (let n = 0; n < AGENTS; n += 1) {
    const agent = await gate.key({ tenant: 'many', roles: ['agent'] })
    const amounts = Array.from({ length: EACH }, (_, i) => (n * EACH + i) * 10)
    await Promise.all(amounts.map((amount) => ask(gate, agent, 'payment.transfer', { amount, note: 'x'.repeat(200) })))
  }
  const { page, faults } = await openConsole(browser, gate, ann, 'policies', { viewport: { width: 1280, height: 800 } })
  await until('all are known', async () => (await page.title()).startsWith(`(${MANY}) `))
  await page.getByRole('link', { name: /^Approvals/ }).click()
  await page.getByText(`${SHOWN} shown of ${MANY}.`).waitFor()
  const rows = page.locator('.inbox-row')
  assert.equal(await rows.count(), SHOWN)
  // Ages that change at that moment would count: a minute does so in each row.
  await page.clock.setFixedTime(new Date())
  const byKeys: number[] = []
  for (const key of ['j', 'j', 'x', 'j', 'k'])
    byKeys.push(await changesBy(page, `dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`))
  assert.ok(Math.max(...byKeys) < FEW && Math.max(...byKeys) > 0, byKeys.join())
  const byLetters: number[] = []
  for (const text of ['p', 'pe', 'per'])
    byLetters.push(
      await changesBy(
        page,
        `const input = document.querySelector('input[type=search]')
        input.value = '${text}'
        input.dispatchEvent(new InputEvent('input', { bubbles: true }))`,
      ),
    )
  // Together: on a busy machine, what one letter changes is drawn while the next is typed.
  const changes = byLetters.reduce((sum, one) => sum + one)
  assert.ok(changes < 2 * SHOWN * byLetters.length && changes > 0, byLetters.join())
  await page.getByLabel('Search').fill('')
  // By the keyboard: rows that come into view take their own heights, and a button that moves under the mouse loses a click.
  await page.getByRole('button', { name: 'Show 50 more' }).press('Enter')
  await rows.nth(2 * SHOWN - 1).waitFor()
  assert.equal(await rows.count(), 2 * SHOWN)

  await ask(gate, bot, 'payment.transfer', { amount: 9800 })
  await page.getByRole('status').getByText('1 new').waitFor()
  await untilTitled(page, `(${MANY + 1}) Approvals`)
  assert.deepEqual(faults, [])
})

test('many events make no requests', async () => {
  const { ann, bot, mailer } = await people(gate, 'many')
  const { page } = await openConsole(browser, gate, ann, 'approvals', { viewport: { width: 1280, height: 800 } })
  await page.locator('.inbox-row').first().waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  const before = Number(await until('they are counted', async () => /\d+/.exec(await page.title())?.[0]))
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => ask(gate, i % 2 ? bot : mailer, 'email.send', { to: `a${i}` })),
  )
  await until('all came', async () => (await page.title()).startsWith(`(${before + 40}) `))
  assert.deepEqual(
    asked.filter((url) => url.includes('/approvals')),
    [],
  )
})
