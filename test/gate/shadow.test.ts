import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { CheckDeps, Shadows } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { shadowCounts } from '../../src/actions/gate/shadow.ts'
import { shadowTurns } from '../../src/actions/gate/shadow-turns.ts'
import { sectionValue } from '../../src/audit/entry.ts'
import type { Grounds } from '../../src/audit/grounds.ts'
import { idMaker, siblingId } from '../../src/base/id.ts'
import { MAX_WORK, WEIGHTS } from '../../src/base/work.ts'
import type { Judgement } from '../../src/gate/judge.ts'
import { shadowNote } from '../../src/gate/shadow.ts'
import { EFFECTS, type PolicySet } from '../../src/policies/set.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { actingOn } from '../audit/acting.ts'
import { setOf } from '../authoring/sources.ts'
import { temporaryFolder } from '../helpers.ts'
import { runs } from '../tier.ts'

const ALLOWING = setOf('rules: [{id: all, actions: ["**"], effect: allow, reason: Fine.}]')
const DENYING = setOf('rules: [{id: none, actions: ["**"], effect: deny, reason: SECRET.}]')
/** Reads what was allowed before. */
const COUNTING = setOf(`
rules:
  - {id: all, actions: ["**"], effect: allow, reason: Fine.}
  - {id: two, actions: ["**"], effect: deny, reason: Enough., when: {fact: history.count.all, operator: greaterThan, value: 2}}
history: {count: {all: {actions: ["**"], within: 1h, by: agent}}}
`)
/** Takes more than half of a check's work for a list of this length, and less than a whole. */
const HEAVY = setOf(`
rules:
  - {id: all, actions: ["**"], effect: allow, reason: Fine.}
  - {id: some, actions: ["**"], effect: deny, reason: Odd., when: {fact: context.items, operator: "someFact:equal", value: 9}}
`)
const ITEMS = Array.from({ length: Math.ceil((MAX_WORK * 0.6) / WEIGHTS.item.units) }, () => 1)

const dir = join(temporaryFolder(), 'data')
const store = openStore({ dir, create: true, clock: Date.now })
after(() => store.close())
const deps = { store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
const inForce = { get: (): PolicySet => ALLOWING }
const service = actingOn(deps, inForce)
const bot = await service.key({ roles: ['agent'] })

/** Asks beside this set in shadow, and gives the answer and what was recorded and counted. */
async function ask(shadow: PolicySet | undefined, context: object = {}, more: Partial<CheckDeps> = {}, agent = bot) {
  const { count, counts } = shadowCounts()
  const errors: unknown[] = []
  const shadows: Shadows = {
    get: () => shadow,
    count,
    turns: more.shadows?.turns ?? shadowTurns(),
    onError: (error) => errors.push(error),
  }
  const sinceMs = performance.now()
  const all = { ...service.deps, ...more, shadows }
  const request = { tenantId: 'acme', action: 'pay', context: JSON.parse(JSON.stringify(context)) }
  const answer = await check(all, service.as(agent), request)
  const entry = await store.entry(siblingId(answer.decisionId, 'entry'))
  const grounds = (entry && sectionValue(entry, 'grounds')) as unknown as Grounds
  const failed = counts().failed.filter((one) => one.count > 0)
  return { answer, note: grounds.shadow, failed, errors, tookMs: performance.now() - sinceMs }
}

const about = (answer: PolicySet['evaluator']['about']): PolicySet => ({
  ...DENYING,
  evaluator: { ...DENYING.evaluator, about: answer },
})
const answering = (answer: () => never | Promise<never>): PolicySet =>
  about((action) => ({ ...DENYING.evaluator.about(action), answer }))

class Crash extends Error {}
const crash = (): never => {
  throw new Crash('SECRET')
}
const FAILING: [what: string, shadow: PolicySet, why: string, more?: Partial<CheckDeps>][] = [
  ['throws when it is asked what is about an action', about(crash), 'error'],
  ['throws amid its evaluation', answering(crash), 'error'],
  ['rejects', answering(() => Promise.reject(new Crash('SECRET'))), 'error'],
  ['never answers', answering(() => new Promise(() => undefined)), 'time'],
  [
    'rejects after the check has gone on',
    answering(() => new Promise((_, reject) => setTimeout(reject, 60, 'late'))),
    'time',
  ],
  ['takes more than half of the work', HEAVY, 'work'],
  [
    'cannot read its history',
    COUNTING,
    'error',
    { history: { ...service.deps.history, read: () => Promise.reject(new Crash('SECRET')) } },
  ],
  [
    'waits for its history for ever',
    COUNTING,
    'time',
    { history: { ...service.deps.history, read: () => new Promise(() => undefined) } },
  ],
]
for (const [what, shadow, why, more] of FAILING) {
  test(`a set in shadow that ${what} leaves the answer as it is, and is counted`, async () => {
    const { answer, note, failed, errors, tookMs } = await ask(shadow, { items: ITEMS }, more)
    assert.deepEqual([answer.decision, answer.rule], ['allow', 'all'])
    assert.deepEqual(note, { digest: shadow.digest, failed: why })
    assert.deepEqual(failed, [{ why, count: 1 }])
    assert.equal(errors.length, why === 'error' ? 1 : 0)
    assert.doesNotMatch(JSON.stringify([answer, note]), /SECRET/)
    assert.ok(tookMs < 2000, `${tookMs} ms`)
  })
}

test('a set in force may take the whole work that a shadow may not', async () => {
  const policies = { get: (): PolicySet => HEAVY }
  const { answer, note } = await ask(ALLOWING, { items: ITEMS }, { policies })
  assert.deepEqual([answer.decision, answer.unevaluable, note], ['allow', [], { digest: ALLOWING.digest }])
})

test('no reason of a set in shadow is recorded, and nothing of it is answered', async () => {
  const { answer, note } = await ask(DENYING)
  assert.deepEqual(note, { digest: DENYING.digest, decision: 'deny', decidedBy: 'deny_rule', rule: 'none' })
  assert.doesNotMatch(JSON.stringify(answer), /shadow|none|SECRET/)
})

/** Sets of rules about one amount. */
const sets = fc
  .array(
    fc.record({
      effect: fc.constantFrom(...EFFECTS),
      mode: fc.constantFrom('enforce', 'shadow'),
      operator: fc.constantFrom('greaterThan', 'lessThan'),
      value: fc.integer({ min: 0, max: 3 }),
    }),
    { maxLength: 5 },
  )
  .map((rules) =>
    setOf(
      `rules:\n  - {id: base, actions: [none], effect: allow, reason: R.}\n${rules
        .map(
          ({ effect, mode, operator, value }, i) =>
            `  - {id: r${i}, actions: [pay], effect: ${effect}, mode: ${mode}, reason: R., when: {fact: context.amount, operator: ${operator}, value: ${value}}}\n`,
        )
        .join('')}`,
    ),
  )

test('no set in shadow changes an answer, and its note is what it decides where it is in force', async () => {
  const told = ({
    answer: { decision, reason, rule, decidedBy, retry, riskScore, factors, unevaluable },
  }: Awaited<ReturnType<typeof ask>>) => ({
    ...{ decision, reason, rule, decidedBy, retry, riskScore, factors, unevaluable },
  })
  await fc.assert(
    fc.asyncProperty(sets, sets, fc.integer({ min: 0, max: 3 }), async (first, second, amount) => {
      // Agents and contexts differ, so that no approval answers two requests.
      const agent = await service.key({ roles: ['agent'] })
      const context = { amount }
      const policies = { get: (): PolicySet => first }
      const without = await ask(undefined, context, { policies }, agent)
      const beside = await ask(second, { ...context, two: 1 }, { policies }, agent)
      assert.deepEqual(told(beside), told(without))
      assert.equal(without.note, undefined)
      const inPlace = await ask(first, { ...context, three: 1 }, { policies: { get: () => second } }, agent)
      const decision = beside.note?.decision ?? beside.answer.decision
      assert.equal(decision, inPlace.answer.decision)
    }),
    { numRuns: runs(300) },
  )
})

test('rules in shadow decide nothing, and the shadow of the set decides as if they were enforced', () => {
  fc.assert(
    fc.property(sets, (set) => {
      const isInShadow = set.rules.some(({ mode }) => mode === 'shadow')
      assert.equal(set.shadow !== undefined, isInShadow)
      const asked = set.evaluator.about('pay').rules.map(({ id }) => id)
      assert.deepEqual(
        asked,
        set.rules.filter(({ id, mode }) => id !== 'base' && mode === 'enforce').map(({ id }) => id),
      )
      const all = set.shadow?.evaluator.about('pay').rules.map(({ id }) => id) ?? asked
      assert.deepEqual(
        all,
        set.rules.filter(({ id }) => id !== 'base').map(({ id }) => id),
      )
    }),
    { numRuns: runs(300) },
  )
})

test('a hold of both is the same, whatever came of its approval', () => {
  const held = {
    isOverBudget: false,
    outcome: { decision: 'require_approval', hold: {}, decidedBy: 'hold_rule', rule: 'r' },
  }
  const judgement = held as unknown as Judgement
  const digest = ALLOWING.digest
  for (const decided of EFFECTS) assert.deepEqual(shadowNote(ALLOWING, judgement, decided, true), { digest })
  const note = { digest, decision: 'require_approval', decidedBy: 'hold_rule', rule: 'r' }
  for (const decided of ['allow', 'deny'] as const)
    assert.deepEqual(shadowNote(ALLOWING, judgement, decided, false), note)
})
