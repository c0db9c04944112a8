import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assessRisk } from '../../src/gate/risk.ts'
import type { FactorResult } from '../../src/policies/evaluate.ts'
import type { Truth } from '../../src/policies/set.ts'

function factor(weight: number, fraction: number, outcome: Truth = 'true', name = 'f'): FactorResult {
  const parsed = { name, weight, actions: [], condition: undefined, scale: undefined, file: 'acme/main.yaml', line: 1 }
  return { factor: parsed, fraction, outcome, scaled: undefined, missing: [], overBudget: [] }
}

const SCORES: [name: string, factors: FactorResult[], score: number, contributions: number[]][] = [
  ['no factors', [], 0, []],
  ['one', [factor(30, 1)], 30, [30]],
  ['rounded to one decimal', [factor(33.33, 1)], 33.3, [33.3]],
  ['0.1 and 0.2', [factor(0.1, 1), factor(0.2, 1)], 0.3, [0.1, 0.2]],
  ['ten times 0.1', Array.from({ length: 10 }, () => factor(0.1, 1)), 1, Array.from({ length: 10 }, () => 0.1)],
  ['each rounded, then added', [factor(1, 1 / 3), factor(1, 1 / 3), factor(1, 1 / 3)], 0.9, [0.3, 0.3, 0.3]],
  ['at most 100', [factor(100, 1), factor(50, 1)], 100, [100, 50]],
  ['false adds nothing', [factor(50, 1, 'false'), factor(10, 1)], 10, [0, 10]],
  ['unknown adds all', [factor(50, 1, 'unknown')], 50, [50]],
]

for (const [name, factors, score, contributions] of SCORES) {
  test(`assessRisk: ${name}`, () => {
    const risk = assessRisk({ rules: [], factors, facts: new Map(), defaulted: new Set(), truths: new Map() })
    assert.equal(risk.score, score)
    assert.deepEqual(
      risk.factors.map(({ contribution }) => contribution),
      contributions,
    )
  })
}

test('assessRisk: without a policy it is the highest', () => {
  const factors = [{ name: 'no-policy', weight: 100, contribution: 100 }]
  assert.deepEqual(assessRisk(undefined), { score: 100, factors })
})

test('property: the score is the sum that is shown, and one more factor never lowers it', () => {
  const one = fc.tuple(fc.double({ min: 0.01, max: 100, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
  fc.assert(
    fc.property(fc.array(one, { maxLength: 8 }), one, (some, more) => {
      const factors = some.map(([weight, fraction]) => factor(weight, fraction))
      const risk = assessRisk({ rules: [], factors, facts: new Map(), defaulted: new Set(), truths: new Map() })
      const sum = risk.factors.reduce((total, { contribution }) => total + Math.round(contribution * 10), 0)
      assert.equal(risk.score, Math.min(1000, sum) / 10)
      assert.ok(
        assessRisk({
          rules: [],
          facts: new Map(),
          defaulted: new Set(),
          truths: new Map(),
          factors: [...factors, factor(...more)],
        }).score >= risk.score,
      )
    }),
  )
})
