import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ACME_POLICY, startGate } from '../helpers.ts'
import { askDryRun, section } from './policy-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
const gate = await startGate({ after }, { watch: 'off', policies: { 'acme/main.yaml': ACME_POLICY } })
const owner = await gate.key({ identity: 'olga' })
const auditor = await gate.key({ roles: ['auditor'] })

test('what is in force is told to all who may know, and no more than that to an approver', async () => {
  const opened = await openConsole(browser, gate, owner, 'policies')
  const { page } = opened
  const state = await seenIn(section(page, 'In force'))
  const { digest } = (await gate.call(owner, 'GET', '/policies')).body.data
  assert.match(state, new RegExp(`${digest}\\s+State\\s+current loaded (just now|\\d+ (s|min) ago)`))
  assert.match(
    state,
    /Rules\s+4\s+Risk factors\s+1\s+Files\s+main\.yaml\s+Domains\s+finance\s+communication\s+Actions\s+pay/,
  )
  assert.deepEqual(await page.locator('.tabs a').allInnerTexts(), [
    'In force',
    'Source',
    'Dry run',
    'Try on yesterday',
    'In shadow',
  ])
  assert.equal(await page.getByRole('button', { name: 'Reload' }).count(), 1)
  await assertSound(opened)
  for (const [role, tabs, mayReload] of [
    ['approver', 0, 0],
    ['auditor', 5, 0],
    ['operator', 3, 1],
  ] as const) {
    const other = await openConsole(browser, gate, await gate.key({ roles: [role] }), 'policies', PHONE)
    await section(other.page, 'In force').waitFor()
    assert.equal(await other.page.locator('.tabs a').count(), tabs, role)
    assert.equal(await other.page.getByRole('button', { name: 'Reload' }).count(), mayReload, role)
    if (role !== 'approver') continue
    await assertSound(other)
    await other.page.goto(`${gate.server.url}/console/policies/source`)
    await other.page.getByText('Your key may not see this.').waitFor()
  }
})

test('a dry run says what would be decided and why, and leads to the rule and back', async () => {
  const opened = await openConsole(browser, gate, auditor, 'policies/dry-run')
  const { page } = opened
  const result = page.locator('.result')
  await page.getByText('The result appears here.').waitFor()
  await assertSound(opened)
  for (const [context, decision, reason] of [
    ['{"amount": 5}', 'Allowed', 'Payments within limits.'],
    ['{"amount": 200000}', 'Denied', 'Too much.'],
    ['{"amount": 5000}', 'Needs approval', 'Large payments need a person.'],
  ] as const) {
    await askDryRun(page, 'payment.transfer', context)
    await result.getByText(reason).waitFor()
    assert.equal(await seenIn(result.locator('.badge')), decision)
  }
  const why = await seenIn(section(page, 'Why'))
  assert.match(why, /Decided by\s+approval rule large/)
  assert.match(why, /context\.amount greaterThan 1000\s*— is 5000/)
  assert.match(why, /amount\s+adds 15 of 30/)
  assert.equal(await seenIn(page.locator('.explained strong').first()), 'large')
  await assertSound(opened)
  await page.getByRole('link', { name: 'main.yaml:12' }).first().click()
  assert.match(await seenIn(page.locator('.code-line.here')), /^12\s+- \{id: large/)
  await page.goBack()
  assert.equal(await page.getByLabel('Context (JSON)').inputValue(), '{"amount": 5000}')
  await result.getByText('Large payments need a person.').waitFor()
  const { data } = (await gate.call(auditor, 'GET', '/decisions')).body
  assert.deepEqual(data.items, [])
})
