import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ACME_POLICY, startGate, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { focused } from './focused.ts'
import { askDryRun, HOSTILE, marksOf, section, UNDER } from './policy-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
const HEADER = 'apiVersion: gate-sidecar/v1\ntenant: '
const gate = await startGate(
  { after },
  {
    watch: 'off',
    policies: {
      'acme/main.yaml': ACME_POLICY,
      'several/a.yaml': `${HEADER}several
lists: {bad: {file: lists/bad.txt}}
rules:
  - {id: bad, actions: ["mail.*"], effect: deny, reason: B., when: {fact: agent, operator: inList, value: bad}}
  - {id: held, actions: ["mail.*"], effect: require_approval, reason: '${HOSTILE}', when: {fact: context.to, operator: exists}}
`,
      'several/b.yaml': `${HEADER}several\n`,
      'several/lists/bad.txt': 'eve\n',
    },
  },
)
const auditor = await gate.key({ roles: ['auditor'] })

test('what is not as declared is denied, and unknown facts are told', async () => {
  const opened = await openConsole(browser, gate, auditor, 'policies/dry-run', PHONE)
  const { page } = opened
  await askDryRun(page, 'payment.transfer', '{"amount": "much"}')
  await section(page, 'Why').waitFor()
  assert.match(await seenIn(section(page, 'Why')), /Decided by\s+invalid request[\s\S]*Request\s+does not fit/)
  await assertSound(opened)
  await askDryRun(page, 'payment.other', '')
  await page.getByText('Unknown facts').waitFor()
  assert.match(await seenIn(section(page, 'Why')), /lacks context\.amount[\s\S]*counts as holding/)
  await page.getByText('is missing').first().waitFor()
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  await assertSound(opened)
})

test('faulty JSON is told with its place before anything is sent', async () => {
  const opened = await openConsole(browser, gate, auditor, 'policies/dry-run')
  const { page } = opened
  const sent: string[] = []
  page.on('request', (request) => request.url().endsWith('/policies/dry-run') && sent.push(request.method()))
  await askDryRun(page, '', '{}')
  await page.getByText('An action is needed').waitFor()
  for (const [text, fault] of [
    ['{\n  "a": 1,\n  b: 2\n}', 'Line 3, column 3: a name in double quotes is expected.'],
    ['{"a": 1,}', 'Line 1, column 9: another item is expected after the comma.'],
    ['{"a": 1 "b": 2}', 'Line 1, column 9: a comma or } is expected.'],
    ['{"a": 1, "a": 2}', 'Line 1, column 10: this name appears twice.'],
    ['{"a": 12345678901234567890}', 'Line 1, column 7: this number is too large to be exact: write it as a string.'],
    ['{"a": 01}', 'Line 1, column 8: a comma or } is expected.'],
    ['{"a": "x\n"}', 'Line 1, column 7: this text has no closing quote on its line.'],
    ['{"a": "\\x"}', 'Line 1, column 7: this text has a wrong escape.'],
    ['{"a": tru}', 'Line 1, column 7: a value is expected.'],
    ['{} {}', 'Line 1, column 4: nothing may follow the value.'],
    ['{"a": 1e999}', 'Line 1, column 7: this number is too large.'],
    [`${'['.repeat(100_000)}`, 'Line 1, column 66: it is nested deeper than 64.'],
    ['[1]', 'This must be an object: { … }.'],
  ]) {
    await askDryRun(page, 'email.send', text ?? '')
    await page.getByText(fault ?? '', { exact: true }).waitFor()
  }
  await askDryRun(page, 'email.send', '{\n  "a": 1,\n  b: 2\n}')
  await page.getByText('Line 3, column 3').waitFor()
  await page.waitForFunction('document.activeElement.selectionStart === 14')
  await assertSound(opened)
  assert.deepEqual(sent, [])
  await askDryRun(page, 'email.send', '{"a": [1.5e3, -0.25, "\\u00e9\\n", {"b": null}], "c": false, "d": {}, "e": []}')
  await page.getByText('Mail is fine.').waitFor()
})

test('what the service refuses is told, and nothing that was typed is lost', async () => {
  const { page } = await openConsole(browser, gate, auditor, 'policies/dry-run')
  await askDryRun(page, 'not an action!', '{"a": 1}')
  await page.getByRole('alert').getByText('invalid_request').waitFor()
  await page.getByRole('alert').getByText('/action must match pattern').waitFor()
  await page.context().setOffline(true)
  await askDryRun(page, 'email.send', '{"a": 1}')
  await page.getByRole('alert').getByText('unreachable').waitFor()
  await page.context().setOffline(false)
  assert.equal(await page.getByLabel('Context (JSON)').inputValue(), '{"a": 1}')
  await page.getByLabel('Context (JSON)').press('Control+Enter')
  await page.getByText('Mail is fine.').waitFor()
})

test('a draft is asked in place of a file, its faults are marked, and nothing of it is saved', async () => {
  const opened = await openConsole(browser, gate, auditor, 'policies/dry-run')
  const { page } = opened
  await page.getByLabel('Use a draft instead of the policies in force').check()
  await page.waitForURL('**/policies/dry-run/draft')
  const draft = page.getByLabel('Text of the draft')
  await until('the text in force', async () => (await draft.inputValue()) === ACME_POLICY)
  await draft.fill(ACME_POLICY.replace('effect: deny', 'efect: deny'))
  await page.getByRole('link', { name: 'Source' }).click()
  await page.getByRole('link', { name: 'Dry run' }).click()
  assert.equal(await draft.inputValue(), ACME_POLICY.replace('effect: deny', 'efect: deny'))
  await askDryRun(page, 'payment.transfer', '{"amount": 5}')
  const faults = section(page, 'Faults of the draft')
  await faults.waitFor()
  const marks = await marksOf(faults.locator('.excerpt', { hasText: 'efect' }).first())
  assert.deepEqual(marks, { before: '  - {id: huge, actions: ["payment.*"], ', marked: 'efect', ...UNDER })
  await assertSound(opened)
  await draft.fill(ACME_POLICY.replace('value: 1000}', 'value: 1}'))
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('Large payments need a person.').waitFor()
  await page.getByRole('heading', { name: 'Result of the draft' }).waitFor()
  await assertSound(opened)
  await page.getByRole('button', { name: 'Back to the text in force' }).click()
  assert.equal(await draft.inputValue(), ACME_POLICY)
  await page.getByLabel('Use a draft instead of the policies in force').uncheck()
  await page.waitForURL('**/policies/dry-run')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('Payments within limits.').waitFor()
})

test('the other files and lists go with a draft, and what an author wrote is text', async () => {
  const several = await gate.key({ tenant: 'several' })
  const opened = await openConsole(browser, gate, several, 'policies/dry-run')
  const { page } = opened
  await askDryRun(page, 'mail.send', '{"to": "x"}')
  await page.locator('.result').getByText(HOSTILE).waitFor()
  await assertSound(opened)
  await page.getByLabel('Use a draft instead of the policies in force').check()
  const draft = page.getByLabel('Text of the draft')
  await until('the file of the rule that decided', async () => (await draft.inputValue()).includes('id: held'))
  await page.getByLabel('Replaces').selectOption('b.yaml')
  assert.equal(await draft.inputValue(), `${HEADER}several\n`)
  await page.waitForURL('**/policies/dry-run/draft?file=b.yaml')
  await page.getByText('The other file is used as in force. Lists are used as in force, too.').waitFor()
  await draft.fill(
    `${HEADER}several\nrules:\n  - {id: new, actions: ["mail.*"], effect: deny, reason: "${HOSTILE.replace('"', '')}"}\n`,
  )
  await page.getByText('The list', { exact: true }).click()
  await page.getByText('A list is used as in force, unless you enter other content here').waitFor()
  await page.getByLabel('Content of lists/bad.txt').fill('eve')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByRole('heading', { name: 'Result of the draft' }).waitFor()
  assert.equal(await seenIn(page.locator('.result .would-be .badge')), 'Denied')
  await assertSound(opened)
})

test('the address of a draft begins with the file that it names, and takes nothing from who has begun', async () => {
  const several = await gate.key({ tenant: 'several' })
  const opened = await openConsole(browser, gate, several, 'policies/source?file=several%2Fb.yaml', PHONE)
  const { page } = opened
  await page.getByRole('link', { name: 'Draft a change' }).click()
  await page.waitForURL('**/policies/dry-run/draft?file=b.yaml')
  const draft = page.getByLabel('Text of the draft')
  await until('the focus', async () => (await focused(page)) === 'Text of the draft')
  assert.equal(await draft.inputValue(), `${HEADER}several\n`)
  assert.equal(await page.getByLabel('Replaces').inputValue(), 'b.yaml')
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  await assertSound(opened)
  await page.reload()
  await until('the focus', async () => (await focused(page)) === 'Text of the draft')
  assert.equal(await draft.inputValue(), `${HEADER}several\n`)
  await draft.fill('mine')
  await page.getByRole('link', { name: 'Source' }).click()
  await page.getByRole('link', { name: 'a.yaml' }).click()
  await page.getByRole('link', { name: 'Draft a change' }).click()
  await page.waitForURL('**/policies/dry-run/draft?file=a.yaml')
  assert.equal(await draft.inputValue(), 'mine')
  await page.getByText('This is your draft, which replaces b.yaml.').waitFor()
  await assertSound(opened)
  await page.getByRole('button', { name: 'Start from a.yaml instead' }).click()
  await until('the focus', async () => (await focused(page)) === 'Text of the draft')
  assert.match(await draft.inputValue(), /id: held/)
  assert.equal(await page.getByLabel('Replaces').inputValue(), 'a.yaml')
  assert.equal(await page.getByText('This is your draft').count(), 0)
})

test('a draft stays what it is while somebody looks at other files', async () => {
  const several = await gate.key({ tenant: 'several' })
  const { page } = await openConsole(browser, gate, several, 'policies/dry-run/draft?file=a.yaml')
  const draft = page.getByLabel('Text of the draft')
  const standsFor = page.getByLabel('Replaces')
  const lookAtB = async (): Promise<void> => {
    await page.getByRole('link', { name: 'Source' }).click()
    await page.getByRole('link', { name: 'b.yaml' }).click()
    await page.getByRole('heading', { name: 'b.yaml' }).waitFor()
    await page.getByRole('link', { name: 'Dry run' }).click()
    await draft.waitFor()
  }
  await until('the text', async () => (await draft.inputValue()).includes('id: held'))
  await lookAtB()
  assert.equal(await standsFor.inputValue(), 'a.yaml')
  assert.match(await draft.inputValue(), /id: held/)
  await standsFor.selectOption('all files')
  await draft.fill('')
  await lookAtB()
  assert.equal(await standsFor.inputValue(), '')
  assert.equal(await draft.inputValue(), '')
})

test('who writes in another field while the texts are on their way is not taken out of it', async () => {
  const several = await gate.key({ tenant: 'several' })
  const { page } = await openConsole(browser, gate, several, 'policies')
  let letGo = (): void => undefined
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route('**/policies/source', async (route) => {
    await held
    await route.continue()
  })
  await page.goto(`${gate.server.url}/console/policies/dry-run/draft?file=b.yaml`)
  const action = page.getByLabel('Action', { exact: true })
  await action.pressSequentially('mail.')
  letGo()
  const draft = page.getByLabel('Text of the draft')
  await until('the text', async () => (await draft.inputValue()) !== '')
  await page.keyboard.type('send')
  assert.equal(await action.inputValue(), 'mail.send')
  assert.equal(await draft.inputValue(), `${HEADER}several\n`)
})

test('a draft that nobody has changed is of the policies in force, also when those change', async (t) => {
  const there = await startGate(t, { watch: 'off', policies: { 'acme/main.yaml': ACME_POLICY } })
  const owner = await there.key()
  const policies = join(there.dir, 'policies', 'acme')
  const { page } = await openConsole(browser, there, owner, 'policies/dry-run/draft')
  const draft = page.getByLabel('Text of the draft')
  await until('the text', async () => (await draft.inputValue()) === ACME_POLICY)
  const changed = ACME_POLICY.replace('value: 1000}', 'value: 1}')
  writeFiles(policies, { 'main.yaml': changed })
  await there.call(owner, 'POST', '/policies/reload')
  await until('the new text', async () => (await draft.inputValue()) === changed)
  await draft.fill('mine')
  writeFiles(policies, { 'main.yaml': ACME_POLICY })
  await there.call(owner, 'POST', '/policies/reload')
  await page.getByRole('button', { name: 'Back to the text in force' }).click()
  await until('the newest text', async () => (await draft.inputValue()) === ACME_POLICY)
})

test('what has the focus keeps it when somebody asks, and what came of it is said', async () => {
  const { page } = await openConsole(browser, gate, auditor, 'policies/dry-run')
  await page.getByLabel('Action', { exact: true }).fill('payment.transfer')
  await page.getByLabel('Context (JSON)').fill('{"amount": 5}')
  for (let i = 0; i < 2; i += 1) {
    await page.getByRole('button', { name: 'Ask', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Payments within limits.').waitFor()
    await page.getByRole('status').getByText('Result of the policies in force: allow').waitFor({ state: 'attached' })
    // While an answer is on its way the button says that instead.
    await until('the focus', async () => (await focused(page)) === 'Ask')
  }
  await page.context().setOffline(true)
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('unreachable').waitFor()
  await until('the focus', async () => (await focused(page)) === 'Ask')
})

/** Focuses the first field as soon as it exists, as a user does who waits for it. Later effects set the cleared title. */
const AT_ONCE = `new MutationObserver((_, observer) => {
  const field = document.querySelector('main form input')
  if (field === null) return
  observer.disconnect()
  field.focus()
  document.title = ''
}).observe(document, { childList: true, subtree: true })`

test('a field that is chosen as soon as the page appears keeps the focus', async () => {
  const { page } = await openConsole(browser, gate, auditor, 'policies/dry-run')
  await page.addInitScript(AT_ONCE)
  await page.reload()
  await page.getByLabel('Action', { exact: true }).waitFor()
  await until('the title', async () => (await page.title()).includes('Policies'))
  assert.equal(await focused(page), 'Action')
})
