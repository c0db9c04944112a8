import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Diagnostic } from '../../src/authoring/diagnostics/diagnostics.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { NO_HISTORY } from '../../src/gate/history.ts'
import { judge } from '../../src/gate/judge.ts'
import type { PolicySet, Truth } from '../../src/policies/set.ts'
import { FULL, runs } from '../tier.ts'
import { evaluateContext } from './sets.ts'
import { load } from './sources.ts'

type Form = { [key: string]: Json }

const FACTS = ['a', 'b']
/** Values of the facts: every constant, values between and beside them, and every kind of value. */
const VALUES: (Json | undefined)[] = [
  ...[undefined, null, true, false, [], {}, -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4],
  ...[
    '',
    'x',
    'xy',
    'xyz',
    'y',
    'zy',
    ...['x', 'xy', 'y'].flatMap((start) => ['x', 'xy', 'y'].map((end) => `${start}q${end}`)),
    'other',
    'x-',
    '-y',
    'xy-',
    '-xy',
    '1',
  ],
  ...[
    '2026-01-01T00:00:00Z',
    '2026-01-02T00:00:00Z',
    '2025-12-31T23:59:59.999Z',
    '2026-01-01T12:00:00Z',
    '2027-01-01T00:00:00Z',
  ],
  ...[
    ['x'],
    ['y'],
    ['x', 'y'],
    ['x', 1],
    [1],
    ['q'],
    ['x', 'q'],
    [null],
    ['x', null],
    [0, 1, 2, 3],
    [['x']],
    ['y', 'q'],
  ],
]

const scalar = fc.constantFrom<Json>(1, 2, 3, 'x', 'xy', 'y', true)
const leaf: fc.Arbitrary<Form> = fc
  .tuple(
    fc.constantFrom(...FACTS),
    fc.oneof(
      fc.tuple(
        fc.constantFrom(
          'equal',
          'notEqual',
          'contains',
          'doesNotContain',
          'someFact:equal',
          'everyFact:notEqual',
          'not:someFact:equal',
          'not:equal',
        ),
        scalar,
      ),
      fc.tuple(
        fc.constantFrom('in', 'notIn', 'someFact:in', 'everyFact:in'),
        fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }),
      ),
      fc.tuple(
        fc.constantFrom(
          'lessThan',
          'lessThanInclusive',
          'greaterThan',
          'greaterThanInclusive',
          'someFact:greaterThan',
          'not:lessThan',
        ),
        fc.constantFrom(1, 2, 3),
      ),
      fc.tuple(fc.constantFrom('startsWith', 'endsWith', 'everyFact:startsWith'), fc.constantFrom('x', 'xy', 'y')),
      fc.tuple(fc.constantFrom('matches', 'someFact:matches'), fc.constantFrom('^x', 'y$', 'q')),
      fc.tuple(
        fc.constantFrom('before', 'after', 'someFact:before'),
        fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
      ),
      fc.tuple(fc.constantFrom('inList', 'notInList', 'someFact:inList'), fc.constant('l')),
      fc.tuple(fc.constantFrom('exists', 'missing'), fc.constant(undefined)),
    ),
  )
  .map(([fact, [operator, value]]) => ({ fact: `context.${fact}`, operator, ...(value !== undefined && { value }) }))

const condition = fc.letrec<{ node: Form }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({ all: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('node') }),
  ),
})).node

function document(rest: object): string {
  return JSON.stringify({ apiVersion: 'gate-sidecar/v1', tenant: 'acme', lists: { l: { values: ['x', 2] } }, ...rest })
}

function contextOf(a: Json | undefined, b: Json | undefined): JsonObject {
  return { ...(a !== undefined && { a }), ...(b !== undefined && { b }) }
}

/** Some of all pairs of values: each value of the one fact, each time with others of the other. */
const contexts = fc
  .array(fc.constantFrom(...VALUES), { minLength: 2 * VALUES.length, maxLength: 2 * VALUES.length })
  .map((others) => others.map((other, i) => contextOf(VALUES[i % VALUES.length], other)))

/** Returns the outcomes of the one rule in these contexts. */
async function outcomesOf(set: PolicySet, some: readonly JsonObject[]): Promise<Set<Truth | undefined>> {
  const outcomes = new Set<Truth | undefined>()
  for (const context of some) outcomes.add((await evaluateContext(set, context)).rules[0]?.outcome)
  return outcomes
}

/** The part of the document that a diagnostic is about. */
function partAt(root: Json, path: string): Json {
  const keys = path.match(/[^.[\]]+/g)?.slice(1) ?? []
  return keys.reduce<Json>((value, key) => (value as JsonObject)[key] as Json, root)
}

/** Returns the path of the condition whose fact or key a diagnostic points at. */
function conditionPath({ path }: Diagnostic): string {
  return path.replace(/\.(fact|all|any|not|condition)$/, '')
}

const rule = (id: string, effect: string, when?: Form) => ({
  id,
  actions: ['a.b'],
  effect,
  reason: 'R.',
  ...(when && { when }),
})

test('lint: what is said to be never or always true is so in every context', async () => {
  let said = 0
  await fc.assert(
    fc.asyncProperty(condition, contexts, async (when, some) => {
      const text = document({ rules: [rule('r', 'allow', when)] })
      const { diagnostics } = load({ 'main.json': text })
      for (const diagnostic of diagnostics) {
        if (diagnostic.code !== 'GATE2011' && diagnostic.code !== 'GATE2012') continue
        said += 1
        const part = partAt(JSON.parse(text), conditionPath(diagnostic)) as Form
        const { set } = load({ 'main.json': document({ rules: [rule('r', 'allow', part)] }) })
        assert.ok(set !== undefined)
        const seen = await outcomesOf(set, some)
        const never = diagnostic.code === 'GATE2011' ? 'true' : 'false'
        assert.ok(!seen.has(never), `${diagnostic.message}: ${JSON.stringify(part)}`)
      }
    }),
    { numRuns: runs(800) },
  )
  assert.ok(said > (FULL ? 50 : 0), `${said} findings were checked`)
})

test('lint: without a part that is said to change nothing, the condition comes to the same in every context', async () => {
  let said = 0
  await fc.assert(
    fc.asyncProperty(condition, contexts, async (when, some) => {
      const text = document({ rules: [rule('r', 'allow', when)] })
      const idle = load({ 'main.json': text }).diagnostics.find(({ code }) => code === 'GATE2013')
      if (idle === undefined) return
      said += 1
      const path = conditionPath(idle)
      const [, list = '', index = ''] = /^(.*)\[(\d+)\]$/.exec(path) ?? []
      const without = JSON.parse(text)
      ;(partAt(without, list) as Json[]).splice(Number(index), 1)
      const before = load({ 'main.json': text }).set
      const after = load({ 'main.json': JSON.stringify(without) }).set
      assert.ok(before !== undefined && after !== undefined)
      for (const context of some) {
        const was: Truth | undefined = (await evaluateContext(before, context)).rules[0]?.outcome
        const now: Truth | undefined = (await evaluateContext(after, context)).rules[0]?.outcome
        assert.equal(now, was, `${idle.message} ${JSON.stringify(context)}`)
      }
    }),
    { numRuns: runs(1500) },
  )
  assert.ok(said > (FULL ? 15 : -1), `${said} findings were checked`)
})

test('lint: without a rule that is said never to decide, every request is decided the same', async () => {
  let said = 0
  const rulesOf = fc.array(
    fc.tuple(fc.constantFrom('allow', 'deny', 'require_approval'), fc.option(condition, { nil: undefined, freq: 5 })),
    { minLength: 1, maxLength: 4 },
  )
  await fc.assert(
    fc.asyncProperty(rulesOf, contexts, async (rules, some) => {
      const all = rules.map(([effect, when], i) => rule(`r${i}`, effect, when))
      const { set, diagnostics } = load({ 'main.json': document({ rules: all }) })
      for (const diagnostic of diagnostics) {
        if (diagnostic.code !== 'GATE2006') continue
        said += 1
        const index = Number(/rules\[(\d+)\]/.exec(diagnostic.path)?.[1])
        const rest = load({ 'main.json': document({ rules: all.toSpliced(index, 1) }) }).set
        assert.ok(set !== undefined && rest !== undefined)
        for (const context of some) {
          const ask = async (policies: PolicySet) => {
            const question = {
              killSwitchReason: undefined,
              tenant: 'acme',
              environment: 'live',
              agent: 'a',
              nowMs: 0,
              plan: undefined,
              history: NO_HISTORY,
            } as const
            const {
              decision,
              rule: decider,
              hold,
            } = (await judge({ ...question, set: policies, action: 'a.b', context })).outcome
            return { decision, decider, hold }
          }
          assert.deepEqual(await ask(rest), await ask(set), `${diagnostic.message} ${JSON.stringify(context)}`)
        }
      }
    }),
    { numRuns: runs(250) },
  )
  assert.ok(said > (FULL ? 10 : 0), `${said} findings were checked`)
})

/** Comparisons of one fact of which all values can be told apart by those of VALUES. */
const exact: fc.Arbitrary<Form> = leaf.filter(
  ({ operator }) => !/matches|before|after|[cC]ontain|Fact/.test(String(operator)),
)

test('lint: what no value of a fact meets is said', async () => {
  let said = 0
  // Duplicates are left out, since they are reported first.
  const parts = fc
    .uniqueArray(exact, {
      minLength: 1,
      maxLength: 3,
      selector: ({ operator, value }) => JSON.stringify([operator, value]),
    })
    .map((all) => all.map((one) => ({ ...one, fact: 'context.a' })))
  await fc.assert(
    fc.asyncProperty(parts, fc.constantFrom('all', 'any'), async (some, kind) => {
      const { set, diagnostics } = load({ 'main.json': document({ rules: [rule('r', 'allow', { [kind]: some })] }) })
      assert.ok(set !== undefined)
      const seen = await outcomesOf(
        set,
        VALUES.map((a) => contextOf(a, undefined)),
      )
      const codes = new Set(diagnostics.map(({ code }) => code))
      if (!seen.has('true')) said += 1
      if (!seen.has('true')) assert.ok(codes.has('GATE2011'), `${kind} ${JSON.stringify(some)} is never true`)
      const guards = some.some((one: Form) => one.operator === 'exists' || one.operator === 'missing')
      if (!seen.has('false') && !guards)
        assert.ok(codes.has('GATE2012'), `${kind} ${JSON.stringify(some)} is never false`)
    }),
    { numRuns: runs(1000) },
  )
  assert.ok(said > (FULL ? 50 : 0), `${said} findings were checked`)
})
