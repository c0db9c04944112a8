import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Diff, diffSets } from '../../../src/authoring/diff/diff.ts'
import { changeText, triedText } from '../../../src/authoring/diff/shown.ts'
import type { Witness } from '../../../src/authoring/diff/witness.ts'
import { NO_HISTORY } from '../../../src/gate/history.ts'
import { judge } from '../../../src/gate/judge.ts'
import type { PolicySet } from '../../../src/policies/set.ts'
import { LISTS, setOf } from '../sources.ts'

const BASE = `
timezone: Europe/Berlin
domains: {finance: ["pay.*"]}
facts:
  context.amount: {type: number}
  context.country: {type: string}
  context.to: {type: list}
  context.known: {type: boolean, default: false}
  context.at: {type: date}
  context.session: {type: string}
  context.ip: {type: string}
  "context.items.*.price": {type: list}
session: {fact: context.session, taken: {secret: ["secret.*"]}}
history: {count: {payments: {actions: ["pay.*"], within: 1h, by: agent}}, sum: {paid: {actions: ["pay.*"], fact: context.amount, within: 24h, by: tenant}}}
lists: {blocked: {values: [eve, mallory]}}
actions:
  pay.card: {context: {type: object, required: [amount, card], properties: {amount: {type: number, exclusiveMinimum: 0}, card: {type: string, pattern: "^[0-9]{4}$"}}}}
risk:
  - {name: size, actions: ["pay.*"], weight: 30, scale: {fact: context.amount, from: 0, to: 5000}}
  - {name: unknown-payee, actions: ["pay.*"], weight: 20, when: {fact: context.known, operator: equal, value: false}}
conditions:
  weekend: {fact: time.weekday, operator: in, value: [sat, sun]}
rules:
  - {id: embargo, actions: ["pay.*"], effect: deny, reason: E., when: {fact: context.country, operator: in, value: [IR, KP]}}
  - {id: many, actions: ["pay.*"], effect: deny, reason: M., when: {fact: history.count.payments, operator: greaterThan, value: 5}}
  - {id: much, actions: ["pay.*"], effect: require_approval, reason: S., when: {fact: history.sum.paid, operator: greaterThan, value: 1000}}
  - {id: large, actions: ["pay.*"], effect: require_approval, reason: L., when: {all: [{fact: context.amount, operator: greaterThan, value: 100}, {not: {condition: weekend}}]}}
  - {id: leak, actions: [mail.send], effect: deny, reason: K., when: {fact: session.taken.secret, operator: equal, value: true}}
  - {id: blocked, actions: [mail.send], effect: deny, reason: B., when: {fact: context.to, operator: "someFact:inList", value: blocked}}
  - {id: outside, actions: [mail.send], effect: require_approval, reason: O., when: {fact: context.to, operator: "someFact:not:endsWith", value: "@acme.example"}}
  - {id: prices, actions: [cart.buy], effect: deny, reason: P., when: {fact: "context.items.*.price", operator: "someFact:greaterThan", value: 50}}
  - {id: old, actions: [file.delete], effect: allow, reason: D., when: {fact: context.at, operator: before, value: "2026-01-01T00:00:00Z"}}
  - {id: office, actions: [shell.run], effect: allow, reason: I., when: {fact: context.ip, operator: inCidr, value: 10.0.0.0/8}}
  - {id: bots, actions: [admin.reset], effect: allow, reason: A., when: {fact: agent, operator: startsWith, value: ops-}}
  - {id: tests, actions: [admin.wipe], effect: allow, reason: T., when: {fact: environment, operator: equal, value: test}}
  - {id: names, actions: [user.rename], effect: allow, reason: N., when: {fact: context.country, operator: matches, value: "^[A-Z]{2}-[0-9]+$"}}
  - {id: work, actions: ["pay.*", mail.send, cart.buy, "read.**"], effect: allow, reason: W.}
`
const base = setOf(BASE)

function edited(...edits: readonly (readonly [from: string, to: string])[]): PolicySet {
  return setOf(
    edits.reduce((text, [from, to]) => {
      assert.ok(text.includes(from), from)
      return text.replace(from, to)
    }, BASE),
    LISTS,
  )
}

/** A change of the base, the decision that changes by it, and what the text of the change says. */
const CHANGES: [from: string, to: string, decisions: string, text: string][] = [
  ['value: [IR, KP]', 'value: [IR, KP, SY]', 'allow→deny', 'rule embargo: when changed'],
  ['value: [IR, KP]', 'value: [IR]', 'deny→allow', 'rule embargo: when changed'],
  ['operator: greaterThan, value: 5}', 'operator: greaterThan, value: 6}', 'deny→allow', 'rule many: when changed'],
  ['value: 1000}', 'value: 1001}', 'require_approval→allow', 'rule much: when changed'],
  ['value: 100}, {not', 'value: 100.5}, {not', 'require_approval→allow', 'rule large: when changed'],
  [
    'operator: greaterThan, value: 100}',
    'operator: greaterThanInclusive, value: 100}',
    'allow→require_approval',
    'rule large: when changed',
  ],
  ['value: [sat, sun]', 'value: [sun]', 'allow→require_approval', 'rule large: when changed'],
  ['timezone: Europe/Berlin', 'timezone: Asia/Tokyo', 'require_approval→allow', 'setting timezone: changed'],
  ['["secret.*"]', '["secret.*", "vault.*"]', 'allow→deny', 'setting session: changed'],
  ['[eve, mallory]', '[eve]', 'deny→require_approval', 'setting lists: changed'],
  ['"@acme.example"', '"@acme.example.org"', 'allow→require_approval', 'rule outside: when changed'],
  [
    '"someFact:greaterThan", value: 50',
    '"everyFact:greaterThan", value: 50',
    'deny→allow',
    'rule prices: when changed',
  ],
  ['"2026-01-01T00:00:00Z"', '"2026-01-02T00:00:00Z"', 'deny→allow', 'rule old: when changed'],
  ['10.0.0.0/8', '10.0.0.0/16', 'allow→deny', 'rule office: when changed'],
  ['value: ops-', 'value: ops', 'deny→allow', 'rule bots: when changed'],
  ['value: test}', 'value: live}', 'deny→allow', 'rule tests: when changed'],
  ['{2}-[0-9]+$', '{2}-[0-9]{2,}$', 'allow→deny', 'rule names: when changed'],
  ['default: false', 'default: true', 'allow→allow', 'setting facts: changed'],
  ['weight: 30', 'weight: 60', 'require_approval→deny', 'factor size: weight changed'],
  ['required: [amount, card]', 'required: [amount]', 'deny→allow', 'setting actions: changed'],
  ['"^[0-9]{4}$"', '"^[0-9]{3,4}$"', 'deny→require_approval', 'setting actions: changed'],
  ['"read.**"]', '"read.**", "write.*"]', 'deny→allow', 'rule work: actions changed'],
  ['effect: allow, reason: D.', 'effect: deny, reason: D.', 'allow→deny', 'rule old: effect changed'],
]

for (const [from, to, decisions, text] of CHANGES) {
  test(`a witness shows: ${from} → ${to}`, () => {
    const diff = diffSets(base, edited([from, to]))
    const shown = diff.witnesses.map((one) => `${one.from.decision}→${one.to.decision}`)
    assert.ok(shown.includes(decisions), `${shown.join(' ')}, ${triedText(diff)}`)
    assert.deepEqual(diff.changes.map(changeText), [text])
    assertDecided(diff, base, edited([from, to]))
  })
}

/** The request of a witness, decided by itself. Requests that rest on earlier actions are decided with these elsewhere. */
function decide(set: PolicySet, { action, context, plan, agent, environment, at }: Witness) {
  const asked = { action, context, plan: plan ?? undefined, agent, environment, nowMs: Date.parse(at), tenant: 'acme' }
  const judged = judge({ set, killSwitchReason: undefined, history: NO_HISTORY, ...asked })
  assert.ok(!(judged instanceof Promise))
  return judged
}

function assertDecided({ witnesses }: Diff, a: PolicySet, b: PolicySet): void {
  for (const one of witnesses) {
    if (Object.keys(one.history).length > 0 || one.session !== null) continue
    for (const [set, side] of [
      [a, one.from],
      [b, one.to],
    ] as const) {
      const { outcome, risk } = decide(set, one)
      assert.deepEqual([outcome.decision, outcome.rule, risk.score], [side.decision, side.rule, side.riskScore])
    }
  }
}

test('rules and factors that are added, removed and moved are told, with the requests that show it', () => {
  const more = `${BASE}  - {id: extra, actions: [extra.do], effect: allow, reason: X.}\n`
  const added = diffSets(base, setOf(more))
  assert.deepEqual([added.changes.map(changeText), added.changes[0]?.witness], [['rule extra: added'], 0])
  const removed = diffSets(setOf(more), base)
  assert.deepEqual(removed.changes.map(changeText), ['rule extra: removed'])
  const [first = '', second = ''] = BASE.split('\n').filter((line) => /id: (embargo|many)/.test(line))
  const moved = diffSets(base, edited([`${first}\n${second}`, `${second}\n${first}`]))
  assert.deepEqual(
    moved.changes.map(({ kind }) => kind),
    ['moved'],
  )
  // Both deny: another rule is named, and nothing is decided differently.
  assert.deepEqual([...new Set(moved.witnesses.map(({ difference }) => difference))], ['reason'])
})

test('a member that a long list gains or loses is tried before those of both', () => {
  const names = Array.from({ length: 300 }, (_, i) => `name-${i}`)
  const listed = (all: readonly string[]) => edited(['[eve, mallory]', JSON.stringify(all)])
  for (const [a, b] of [
    [names, names.slice(0, -1)],
    [names.slice(0, -1), names],
  ] as const) {
    const { witnesses } = diffSets(listed(a), listed(b))
    assert.ok(
      witnesses.some(
        ({ difference, context }) => difference === 'decision' && JSON.stringify(context).includes('name-299'),
      ),
    )
  }
})

test('the same meaning in other words has no difference, and is never called equal', () => {
  const same = edited([
    '{fact: context.country, operator: in, value: [IR, KP]}',
    '{not: {fact: context.country, operator: notIn, value: [KP, IR]}}',
  ])
  const diff = diffSets(base, same)
  assert.deepEqual(diff.witnesses, [])
  assert.match(triedText(diff), /^no difference found in [\d,]+ requests about \d+ kinds? of actions/)
  assert.equal(triedText(diffSets(base, base)), 'the same set')
})

test('a witness is as plain as it can be', () => {
  const [witness] = diffSets(base, edited(['value: [IR, KP]', 'value: [IR, KP, SY]'])).witnesses
  assert.equal(witness?.context.country, 'SY')
  assert.deepEqual(
    Object.keys(witness?.context ?? {}).filter((name) => !['country', 'amount', 'card'].includes(name)),
    [],
  )
})
