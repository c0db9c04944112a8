import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { approvalOf, ask, heldPolicies, people } from './approvals-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { addressOf, openConsole } from './support.ts'

const WIDE = { viewport: { width: 1280, height: 800 } }

const gate = await startGate({ after }, { policies: heldPolicies('follow', 'advance', 'hidden', 'back', 'any') })

/** Several approvals that differ in their amount, and the list of them. */
async function listOf(tenant: string, count: number) {
  const { ann, bot } = await people(gate, tenant)
  const ids: string[] = []
  for (let amount = 1; amount <= count; amount += 1) ids.push(await ask(gate, bot, 'payment.transfer', { amount }))
  const { page } = await openConsole(browser, gate, ann, 'approvals', WIDE)
  await page
    .locator('.inbox-row')
    .nth(count - 1)
    .waitFor()
  return { ann, page, ids }
}

const dialogOf = (page: Page) => page.getByRole('dialog')
const amountIn = async (text: Promise<string>): Promise<number[]> =>
  [...(await text).matchAll(/amount:?\s+(\d+)/g)].map(([, amount]) => Number(amount))
/** The amounts that the open approval and the dialog show. */
const inPane = (page: Page) =>
  amountIn(seenIn(page.locator('.beside .json-tree, .beside [aria-label="Arguments"], .beside .card').first()))
const inDialog = async (page: Page) => {
  await dialogOf(page)
    .getByText(/amount/)
    .first()
    .waitFor()
  return amountIn(seenIn(dialogOf(page)))
}

test('what is open beside the list follows the keys, and a key asks about what is open', async () => {
  const { page } = await listOf('follow', 4)
  const { keyboard } = page
  for (const key of ['j', 'Enter', 'j', 'j', 'a']) await keyboard.press(key)
  const asked = await inDialog(page)
  assert.deepEqual(asked, [3])
  await keyboard.press('Escape')
  await page.locator('.beside').getByRole('heading', { name: 'Arguments' }).waitFor()
  assert.deepEqual(await inPane(page), asked)
  // The focus on another row changes nothing of what is read.
  await page.locator('.inbox-row').first().getByRole('link').focus()
  await keyboard.press('r')
  assert.deepEqual(await inDialog(page), asked)
})

test('after a vote the next one is open, and the keys are about that', async () => {
  const { page, ids, ann } = await listOf('advance', 3)
  await page.keyboard.press('j')
  for (const [i, id] of ids.entries()) {
    await page.waitForURL(`**/approvals/${id}`)
    await page.keyboard.press('a')
    assert.deepEqual(await inDialog(page), [i + 1])
    await page.keyboard.press('Control+Enter')
    await page.locator(`[data-id=${id}]`).waitFor({ state: 'detached' })
    assert.equal((await approvalOf(gate, ann, id)).status, 'approved')
  }
  // The last one stays open, with what became of it.
  await page.locator('.beside').getByText('Approved', { exact: true }).waitFor()
})

test('what is selected and hidden by a filter is left out, and said to be', async () => {
  const { page, ids, ann } = await listOf('hidden', 3)
  const { bot } = await people(gate, 'hidden')
  const mail = await ask(gate, bot, 'email.send', { amount: 9 })
  await page.locator(`[data-id=${mail}]`).waitFor()
  await page.getByLabel('Select all 4 shown').check()
  await page.getByLabel('Action begins with').fill('email.')
  await page.getByText('1 selected, 3 not shown and not included').waitFor()
  await page.locator('h1').focus()
  await page.keyboard.press('r')
  assert.deepEqual(await inDialog(page), [9])
  await page.getByLabel('Reason').fill('no')
  await page.keyboard.press('Control+Enter')
  await page.getByText('No approvals match.').waitFor()
  await page.getByLabel('Action begins with').fill('')
  await page.getByText('3 selected').waitFor()
  assert.equal((await approvalOf(gate, ann, mail)).status, 'rejected')
  for (const id of ids) assert.equal((await approvalOf(gate, ann, id)).status, 'pending')
})

test('a question goes with what it was about', async () => {
  const { page, ids } = await listOf('back', 2)
  await page.locator(`[data-id=${ids[0]}] a`).click()
  await page.locator(`[data-id=${ids[1]}] a`).click()
  await page.waitForURL(`**/approvals/${ids[1]}`)
  await page.getByRole('button', { name: 'Approve…' }).click()
  await dialogOf(page).waitFor()
  await page.evaluate('history.back()')
  await page.waitForURL(`**/approvals/${ids[0]}`)
  await dialogOf(page).waitFor({ state: 'detached' })
  await page.evaluate('history.forward()')
  await page.waitForURL(`**/approvals/${ids[1]}`)
  await page.locator('.beside').getByRole('heading', { name: 'Arguments' }).waitFor()
  assert.equal(await dialogOf(page).count(), 0)
})

const KEYS = [
  'j',
  'j',
  'k',
  'x',
  'Enter',
  'Escape',
  'Tab',
  'ArrowDown',
  'focus a row',
  'click a row',
  'open and back',
] as const

test('whatever was pressed and clicked before, a question names what is open, or all of the selection that it is in', async () => {
  const { page } = await listOf('any', 4)
  const { keyboard } = page
  const press = async (key: (typeof KEYS)[number], at: number): Promise<void> => {
    const row = page.locator('.inbox-row').nth(at)
    if (key === 'focus a row') await row.getByRole('link').focus()
    else if (key === 'click a row') await row.getByRole('link').click()
    else if (key === 'open and back') {
      await row.getByRole('link').click()
      await page.goBack()
    } else await keyboard.press(key)
  }
  const selectedOf = () => page.locator('.inbox-row.selected .argument-line').allInnerTexts()
  const openIn = async (): Promise<number | undefined> => {
    if (!/approvals\/apr_/.test((await addressOf(page)).pathname)) return undefined
    await page.locator('.beside').getByRole('heading', { name: 'Arguments' }).waitFor()
    return (await inPane(page))[0]
  }
  /** A key may have asked already: Enter, where Tab had led to a button. */
  const cancel = async (): Promise<void> => {
    if ((await dialogOf(page).count()) === 0) return
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
  }
  const run = async (keys: [(typeof KEYS)[number], number][], vote: 'a' | 'r'): Promise<void> => {
    for (const [key, at] of keys) {
      await press(key, at)
      await cancel()
    }
    const before = await openIn()
    await keyboard.press(vote)
    const asked = (await inDialog(page)).sort()
    const selected = (await amountIn(Promise.resolve((await selectedOf()).join('\n')))).sort()
    await cancel()
    const open = await openIn()
    if (asked.length === 1) assert.deepEqual(asked, [open])
    else assert.deepEqual(asked, selected)
    if (before !== undefined) assert.equal(asked.includes(before), true, `${asked} without ${before}`)
  }
  // From here on there is a row of the keyboard, and so always something to ask about.
  await keyboard.press('j')
  const keys = fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.nat(3)), { minLength: 1, maxLength: 6 })
  await fc.assert(fc.asyncProperty(keys, fc.constantFrom('a' as const, 'r' as const), run), {
    numRuns: 25,
    endOnFailure: true,
  })
})
