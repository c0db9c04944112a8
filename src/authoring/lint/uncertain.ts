import { type Glob, globContains } from '../../base/glob.ts'
import { grouped } from '../../base/grouped.ts'
import { memo } from '../../base/memo.ts'
import { leavesOf } from '../../policies/kleene.ts'
import { ANY, type FactPath, factPath, isPlural, OVER_TIME_ROOTS } from '../../policies/path.ts'
import { type Condition, enforcedRules, type Leaf, type PolicyData, type Rule } from '../../policies/set.ts'
import { BUILT_IN_FACTS } from '../load/fact-names.ts'
import { schemaAt, typesOf } from '../schemas/actions.ts'
import { declaredFor, isPresenceTest, mayBeMissing } from '../schemas/presence.ts'
import { memberOf } from '../yaml/node.ts'
import { createBudget, PAIRS } from './budget.ts'
import type { Certain } from './certain.ts'
import { placeOf } from './describe.ts'
import type { Declared } from './known.ts'

/** Reports facts whose absence makes a restraining rule apply, where the policy does not show that this is intended. */
export function reportUncertain(certain: Certain): void {
  const { set, names } = certain
  const reported = new Set<Leaf>()
  const covering = grouped(
    enforcedRules(set).flatMap((rule) => absencesIn(rule.condition, set).map((fact) => ({ fact, rule }))),
    ({ fact }) => fact,
  )
  // Beyond it each absence is reported.
  const budget = createBudget(PAIRS)
  for (const rule of set.rules) {
    if (rule.effect === 'allow') continue
    for (const leaf of uncertainLeaves(rule, certain)) {
      if (reported.has(leaf)) continue
      const isCovered = covering
        .get(leaf.fact.text)
        ?.some((other) => budget.spend(rule.actions.length * other.rule.actions.length) && isAsStrong(other.rule, rule))
      if (isCovered === true) continue
      reported.add(leaf)
      const through = listAbove(leaf.fact, rule, certain)
      const message =
        through === undefined
          ? `If ${leaf.fact.text} is missing, rule ${rule.id} applies; ${remedy(leaf, set)}, or ask with exists.`
          : `${through.list} is a list, so ${leaf.fact.text} is always missing and rule ${rule.id} applies. Write ${through.items}, and ask with someFact:.`
      names.report.add('GATE2007', placeOf(leaf, names), message)
    }
  }
}

/** The list, by the schemas of all actions, through which a path without `*` leads, and the path to that of its items. */
function listAbove(fact: FactPath, rule: Rule, { actionNodes }: Declared): { list: string; items: string } | undefined {
  const { root, segments } = fact
  const declared = actionNodes === undefined ? [] : declaredFor(rule, actionNodes)
  const isList = (length: number): boolean =>
    declared.every((action) => {
      const node = schemaAt(memberOf(action, root), segments.slice(0, length))
      const types = node && typesOf(node)
      return types?.length === 1 && types[0] === 'array'
    })
  const at = segments.findIndex((next, i) => i > 0 && !/^\d+$/.test(next ?? '') && isList(i))
  if (at < 0 || declared.length === 0 || isPlural(fact)) return undefined
  const [above, below] = [segments.slice(0, at), segments.slice(at)]
  return { list: factPath(root, above).text, items: factPath(root, [...above, ANY, ...below]).text }
}

/** Facts whose absence alone makes the condition true. */
function absencesIn(condition: Condition | undefined, { conditions }: PolicyData): string[] {
  const whole = condition?.kind === 'condition' ? conditions.get(condition.name) : condition
  const parts = whole?.kind === 'any' ? whole.conditions : [whole]
  return parts.flatMap((part) => (part?.kind === 'leaf' && part.operator === 'missing' ? [part.fact.text] : []))
}

/** True when the rule decides no less about all actions of another. */
function isAsStrong(rule: Rule, other: Rule): boolean {
  const effects = other.effect === 'deny' ? ['deny'] : ['deny', 'require_approval']
  const isCovered = (own: Glob): boolean => rule.actions.some((glob) => globContains(glob, own))
  return rule !== other && effects.includes(rule.effect) && other.actions.every(isCovered)
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
