import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { KEYS, type Key, made, press, rowOf, secretIn, works } from './settings-support.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole, REFUSED } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

const gate = await startGate(
  { after },
  { policies: Object.fromEntries(['acme', 'hostile', 'poor'].map((id) => [`${id}/.keep`, ''])) },
)

test('who approves without an identity is warned, and the groups of other keys are offered', async () => {
  const owner = await gate.key({ tenant: 'poor' })
  await made(gate, owner, { name: 'other', groups: ['finance', 'ops'] })
  const opened = await openConsole(browser, gate, owner, KEYS)
  const { page } = opened
  await rowOf(page, 'other').getByText(/^by /).waitFor()
  const { height = 0 } = (await rowOf(page, 'other').locator('.id code').boundingBox()) ?? {}
  assert.equal(height < 24, true, 'an id is on one line')
  await press(page, 'Create new key')
  await page.getByLabel(/^approver/).check()
  await page.getByText('Approvers would be unknown.').waitFor()
  await assertSound(opened)
  await page.getByLabel('Identity (optional)').fill('ann')
  await page.getByText('Approvers would be unknown.').waitFor({ state: 'detached' })
  const offered = () =>
    page.locator('datalist option').evaluateAll((all) => all.map((one) => one.getAttribute('value')))
  assert.deepEqual(await offered(), ['finance', 'ops'])
  await page.getByLabel('Groups (optional)').fill('ops, f')
  assert.deepEqual(await offered(), ['ops, finance'])
  await page.getByLabel('Groups (optional)').fill('ops, finance')
  await press(page, 'Create key')
  await page.getByText('Store the secret now').waitFor()
})

test('what the service refuses in a key is said at its field, and what was entered stays', async () => {
  const owner = await gate.key()
  const opened = await openConsole(browser, gate, owner, KEYS, PHONE)
  const { page } = opened
  await press(page, 'Create new key')
  await page.getByLabel('Name').fill('mine')
  await page.getByLabel(/^agent/).check()
  await page.getByLabel('Identity').fill(owner.id)
  await press(page, 'Create key')
  await page.getByText('It must not have the form of a key id.').waitFor()
  await page.waitForFunction('document.activeElement.value?.startsWith("key_")')
  await assertSound(opened, REFUSED)
  await page.getByLabel('Identity').fill('me')
  await page.getByLabel('Expires').selectOption('On a date…')
  await page.getByLabel('Last day').fill('2020-01-31')
  await press(page, 'Create key')
  await page.getByText('It must be a future time').waitFor()
  assert.equal(await page.getByLabel('Name').inputValue(), 'mine')
  await assertSound(opened, REFUSED)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
})

test('a refusal of no field is said in the dialog; a test key is offered test keys only', async () => {
  const owner = await gate.key({ environment: 'test' })
  const opened = await openConsole(browser, gate, owner, KEYS)
  const { page } = opened
  await press(page, 'Create new key')
  assert.deepEqual(await page.getByLabel('Environment').getByRole('option').allTextContents(), ['test'])
  await page.getByLabel(/^agent/).check()
  // As if the rights of the key had changed meanwhile.
  await page.route('**/keys', (route) => {
    const body = JSON.stringify({ ...JSON.parse(route.request().postData() ?? '{}'), environment: 'live' })
    return route.request().method() === 'POST' ? route.continue({ postData: body }) : route.continue()
  })
  await press(page, 'Create key')
  await page.getByRole('dialog').getByText('A test key manages test keys only.').waitFor()
  assert.equal(await page.getByText('may have been created anyway').count(), 0)
  await assertSound(opened, REFUSED)
})

test('a key whose answer is lost is said to be there perhaps, and is in the list without its secret', async () => {
  const owner = await gate.key()
  const opened = await openConsole(browser, gate, owner, KEYS)
  const { page } = opened
  await press(page, 'Create new key')
  await page.getByLabel('Name').fill('lost-answer')
  await page.getByLabel(/^agent/).check()
  await page.route('**/keys', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    return route.abort()
  })
  await press(page, 'Create key')
  await page.getByText('The key may have been created anyway.').waitFor()
  await assertSound(opened, REFUSED)
  assert.equal(await page.getByLabel('Name').inputValue(), 'lost-answer')
  await rowOf(page, 'lost-answer').waitFor()
  await page.unrouteAll()
  await page.context().setOffline(true)
  await press(page, 'Create key')
  await page.getByText('cannot be reached').first().waitFor()
  await page.context().setOffline(false)
  await press(page, 'Cancel')
  await page.getByText('cannot be reached').waitFor({ state: 'detached' })
  assert.equal(await rowOf(page, 'lost-answer').count(), 1)
})

test('a rotated key has a new secret, and the old one works until it is said to end', async () => {
  const owner = await gate.key()
  const old = await made(gate, owner, { name: 'turning' })
  const opened = await openConsole(browser, gate, owner, KEYS)
  const { page } = opened
  await press(rowOf(page, 'turning'), 'Rotate…')
  await assertSound(opened)
  await page.getByLabel('When the old secret ends').selectOption('In 1 hour')
  await press(page.getByRole('dialog'), 'Rotate')
  await page.getByText('The old secret works until').waitFor()
  await assertSound(opened)
  const secret = await secretIn(page)
  assert.notEqual(secret, old.secret)
  assert.deepEqual([await works(gate, old), await works(gate, { ...old, secret })], [true, true])
  await press(page, 'I have stored it')
  const replaced = rowOf(page, old.id)
  await replaced.getByText('replaced').waitFor()
  assert.equal(await replaced.getByRole('button', { name: 'Rotate…' }).count(), 0)
})

test('who replaces the key of the session at once is signed out, and keeps the new secret until it is stored', async () => {
  const owner = await gate.key({ identity: 'olga' })
  const opened = await openConsole(browser, gate, owner, KEYS)
  const { page } = opened
  await press(rowOf(page, 'this session'), 'Rotate…')
  await page.getByLabel('When the old secret ends').selectOption('Now')
  await page.getByText('You will be signed out at once.').waitFor()
  await assertSound(opened)
  await press(page.getByRole('dialog'), 'Rotate')
  await page.getByText('Sign in to gate-sidecar').waitFor({ state: 'attached' })
  await page.getByText('Store the secret now').waitFor()
  const secret = await secretIn(page)
  await assertSound(opened, REFUSED)
  assert.equal(await works(gate, owner), false)
  await press(page, 'I have stored it')
  await page.getByText('Your session has ended.').waitFor()
  await page.getByLabel('API key').fill(secret)
  await press(page, 'Sign in')
  await rowOf(page, 'this session').waitFor()
})

test('who revokes the key of the session is told before, and signed out', async () => {
  const owner = await gate.key({ identity: 'olga' })
  const opened = await openConsole(browser, gate, owner, KEYS)
  const { page } = opened
  await press(rowOf(page, 'this session'), 'Revoke…')
  await page.getByText('You are signed in with this key.').waitFor()
  await page.getByLabel('To confirm').fill(owner.id.slice(-6))
  await assertSound(opened)
  await press(page, 'Revoke key')
  await page.getByText('The key of your session is revoked, so you are signed out.').waitFor()
  await page.getByLabel('API key').waitFor()
  await assertSound(opened, REFUSED)
})

test('an auditor looks only, an operator sees the plan, and an approver nothing of it', async () => {
  // A single part needs no tabs.
  const tabs = { auditor: ['API Keys', 'Plan and usage'], operator: [], approver: [] } as const
  for (const role of ['auditor', 'operator', 'approver'] as const) {
    const opened = await openConsole(browser, gate, await gate.key({ roles: [role] }), 'settings')
    const { page } = opened
    if (role === 'approver') await page.getByText('Your key may not see Settings.').waitFor()
    else await page.getByRole('heading', { level: 2, name: role === 'auditor' ? 'API Keys' : 'Plan' }).waitFor()
    assert.deepEqual(await page.locator('.tabs a').allTextContents(), tabs[role])
    const buttons = page.locator('main').getByRole('button', { name: /Create|Rotate|Revoke/ })
    assert.equal(await buttons.count(), 0, role)
    await assertSound(opened)
  }
})

/** The status of a request that counts against the plan of the tenant. */
const askedOf = async (owner: Key) =>
  (
    await gate.call(owner, 'POST', '/gate/risk', {
      tenantId: 'poor',
      action: 'payment.transfer',
      context: { amount: 1 },
    })
  ).status

/** Whether the page asks the service for this path: its own address may end the same. */
const isRequestTo =
  (path: string) =>
  ({ pathname }: URL): boolean =>
    pathname.endsWith(path) && !pathname.startsWith('/console/')

/** Uses the plan up before each request of the page to this path: a request comes back each second, for which a busy page is too slow. */
async function useUpBefore(page: Page, path: string, owner: Key): Promise<void> {
  await page.route(isRequestTo(path), async (route) => {
    while ((await askedOf(owner)) !== 429);
    await route.continue()
  })
}

test('what is left of a plan is shown as it is used', async () => {
  const owner = await gate.key({ tenant: 'poor' })
  const deps = { store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
  await setPlan(deps, { kind: 'host', id: 'host:0' }, 'poor', 'free')
  const opened = await openConsole(browser, gate, owner, 'settings/usage')
  const { page } = opened
  await page.getByText('60 per minute').waitFor()
  await page.getByText(/^\d active, 0 ended \(live\)$/).waitFor()
  await useUpBefore(page, '/usage', owner)
  await until('the plan used up', async () => (await askedOf(owner)) === 429)
  await page.getByText(/^[0-5] of 60 left now$/).waitFor()
  await page.getByText('Stopping, recovering, approving').waitFor()
  await until('the plan is used up when the page looks', async () => {
    await page.reload()
    await page.getByText('60 per minute').waitFor()
    return page.getByText('The plan is used up now.').isVisible()
  })
  await page.unrouteAll({ behavior: 'wait' })
  assert.equal(await page.getByText('0 of 60 left now').count(), 1)
  await assertSound(opened)
})

test('what comes back of a plan is said in whole seconds or requests', async () => {
  const owner = await gate.key()
  const { page } = await openConsole(browser, gate, owner, 'settings/usage')
  for (const [perMinute, said] of [
    [6, 'It refills by one request every 10 seconds.'],
    [60, 'It refills by one request every second.'],
    [600, 'It refills by 10 requests every second.'],
  ] as const) {
    await page.route(isRequestTo('/usage'), async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      Object.assign(json.data, { requestsPerMinute: perMinute, remaining: 0 })
      await route.fulfill({ response, json })
    })
    await page.reload()
    await page.getByText(said).waitFor()
  }
})

test('what counts against a plan that is used up is refused where it was asked for, and can be asked for again', async () => {
  const owner = await gate.key({ tenant: 'poor' })
  const opened = await openConsole(browser, gate, owner, 'audit')
  const { page } = opened
  await page.locator('.entries').waitFor()
  await useUpBefore(page, '/audit/verify', owner)
  await until('the service refuses', async () => {
    await page.getByRole('button', { name: 'Verify', exact: true }).click()
    await page.locator('.failure, .verdict').first().waitFor()
    return page.locator('.failure').getByText('rate_limited').isVisible()
  })
  await page.unrouteAll({ behavior: 'wait' })
  await assertSound(opened, REFUSED)
})

test('a key that somebody else revokes does not go on to be listed as one that works', async () => {
  const owner = await gate.key({ tenant: 'acme' })
  const { id } = await made(gate, owner, { name: 'leaked' })
  const { page } = await openConsole(browser, gate, owner, KEYS)
  await rowOf(page, 'leaked').waitFor()
  await gate.call(owner, 'DELETE', `/keys/${id}`)
  await rowOf(page, 'leaked').waitFor({ state: 'detached' })
})
