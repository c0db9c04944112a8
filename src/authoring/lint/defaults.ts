import { distinctBy } from '../../base/grouped.ts'
import type { Json } from '../../base/json.ts'
import { memo } from '../../base/memo.ts'
import { comparisonTests, leafTest, parseOperator } from '../../policies/decorators.ts'
import { leavesOf } from '../../policies/kleene.ts'
import type { Leaf, PolicyData, Rule, Truth } from '../../policies/set.ts'
import { outcomesOf } from '../cases/possible-truths.ts'
import { declaredFor, isPresenceTest, mayBeMissing } from '../schemas/presence.ts'
import { memberOf } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { placeOf } from './describe.ts'
import type { Declared } from './known.ts'

const OPEN: readonly Truth[] = ['true', 'false']

/** Reports defaults by which a restraining rule does not apply where the fact is missing, whatever else is sent. */
export function reportDefaults({ set, names, actionNodes }: Certain): void {
  const reported = new Set<Leaf>()
  const byDefault = truthByDefault(set)
  for (const rule of set.rules) {
    if (rule.effect === 'allow') continue
    for (const leaf of releasedLeaves(rule, { set, actionNodes }, byDefault)) {
      if (reported.has(leaf)) continue
      reported.add(leaf)
      const { text } = leaf.fact
      const value = JSON.stringify(set.facts.get(text)?.default)
      const message = `Where ${text} is missing, its default ${value} keeps rule ${rule.id} from applying; take out the default, give one with which it applies, or require the fact in the schema.`
      names.report.add('GATE2014', placeOf(leaf, names), message)
    }
  }
}

/** The first leaf of each fact whose default alone makes the rule false. */
function releasedLeaves(
  rule: Rule,
  { set, actionNodes }: Pick<Declared, 'set' | 'actionNodes'>,
  byDefault: (leaf: Leaf) => Truth | undefined,
): Leaf[] {
  const { condition } = rule
  if (condition === undefined || actionNodes === undefined) return []
  const leaves = leavesOf(condition, set.conditions)
  const guarded = new Set(leaves.filter(isPresenceTest).map(({ fact }) => fact.text))
  const contextsOf = memo((about: Pick<Rule, 'actions'>) =>
    declaredFor(about, actionNodes).map((node) => ({ context: memberOf(node, 'context')?.value })),
  )
  // What may be missing when no default is looked at.
  const presence = { ...set, facts: new Map(), contextsOf }
  const firsts = distinctBy(leaves, ({ fact }) => fact.text)
  return firsts.filter(({ fact }) => {
    const value = set.facts.get(fact.text)?.default
    if (guarded.has(fact.text) || value === undefined || isEmpty(value)) return false
    if (!mayBeMissing(fact, rule, presence)) return false
    const outcomes = outcomesOf(condition, set.conditions, (leaf) => {
      const truth = leaf.fact.text === fact.text ? byDefault(leaf) : undefined
      return new Set(truth === undefined ? OPEN : [truth])
    })
    return outcomes.size === 1 && outcomes.has('false')
  })
}

/** True for what says that there is nothing, so that a rule about it has nothing to judge. */
function isEmpty(value: Json): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}

/** The truth of a leaf whose fact has its default; undefined where it has none. */
function truthByDefault(set: PolicyData): (leaf: Leaf) => Truth | undefined {
  const testOf = comparisonTests(set)
  return ({ fact, operator, index }) => {
    const parsed = parseOperator(operator)
    const [value, test] = [set.facts.get(fact.text)?.default, testOf(index)]
    return value === undefined || parsed === undefined || test === undefined ? undefined : leafTest(parsed, test)(value)
  }
}
