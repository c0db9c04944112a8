import { memo } from '../../base/memo.ts'
import { leavesOf } from '../../policies/kleene.ts'
import { OVER_TIME_ROOTS } from '../../policies/path.ts'
import type { Leaf, PolicyData, Rule } from '../../policies/set.ts'
import { BUILT_IN_FACTS } from '../load/fact-names.ts'
import { declaredFor, isPresenceTest, mayBeMissing } from '../schemas/presence.ts'
import { memberOf } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { placeOf } from './describe.ts'
import type { Declared } from './known.ts'

/** Reports facts whose absence makes a restraining rule apply, where the policy does not show that this is intended. */
export function reportUncertain(certain: Certain): void {
  const { set, names } = certain
  const reported = new Set<Leaf>()
  for (const rule of set.rules) {
    if (rule.effect === 'allow') continue
    for (const leaf of uncertainLeaves(rule, certain)) {
      if (reported.has(leaf)) continue
      reported.add(leaf)
      const where = `If ${leaf.fact.text} is missing, rule ${rule.id} applies`
      const message = `${where}; ${remedy(leaf, set)}, or ask with exists.`
      names.report.add('GATE2007', placeOf(leaf, names), message)
    }
  }
}

/** Advice on how to make sure that the fact is present. */
function remedy({ fact }: Leaf, { session, counters }: PolicyData): string {
  if (!OVER_TIME_ROOTS.has(fact.root)) return 'require it in the schema'
  const counter = counters.get(fact.text)
  const ofSession = counter === undefined || counter.by === 'session' ? session?.fact : undefined
  const made = [ofSession, counter?.sum].flatMap((from) => from?.text ?? [])
  return `require ${made.join(' and ')} in the schema`
}

/** Leaves of a rule whose fact may be missing: without default, guard, or a schema that requires it. */
export function uncertainLeaves(rule: Rule, { set, actionNodes }: Declared): Leaf[] {
  if (rule.condition === undefined || actionNodes === undefined) return []
  const leaves = leavesOf(rule.condition, set.conditions)
  const guarded = new Set(leaves.filter(isPresenceTest).map(({ fact }) => fact.text))
  const open = leaves.filter(({ fact }) => !guarded.has(fact.text) && !BUILT_IN_FACTS.has(fact.text))
  if (open.length === 0) return []
  const contextsOf = memo((about: Pick<Rule, 'actions'>) =>
    declaredFor(about, actionNodes).map((node) => ({ context: memberOf(node, 'context')?.value })),
  )
  const presence = { ...set, contextsOf }
  return open.filter(({ fact }) => mayBeMissing(fact, rule, presence))
}
