import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { HOSTILE, KEYS, made, press, rowOf, SECRET, secretIn, works } from './settings-support.ts'
import { browser } from './shared-browser.ts'
import { addressOf, assertSound, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
const gate = await startGate({ after }, { policies: { 'acme/.keep': '', 'hostile/.keep': '' } })

test('an owner makes a key, whose secret is shown once, asked about before it is lost, and nowhere afterwards', async () => {
  const owner = await gate.key({ identity: 'olga' })
  const opened = await openConsole(browser, gate, owner, 'settings')
  const { page } = opened
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await rowOf(page, 'this session').waitFor()
  await assertSound(opened)
  await press(page, 'Create new key')
  await page.getByLabel('Name').fill('night-batch')
  await press(page, 'Create key')
  await page.getByText('Choose at least one.').waitFor()
  await page.getByLabel(/^owner/).check()
  await page.getByText('An owner can do everything here').waitFor()
  await assertSound(opened)
  await page.getByLabel(/^owner/).uncheck()
  await page.getByLabel(/^agent/).check()
  await page.getByLabel('Identity').fill('batch')
  await page.getByLabel('Groups').fill('finance,  ops, finance')
  await page.getByLabel('Expires').selectOption('In 30 days')
  await press(page, 'Create key')
  await page.getByText('Store the secret now').waitFor()
  const secret = await secretIn(page)
  assert.equal(await works(gate, { id: '', secret, tenant: 'acme' }), true)
  await press(page, 'Copy: For the environment')
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), `GATE_SIDECAR_KEY=${secret}`)
  // A browser closes a dialog at the second Esc, whatever it is told.
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  await page.getByText('Close without having stored it?').waitFor()
  assert.equal(await secretIn(page), secret)
  await assertSound(opened)
  const asked = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  assert.equal((await asked).type(), 'beforeunload')
  await (await asked).dismiss()
  await press(page, 'Back to the secret')
  await press(page, 'I have stored it')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const kept =
    'JSON.stringify([document.documentElement.outerHTML, location.href, {...localStorage}, {...sessionStorage}])'
  assert.doesNotMatch(await page.evaluate<string>(kept), SECRET)
  const row = rowOf(page, 'night-batch')
  assert.match((await row.textContent()) ?? '', /agent.*batch.*finance, ops.*active.*until.*by olga/)
  await assertSound(opened)
})

test('a key is revoked by its name or the end of its id, and then listed among the ended', async () => {
  const owner = await gate.key()
  const key = await made(gate, owner, { name: 'to-end' })
  const opened = await openConsole(browser, gate, owner, KEYS)
  const { page } = opened
  await press(rowOf(page, 'to-end'), 'Revoke…')
  await page.getByLabel('To confirm').fill('to-en')
  await press(page, 'Revoke key')
  await page.getByText('It does not match.').waitFor()
  await assertSound(opened)
  assert.equal(await works(gate, key), true)
  await page.getByLabel('To confirm').fill(key.id.slice(-6))
  await press(page, 'Revoke key')
  await rowOf(page, 'to-end').waitFor({ state: 'detached' })
  assert.equal(await works(gate, key), false)
  await page.getByLabel('State').selectOption({ label: 'Ended (1)' })
  await rowOf(page, 'to-end').getByText('revoked').waitFor()
  await page.getByLabel('Search').fill('nothing like it')
  await page.getByText('No keys match.').waitFor()
  assert.match((await addressOf(page)).href, /\?state=ended&q=nothing\+like\+it$/)
  await page.reload()
  await page.getByText('No keys match.').waitFor()
  await assertSound(opened)
})

test('hostile names, identities and groups are text, and such a key is revoked by its id', async () => {
  const owner = await gate.key({ tenant: 'hostile' })
  const key = await made(gate, owner, { name: HOSTILE, identity: HOSTILE, groups: [HOSTILE] })
  const opened = await openConsole(browser, gate, owner, KEYS, PHONE)
  const { page } = opened
  const row = rowOf(page, key.id)
  await row.getByText('U+202E').first().waitFor()
  await assertSound(opened)
  await press(row, 'Revoke…')
  const words = page.getByRole('dialog').locator('.phrase')
  assert.deepEqual(await words.allTextContents(), [key.id.slice(-6)])
  assert.equal(await page.locator('main img, main script, dialog img, dialog script').count(), 0)
  assert.match(await page.title(), /^API Keys/)
  await assertSound(opened)
  await page.getByLabel('To confirm').fill(key.id.slice(-6))
  await press(page, 'Revoke key')
  // The toast too.
  await page.getByText('Revoked:').getByText('U+202E').waitFor()
  await row.waitFor({ state: 'detached' })
})
