import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { fill, red, stopsOf } from './killswitch-support.ts'
import { browser } from './shared-browser.ts'
import { navigation } from './sign-in-support.ts'
import { openConsole } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key({ roles: ['owner'], identity: 'olga' })

const SCRIPTS = '**/console/assets/*.js'
const reload = (page: Page) => page.locator('main').getByRole('button', { name: 'Reload the console' })
const drop = (page: Page, what: string) => page.route(what, (route) => route.abort())

async function stop(page: Page, action: string): Promise<void> {
  await page.getByRole('link', { name: 'Stop agents…' }).click()
  await fill(page, { 'Action or pattern': action, Reason: 'odd', 'To confirm': `stop ${action}` })
  await red(page).click()
  await page.getByText(`Stopped: L1 Action ${action}`).waitFor()
}

test('whoever is signed in stops agents without another script', async () => {
  const { page } = await openConsole(browser, gate, owner, 'settings')
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await drop(page, SCRIPTS)
  await stop(page, 'a.b')
  assert.deepEqual(await stopsOf(gate, owner), [['L1', 'a.b']])
})

test('a page whose script was dropped offers to load the console anew, once the service answers; nothing else is lost', async () => {
  const { page } = await openConsole(browser, gate, owner, 'kill-switch')
  await page.getByRole('heading', { level: 1, name: 'Kill switch' }).waitFor()
  await drop(page, SCRIPTS)
  const names = ['Overview', 'Approvals', 'Decisions', 'Audit', 'Policies', 'Settings']
  for (const name of names) {
    await navigation(page).getByRole('link', { name }).click()
    await page.getByText('This part of the console could not be loaded').waitFor()
    await reload(page).waitFor()
  }
  await drop(page, '**/console/@acme/**')
  await navigation(page).getByRole('link', { name: 'Decisions' }).click()
  await reload(page).click()
  await page.locator('main').getByText('Failed to fetch').waitFor()
  await stop(page, 'a.c')
  await page.unroute('**/console/@acme/**')
  await page.unroute(SCRIPTS)
  await navigation(page).getByRole('link', { name: 'Decisions' }).click()
  await reload(page).click()
  await page.getByLabel('Action or id').waitFor()
})

test('a verifier that was dropped is no verdict, and is loaded anew with the console', async () => {
  const { page } = await openConsole(browser, gate, owner, 'audit/verify-bundle')
  await page.getByRole('heading', { name: 'Verify a bundle' }).waitFor()
  await drop(page, '**/verify-*.js')
  await page.reload()
  await page.locator('input[type=file]').setInputFiles({
    name: 'bundle.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify({ bundleId: 'none' })),
  })
  await page.getByText('This part of the console could not be loaded').waitFor()
  assert.equal(await page.locator('.verdict').count(), 0)
  await page.unroute('**/verify-*.js')
  await reload(page).click()
  await reload(page).waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Verify a bundle' }).waitFor()
})

test('a page that fails on an answer leaves the red button where it is', async () => {
  const { page } = await openConsole(browser, gate, owner, 'kill-switch')
  await page.route('**/overview?*', (route) => route.fulfill({ json: { success: true, data: {} } }))
  await navigation(page).getByRole('link', { name: 'Overview' }).click()
  await page.getByText('The console failed:').waitFor()
  await reload(page).waitFor()
  await stop(page, 'a.d')
})
