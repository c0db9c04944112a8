import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { diffSets } from '../../../src/authoring/diff/diff.ts'
import { NO_HISTORY } from '../../../src/gate/history.ts'
import { judge } from '../../../src/gate/judge.ts'
import type { PolicySet } from '../../../src/policies/set.ts'
import { setOf } from '../sources.ts'

/** Sets that are tried, each with one change. */
const SETS = 80
const SHARE = 0.95

const leaf = fc.oneof(
  fc.record({
    fact: fc.constantFrom('context.n', 'context.m'),
    operator: fc.constantFrom('greaterThan', 'lessThan', 'equal', 'lessThanInclusive'),
    value: fc.integer({ min: 0, max: 20 }),
  }),
  fc.record({
    fact: fc.constant('context.s'),
    operator: fc.constantFrom('equal', 'notEqual', 'startsWith', 'endsWith'),
    value: fc.constantFrom('aa', 'ab', 'ba'),
  }),
  fc.record({
    fact: fc.constant('context.s'),
    operator: fc.constantFrom('in', 'notIn'),
    value: fc.uniqueArray(fc.constantFrom('aa', 'ab', 'ba', 'bb'), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ fact: fc.constant('context.b'), operator: fc.constant('equal'), value: fc.boolean() }),
  fc.record({
    fact: fc.constant('context.l'),
    operator: fc.constantFrom('contains', 'doesNotContain'),
    value: fc.constantFrom('aa', 'ab'),
  }),
  fc.record({
    fact: fc.constantFrom('context.n', 'context.s', 'context.b'),
    operator: fc.constantFrom('exists', 'missing'),
  }),
)
const condition = fc.oneof(
  leaf,
  fc.record({ all: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
  fc.record({ any: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
  fc.record({ not: leaf }),
)
const rule = fc.record({
  effect: fc.constantFrom('allow', 'deny', 'require_approval'),
  actions: fc.constantFrom(['pay.a'], ['pay.*'], ['**']),
  when: condition,
})
const rules = fc.array(rule, { minLength: 1, maxLength: 6 })
type Rule = typeof rule extends fc.Arbitrary<infer T> ? T : never

const HEAD = `
facts: {context.n: {type: number}, context.m: {type: number, default: 3}, context.s: {type: string}, context.b: {type: boolean}, context.l: {type: list}}
rules:
`
const textOf = (all: readonly Rule[]): string =>
  HEAD + all.map((one, i) => `  - ${JSON.stringify({ id: `r${i}`, reason: 'R.', ...one })}\n`).join('')

/** One rule is another, or gone. */
const changed = fc.tuple(rules, rule, fc.nat(), fc.boolean()).map(([all, other, at, isRemoved]): [Rule[], Rule[]] => {
  const i = at % all.length
  return [all, isRemoved ? all.filter((_, j) => j !== i) : all.map((one, j) => (i === j ? other : one))]
})

const NUMBERS = [undefined, 'x', -1, ...Array.from({ length: 22 }, (_, i) => i), 2.5, 99]
const TEXTS = [undefined, 1, 'aa', 'ab', 'ba', 'bb', 'aax', 'xab', 'q']
const LISTS = [undefined, [], ['aa'], ['ab'], ['aa', 'ab'], ['q'], [1]]

/** Whether requests of a dense grid, drawn with a seed, are decided differently. */
function isChanged(a: PolicySet, b: PolicySet): boolean {
  let state = 7
  const pick = <T>(items: readonly T[]): T | undefined => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return items[Math.floor((state / 2 ** 32) * items.length)]
  }
  for (let i = 0; i < 4000; i += 1) {
    const context = JSON.parse(
      JSON.stringify({
        n: pick(NUMBERS),
        m: pick(NUMBERS),
        s: pick(TEXTS),
        b: pick([undefined, true, false]),
        l: pick(LISTS),
      }),
    )
    const action = pick(['pay.a', 'pay.b', 'mail.send']) ?? ''
    const decisions = [a, b].map((set) => {
      const judged = judge({
        set,
        action,
        context,
        plan: undefined,
        agent: 'a',
        environment: 'live',
        nowMs: 0,
        tenant: 'acme',
        killSwitchReason: undefined,
        history: NO_HISTORY,
        isExplained: false,
      })
      return judged instanceof Promise ? undefined : judged.outcome.decision
    })
    if (decisions[0] !== decisions[1]) return true
  }
  return false
}

test(`a witness is found for ${SHARE * 100} % of changed sets at least, and none where nothing changes`, () => {
  const misses: string[] = []
  let differing = 0
  for (const [before, after] of fc.sample(changed, { seed: 26, numRuns: SETS })) {
    const [a, b] = [textOf(before), textOf(after)].map((text) => setOf(text.replace(/rules:\n$/, 'rules: []\n')))
    assert.ok(a && b)
    const diff = diffSets(a, b)
    const isFound = diff.witnesses.some(({ difference }) => difference === 'decision')
    if (isChanged(a, b)) differing += 1
    else if (!isFound) continue
    if (!isFound) misses.push(`${textOf(before)}\n${textOf(after)}`)
  }
  assert.ok(differing > SETS / 3, `${differing}`)
  assert.ok(misses.length <= differing * (1 - SHARE), `${misses.length} of ${differing}:\n${misses.join('\n\n')}`)
})
