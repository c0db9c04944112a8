import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Engine } from 'json-rules-engine'
import { truthOf } from './sets.ts'
import { setOf } from './sources.ts'

const DENY_BIG =
  'rules:\n  - {id: big, actions: [a.b], effect: deny, reason: Big., when: {fact: context.amount, operator: greaterThan, value: 100}}\n'

// json-rules-engine keeps its status on the engine: when one run ends, a run that overlaps it skips its remaining rules.
test('overlap: a shared engine that is run loses rules, which is why none is', async () => {
  const engine = new Engine([], { allowUndefinedFacts: true })
  const always = { all: [{ fact: 'one', operator: 'equal', value: 1 }] }
  engine.addRule({ conditions: always, event: { type: 'first' }, priority: 10 })
  engine.addRule({
    conditions: { all: [{ fact: 'amount', operator: 'greaterThan', value: 100 }] },
    event: { type: 'deny' },
  })
  const slow = async () => {
    for (let i = 0; i < 100; i += 1) await undefined
    return 1
  }
  const runs = await Promise.all(
    Array.from({ length: 100 }, (_, i) => engine.run({ one: i % 2 ? slow : 1, amount: 500 })),
  )
  const lost = runs.filter(({ events }) => !events.some(({ type }) => type === 'deny')).length
  assert.ok(lost > 0, 'the fault is gone from the library; the registry could be simplified')
})

test('overlap: 2,000 evaluations of one set at once, none wrong', async () => {
  const set = setOf(DENY_BIG)
  const amounts = Array.from({ length: 2000 }, (_, i) => (i % 3 === 0 ? undefined : i % 200))
  const wanted = amounts.map((amount) => (amount === undefined ? 'unknown' : amount > 100 ? 'true' : 'false'))
  const outcomes = await Promise.all(amounts.map((amount) => truthOf(set, amount === undefined ? {} : { amount })))
  assert.deepEqual(outcomes, wanted)
})
