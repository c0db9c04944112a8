import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupsWithoutKeys } from '../../src/approvals/unstaffed.ts'
import { lintWithTests } from '../../src/authoring/cases/untested.ts'
import { HEADER, setOf } from './sources.ts'

/** Policies whose finding a second rule takes away, where that is enforced. */
const FINDINGS: [code: string, text: string, second: string][] = [
  [
    'GATE2029',
    'rules:\n  - {id: all, actions: ["**"], effect: allow, reason: R.}\n  - {id: held, actions: ["payment.*"], effect: deny, reason: R.}\nactions: {payment.card.pay: {description: D.}}\n',
    '{id: more, actions: ["payment.**"], effect: deny, reason: R.}',
  ],
  [
    'GATE2026',
    'history: {count: {mails: {actions: ["email.*"], within: 1h, by: agent}}}\nrules:\n  - {id: pays, actions: [pay], effect: allow, reason: R., when: {fact: history.count.mails, operator: lessThan, value: 3}}\n',
    '{id: mails, actions: ["email.*"], effect: allow, reason: R.}',
  ],
  [
    'GATE2007',
    'rules:\n  - {id: all, actions: [pay], effect: allow, reason: R.}\n  - {id: large, actions: [pay], effect: deny, reason: R., when: {fact: context.amount, operator: greaterThan, value: 5}}\n',
    '{id: none, actions: [pay], effect: deny, reason: R., when: {fact: context.amount, operator: missing}}',
  ],
]

/** Codes of the findings. */
async function codesOf(text: string): Promise<string[]> {
  const files = [{ name: 'main.yaml', bytes: Buffer.from(HEADER + text) }]
  const found = await lintWithTests({ tenant: 'acme', files, lists: new Map(), ignored: [] })
  assert.deepEqual(
    found.filter(({ severity }) => severity === 'error'),
    [],
  )
  return found.map(({ code }) => code)
}

const withRule = (text: string, rule: string): string => text.replace('rules:\n', `rules:\n  - ${rule}\n`)

for (const [code, text, second] of FINDINGS) {
  test(`a rule in shadow takes no finding away: ${code}`, async () => {
    assert.ok((await codesOf(text)).includes(code))
    assert.ok(!(await codesOf(withRule(text, second))).includes(code))
    assert.ok((await codesOf(withRule(text, second.replace('reason:', 'mode: shadow, reason:')))).includes(code))
  })
}

test('an enforced rule neither repeats one in shadow nor is kept from deciding by it', async () => {
  const text = (mode: string): string =>
    `rules:\n  - {id: first, actions: [pay], effect: deny, mode: ${mode}, reason: R.}\n  - {id: second, actions: [pay], effect: deny, reason: R.}\n  - {id: third, actions: [pay], effect: allow, reason: R., when: {fact: agent, operator: equal, value: a}}\n`
  assert.deepEqual((await codesOf(text('enforce'))).filter((code) => code === 'GATE2016').length, 1)
  assert.deepEqual((await codesOf(text('shadow'))).filter((code) => code === 'GATE2016').length, 0)
})

test('a hold in shadow needs no approvers', () => {
  const set = (mode: string) =>
    setOf(
      `rules:\n  - {id: a, actions: [pay], effect: require_approval, mode: ${mode}, reason: R., approval: {approvers: [board]}}\n`,
    )
  assert.deepEqual(groupsWithoutKeys(set('enforce'), [], 0), ['board'])
  assert.deepEqual(groupsWithoutKeys(set('shadow'), [], 0), [])
})
