import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../../src/base/json.ts'
import type { Truth } from '../../src/policy/set.ts'
import { setWhen, truthOf } from './sets.ts'

// The tree as the policy says it, the facts as the request brings them, and the outcome that Kleene's tables give.
type Tree = { leaf: number } | { all: Tree[] } | { any: Tree[] } | { not: Tree } | { condition: number }
const NAMED: Tree[] = [{ leaf: 0 }, { not: { leaf: 1 } }, { any: [{ leaf: 2 }, { condition: 1 }] }]
const tree = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ leaf: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ condition: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ not: tie('tree') }),
    fc.record({ all: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ any: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }) }),
  ),
})).tree
const TRUTHS: Truth[] = ['false', 'unknown', 'true']

function toPolicy(node: Tree): Json {
  if ('leaf' in node)
    return { fact: `context.f${node.leaf}`, operator: node.leaf % 2 ? 'not:equal' : 'equal', value: true }
  if ('condition' in node) return { condition: `c${node.condition}` }
  if ('not' in node) return { not: toPolicy(node.not) }
  return 'all' in node ? { all: node.all.map(toPolicy) } : { any: node.any.map(toPolicy) }
}

// Truth as 0, 1, 2: and is the least, or the greatest, not the mirror image.
function reference(node: Tree, facts: readonly number[]): number {
  if ('leaf' in node) return node.leaf % 2 ? 2 - (facts[node.leaf] ?? 1) : (facts[node.leaf] ?? 1)
  if ('condition' in node) return reference(NAMED[node.condition] ?? { leaf: 0 }, facts)
  if ('not' in node) return 2 - reference(node.not, facts)
  if ('all' in node) return Math.min(...node.all.map((one) => reference(one, facts)))
  return Math.max(...node.any.map((one) => reference(one, facts)))
}

test('property: random conditions come out as Kleene logic says', async () => {
  const conditions = Object.fromEntries(NAMED.map((node, i) => [`c${i}`, toPolicy(node)]))
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 6, maxLength: 6 }),
      async (node, facts) => {
        const set = setWhen(JSON.stringify(toPolicy(node)), `conditions: ${JSON.stringify(conditions)}\n`)
        const known = facts.flatMap((truth, i) => (truth === 1 ? [] : [[`f${i}`, truth === 2]]))
        assert.equal(await truthOf(set, Object.fromEntries(known)), TRUTHS[reference(node, facts)])
      },
    ),
    { numRuns: 300 },
  )
})
