import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { ask, heldPolicies, people } from './approvals-support.ts'
import { browser } from './shared-browser.ts'
import { openConsole } from './support.ts'

const MANY = 500
/** So many rows are drawn at first. */
const SHOWN = 50
/** What a person takes for at once. Machines that are busy with other tests get more. */
const AT_ONCE_MS = 100
const SLACK = 5

const gate = await startGate({ after }, { policies: heldPolicies('many') })

/** Milliseconds until what `act` does is drawn: until `isDone`, and the frame after. */
async function drawnMs(page: Page, act: string, isDone = 'true'): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const startMs = performance.now()
    const look = () => (${isDone}) ? setTimeout(() => resolve(performance.now() - startMs)) : requestAnimationFrame(look)
    ${act}
    requestAnimationFrame(look)
  })`)
}

const rowsDrawn = (count: number): string => `document.querySelectorAll('.inbox-row').length === ${count}`

/** As `drawnMs` of the list, from another page. */
async function leaveAndOpen(page: Page, open: string): Promise<number> {
  await page.getByRole('link', { name: 'Policies' }).click()
  await page.locator('.inbox-row').first().waitFor({ state: 'detached' })
  return drawnMs(page, open, rowsDrawn(SHOWN))
}

test('with 500 pending the list is drawn, and a key answered, at once; what is not drawn can be', async (t) => {
  const { ann, bot } = await people(gate, 'many')
  for (let from = 0; from < MANY; from += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        ask(gate, bot, 'payment.transfer', { amount: (from + i) * 10, note: 'x'.repeat(200) }),
      ),
    )
  const { page, faults } = await openConsole(browser, gate, ann, 'policies', { viewport: { width: 1280, height: 800 } })
  await until('all are known', async () => (await page.title()).startsWith(`(${MANY}) `))
  // The script of the page is there; the list is not.
  await page.getByRole('link', { name: /^Approvals/ }).click()
  await page.locator('.inbox-row').first().waitFor()

  const open = `document.querySelector('.navigation a[href$="/approvals"]').click()`
  // The best of three, since other tests take their time of the machine too.
  const lists: number[] = []
  for (let i = 0; i < 3; i++) lists.push(await leaveAndOpen(page, open))
  const listMs = Math.min(...lists)
  await page.getByText(`${SHOWN} shown of ${MANY}.`).waitFor()
  const press = (key: string): string => `dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`
  const keyMs: number[] = []
  for (const key of ['j', 'j', 'x', 'j', 'k']) keyMs.push(await drawnMs(page, press(key)))
  const typedMs: number[] = []
  for (const text of ['p', 'pe', 'per', '']) {
    const type = `const input = document.querySelector('input[type=search]')
      input.value = '${text}'
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))`
    typedMs.push(await drawnMs(page, type))
  }
  const moreMs = await drawnMs(page, `document.querySelector('.inbox-count button').click()`, rowsDrawn(2 * SHOWN))
  t.diagnostic(`ms: list ${lists.join(' ')}, keys ${keyMs.join(' ')}, typing ${typedMs.join(' ')}, more ${moreMs}`)
  for (const ms of [listMs, moreMs, ...keyMs, ...typedMs]) assert.ok(ms < AT_ONCE_MS * SLACK, `${ms} ms`)

  await ask(gate, bot, 'payment.transfer', { amount: 9800 })
  await page.getByRole('status').getByText('1 new').waitFor()
  assert.equal(await page.title(), `(${MANY + 1}) Approvals · gate-sidecar`)
  assert.deepEqual(faults, [])
})

test('many events make no requests', async () => {
  const { ann, bot, mailer } = await people(gate, 'many')
  const { page } = await openConsole(browser, gate, ann, 'approvals', { viewport: { width: 1280, height: 800 } })
  await page.locator('.inbox-row').first().waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  const before = Number(/\d+/.exec(await page.title())?.[0])
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => ask(gate, i % 2 ? bot : mailer, 'email.send', { to: `a${i}` })),
  )
  await until('all came', async () => (await page.title()).startsWith(`(${before + 40}) `))
  assert.deepEqual(
    asked.filter((url) => url.includes('/approvals')),
    [],
  )
})
