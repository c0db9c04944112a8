import { after, test } from 'node:test'
import { startBrowser } from '../browser.ts'
import { startGate } from '../helpers.ts'
import { assertSound, openPage } from './support.ts'

const gate = await startGate({ after })
const browser = await startBrowser({ after })
const owner = await gate.key({ roles: ['owner'], identity: 'olga' })

test('a key signs in, and signs out again', async () => {
  const opened = await openPage(browser, gate, '/console/')
  const { page } = opened
  await assertSound(opened)
  await page.getByLabel('API key').fill(owner.secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.screenshot({ path: '/tmp/shell.png' })
  await assertSound(opened)
  await page.locator('.account summary').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
})
