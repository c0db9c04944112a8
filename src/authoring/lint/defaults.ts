import { distinctBy } from '../../base/grouped.ts'
import type { Json } from '../../base/json.ts'
import { memo } from '../../base/memo.ts'
import { comparisonTests, leafTest, parseOperator } from '../../policies/decorators.ts'
import { leavesOf } from '../../policies/kleene.ts'
import type { FactPath } from '../../policies/path.ts'
import type { Candidate, Leaf, PolicyData, Rule, Truth } from '../../policies/set.ts'
import { outcomesOf } from '../cases/possible-truths.ts'
import { declaredFor, isPresenceTest, mayBeMissing } from '../schemas/presence.ts'
import { memberOf, type Node } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { listText, placeOf } from './describe.ts'

const OPEN: readonly Truth[] = ['true', 'false']

/** Reports defaults by which a restraining rule or a scale does not apply where facts are missing, whatever else is sent. */
export function reportDefaults(certain: Certain): void {
  const { set, names, actionNodes } = certain
  if (actionNodes === undefined) return
  const reported = new Set<Leaf>()
  const byDefault = truthByDefault(set)
  const mayLack = lacking(set, actionNodes)
  for (const rule of set.rules) {
    if (rule.effect === 'allow') continue
    for (const [first, ...others] of releasedLeaves(rule, set, mayLack, byDefault)) {
      if (first === undefined || reported.has(first)) continue
      reported.add(first)
      const facts = [first, ...others].map(({ fact }) => sourceOf(fact, set))
      names.report.add('GATE2014', placeOf(first, names), message(facts, `rule ${rule.id} from applying`, set))
    }
  }
  for (const factor of set.factors) {
    const { scale, name } = factor
    const value = scale && set.facts.get(scale.fact.text)?.default
    if (scale === undefined || typeof value !== 'number' || value > scale.from || !mayLack(scale.fact, factor)) continue
    const place = memberOf(memberOf(names.nodes.get(factor), 'scale'), 'fact')
    if (place) names.report.add('GATE2014', place, message([scale.fact], `factor ${name} from adding anything`, set))
  }
}

/** Reports a fact without which a rule allows, whatever else is sent, since its default satisfies the condition. */
export function adviseDefault(rule: Rule, { set, names, actionNodes }: Certain): void {
  const { condition } = rule
  if (condition === undefined || actionNodes === undefined) return
  const [byDefault, mayLack] = [truthByDefault(set), lacking(set, actionNodes)]
  const leaf = leavesOf(condition, set.conditions).find(({ fact }) => {
    if (!mayLack(fact, rule)) return false
    const outcomes = outcomesOf(condition, set.conditions, (other) => {
      const truth = other.fact.text === fact.text ? byDefault(other) : undefined
      return new Set(truth === undefined ? OPEN : [truth])
    })
    return outcomes.size === 1 && outcomes.has('true')
  })
  if (leaf === undefined) return
  const value = JSON.stringify(set.facts.get(sourceOf(leaf.fact, set).text)?.default)
  const message = `If ${leaf.fact.text} is missing, its default ${value} makes rule ${rule.id} allow. Give a default that does not, or require the fact in the schema.`
  names.report.add('GATE2109', placeOf(leaf, names), message)
}

function message(facts: readonly FactPath[], kept: string, set: PolicyData): string {
  const texts = facts.map(({ text }) => text)
  const values = listText(texts.map((text) => JSON.stringify(set.facts.get(text)?.default)))
  const [are, their, keep] = facts.length > 1 ? ['are', 'their defaults', 'keep'] : ['is', 'its default', 'keeps']
  const remedy = 'take out the default, give one with which it applies, or require the fact in the schema'
  return `If ${listText(texts)} ${are} missing, ${their} ${values} ${keep} ${kept}; ${remedy}.`
}

/** The fact that a request brings: for a sum, the fact that is added up. */
function sourceOf(fact: FactPath, { counters }: PolicyData): FactPath {
  return counters.get(fact.text)?.sum ?? fact
}

/** The value of a fact that is missing in every request: of a sum, when its default adds nothing. */
function valueByDefault(fact: FactPath, set: PolicyData): Json | undefined {
  const source = sourceOf(fact, set)
  const value = set.facts.get(source.text)?.default
  return source === fact || (typeof value === 'number' && value <= 0) ? value : undefined
}

type MayLack = (fact: FactPath, about: Candidate) => boolean

/** Whether a fact may be missing when no default is looked at, and no condition asks whether it is there. */
function lacking(set: PolicyData, actionNodes: ReadonlyMap<string, Node>): MayLack {
  const contextsOf = memo((about: Pick<Candidate, 'actions'>) =>
    declaredFor(about, actionNodes).map((node) => ({ context: memberOf(node, 'context')?.value })),
  )
  const presence = { ...set, facts: new Map(), contextsOf }
  const guardedBy = memo(({ condition }: Candidate) => {
    const leaves = condition === undefined ? [] : leavesOf(condition, set.conditions)
    return new Set(leaves.filter(isPresenceTest).map(({ fact }) => fact.text))
  })
  return (fact, about) => !guardedBy(about).has(fact.text) && mayBeMissing(fact, about, presence)
}

/** Leaves of facts whose defaults make the rule false: each that does so alone, and the fewest others that do together. */
function releasedLeaves(
  rule: Rule,
  set: PolicyData,
  mayLack: MayLack,
  byDefault: (leaf: Leaf) => Truth | undefined,
): Leaf[][] {
  const { condition } = rule
  if (condition === undefined) return []
  const defaultOf = ({ fact }: Leaf): Json | undefined => valueByDefault(fact, set)
  const isNothing = (leaf: Leaf): boolean => isEmpty(defaultOf(leaf) ?? null)
  const firsts = distinctBy(leavesOf(condition, set.conditions), ({ fact }) => fact.text)
  const defaulted = firsts.filter((leaf) => defaultOf(leaf) !== undefined && mayLack(leaf.fact, rule))
  const isReleased = (without: readonly Leaf[]): boolean => {
    const missing = new Set(without.map(({ fact }) => fact.text))
    const outcomes = outcomesOf(condition, set.conditions, (leaf) => {
      const truth = missing.has(leaf.fact.text) ? byDefault(leaf) : undefined
      return new Set(truth === undefined ? OPEN : [truth])
    })
    return outcomes.size === 1 && outcomes.has('false')
  }
  const alone = defaulted.filter((leaf) => !isNothing(leaf) && isReleased([leaf]))
  const others = defaulted.filter((leaf) => !alone.includes(leaf))
  if (others.every(isNothing) || others.length < 2 || !isReleased(others)) return alone.map((leaf) => [leaf])
  // Defaults that say nothing go first, so that they take no blame from one that says something.
  const fewest = [...others.filter(isNothing), ...others].reduce((kept, leaf) => {
    const fewer = kept.filter((one) => one !== leaf)
    return isReleased(fewer) ? fewer : kept
  }, others)
  return [...alone.map((leaf) => [leaf]), ...(fewest.every(isNothing) ? [] : [fewest])]
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
    const [value, test] = [valueByDefault(fact, set), testOf(index)]
    return value === undefined || parsed === undefined || test === undefined ? undefined : leafTest(parsed, test)(value)
  }
}
