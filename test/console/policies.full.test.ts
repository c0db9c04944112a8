import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ACME_POLICY, startGate, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { focused } from './focused.ts'
import { HOSTILE, marksOf, section, UNDER } from './policy-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
const HEADER = 'apiVersion: gate-sidecar/v1\ntenant: '
/** Files of a tenant that has several, with a list, a long file and a text that wants to be something else. */
const SEVERAL = {
  'a.yaml': `${HEADER}several
lists: {bad: {file: lists/bad.txt}}
rules:
  - {id: bad, actions: ["mail.*"], effect: deny, reason: B., when: {fact: agent, operator: inList, value: bad}}
  - {id: held, actions: ["mail.*"], effect: require_approval, reason: '${HOSTILE}', when: {fact: context.to, operator: exists}}
`,
  'b.yaml': `${HEADER}several\n${'# a line of many\n'.repeat(20_000)}# ${HOSTILE}\n# ${'wide '.repeat(30_000)}\n`,
  'lists/bad.txt': 'eve\n',
}

const policyOf = (tenant: string): string => ACME_POLICY.replace('tenant: acme', `tenant: ${tenant}`)
const gate = await startGate(
  { after },
  {
    watch: 'off',
    policies: {
      'acme/main.yaml': ACME_POLICY,
      'live/main.yaml': policyOf('live'),
      ...Object.fromEntries(Object.entries(SEVERAL).map(([name, text]) => [`several/${name}`, text])),
    },
  },
)
const owner = await gate.key({ identity: 'olga' })
const auditor = await gate.key({ roles: ['auditor'] })
const several = await gate.key({ tenant: 'several' })

const write = (tenant: string, files: Record<string, string>): void =>
  writeFiles(join(gate.dir, 'policies', tenant), files)

test('the source is shown at the line of the address, text as text, and a long one in parts', async () => {
  const opened = await openConsole(browser, gate, several, 'policies/source?file=several%2Fa.yaml&line=6')
  const { page } = opened
  const here = page.locator('.code-line.here')
  assert.match(await seenIn(here), /^6\s+- \{id: held.*"><img src=x onerror=alert\(1\)>/)
  assert.match(await seenIn(page.getByRole('region', { name: 'Lists' })), /lists\/bad\.txt\s*4 bytes/)
  await assertSound(opened)
  await page.getByRole('link', { name: 'b.yaml' }).click()
  await page.getByText('Lines 1 to 1,000 of 20,005').first().waitFor()
  assert.equal(await page.locator('.code-line').count(), 1000)
  await page.getByLabel('Line', { exact: true }).fill('20003')
  await page.getByLabel('Line', { exact: true }).press('Enter')
  await page.waitForURL('**/policies/source?file=b.yaml&line=20003')
  assert.equal((await focused(page)).trim(), 'Line')
  assert.equal((await seenIn(here)).replace(/\s+/g, ' '), `20003 # ${HOSTILE}`)
  assert.equal(await page.locator('.code-line').count(), 5)
  assert.match(await seenIn(page.locator('.code-line').nth(3)), /more characters Show them/)
  await page.getByRole('button', { name: 'Earlier lines' }).first().click()
  await page.getByText('Lines 19,001 to 20,000').first().waitFor()
  await page.goto(`${gate.server.url}/console/policies/source?file=a.yaml&line=77`)
  await page.getByText('There is no line 77').waitFor()
  await page.goto(`${gate.server.url}/console/policies/source?file=a.yaml&line=6&digest=sha256%3Aold`)
  await page.getByText('belongs to other policies').waitFor()
  await assertSound(opened)
  await page.goto(`${gate.server.url}/console/policies/source?file=c.yaml`)
  await page.getByText('There is no such file').waitFor()
  await page.goto(`${gate.server.url}/console/policies`)
  await page.getByRole('link', { name: 'a.yaml' }).click()
  await page.waitForURL('**/policies/source?file=a.yaml')
})

test('what is pressed keeps the focus, and what goes away with it gives it to its heading', async () => {
  const { page } = await openConsole(browser, gate, several, 'policies/source?file=b.yaml')
  const later = page.getByRole('button', { name: 'Later lines' }).first()
  for (const lines of ['1,001 to 2,000', '2,001 to 3,000']) {
    await later.press('Enter')
    await page.getByText(`Lines ${lines}`).first().waitFor()
    assert.equal(await focused(page), 'Later lines')
  }
  await page.goto(`${gate.server.url}/console/policies/source?file=b.yaml&line=20003`)
  await page.getByText('Lines 20,001 to').first().waitFor()
  await later.press('Enter')
  assert.equal(await focused(page), 'Later lines', 'at the last part')
  await page.getByRole('button', { name: 'Reload' }).press('Enter')
  const close = page.locator('.reloaded').getByRole('button', { name: 'Close' })
  await close.waitFor()
  assert.equal(await focused(page), 'Reload')
  await close.press('Enter')
  await until('the focus at a heading', async () => (await page.evaluate('document.activeElement.tagName')) === 'H2')
})

test('what leads to a line is high enough for a finger', async () => {
  const { page } = await openConsole(browser, gate, owner, 'policies/dry-run', PHONE)
  await page.getByLabel('Action', { exact: true }).fill('payment.transfer')
  await page.getByLabel('Context (JSON)').fill('{"amount": 5}')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  const links = page.locator('.policy-place a')
  await links.first().waitFor()
  for (const link of await links.all()) assert.equal(((await link.boundingBox())?.height ?? 0) >= 24, true)
})

const FAULTY: readonly (readonly [name: string, line: string, before: string])[] = [
  ['plain', '  - {id: p, actions: ["mail.*"], efect: allow, reason: R.}', '  - {id: p, actions: ["mail.*"], '],
  [
    'wide and hidden characters',
    '  - {id: w, actions: ["mail.*"], reason: "日本語 \u200b\u202eevil 🙂", efect: allow}',
    '  - {id: w, actions: ["mail.*"], reason: "日本語 U+200BU+202Eevil 🙂", ',
  ],
]

test('faults are told loudly, with the line and a mark under what is wrong', async () => {
  write('acme', {
    'faulty.yaml': `${HEADER}acme\nrules:\n${FAULTY.map(([, line]) => line).join('\n')}\n  - {id: l, actions: ["mail.*"], reason: "${'x'.repeat(5000)}", efect: allow}\n`,
  })
  await gate.call(owner, 'POST', '/policies/reload')
  const opened = await openConsole(browser, gate, auditor, 'policies')
  const { page } = opened
  const card = page.getByRole('alert')
  assert.match(
    await seenIn(card),
    /^The newest files are not in force\s+The previous policies still decide\. Fix \d faults/,
  )
  const unknown = card.locator('.diagnostics > li', { hasText: 'There is no key "efect" here.' })
  assert.match(await seenIn(unknown.first()), /error\s+GATE1101\s+faulty\.yaml:4:34\s[\s\S]*Did you mean effect\?/)
  for (const [i, [name, , before]] of FAULTY.entries())
    assert.deepEqual(await marksOf(unknown.nth(i).locator('.excerpt')), { before, marked: 'efect', ...UNDER }, name)
  const { before, ...long } = await marksOf(unknown.nth(2).locator('.excerpt'))
  assert.deepEqual(long, { marked: 'efect', ...UNDER })
  assert.match(before ?? '', /^…x{100,400}", $/)
  await assertSound(opened)
  await page.getByRole('link', { name: 'Dry run' }).click()
  await page.getByText('This page shows and uses the previous policies.').waitFor()
  await page.setViewportSize(PHONE.viewport)
  await page.getByRole('link', { name: 'See why' }).click()
  await card.waitFor()
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  await assertSound(opened)
  write('acme', { 'faulty.yaml': `${HEADER}acme\n` })
  await gate.call(owner, 'POST', '/policies/reload')
})

test('a reload says what came of it, and others see it at once', async () => {
  const key = await gate.key({ tenant: 'live' })
  const opened = await openConsole(browser, gate, key, 'policies')
  const { page } = opened
  const { page: other } = await openConsole(browser, gate, key, 'policies')
  await section(other, 'In force').getByText('current').waitFor()
  write('live', { 'main.yaml': policyOf('live').replace('weight: 30', 'weight: 300') })
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('but do not come into force: the previous policies still decide.').waitFor()
  await other.getByText('The newest files are not in force').waitFor()
  await assertSound(opened)
  write('live', { 'main.yaml': policyOf('live').replace('weight: 30', 'weight: 31') })
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('The files were read and are in force').waitFor()
  await other.getByText('The newest files are not in force').waitFor({ state: 'detached' })
  await assertSound(opened)
  const inTest = await gate.key({ tenant: 'live', environment: 'test' })
  const { page: refused } = await openConsole(browser, gate, inTest, 'policies')
  await refused.getByRole('button', { name: 'Reload' }).click()
  await refused.getByRole('alert').getByText('forbidden').waitFor()
})
