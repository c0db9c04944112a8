import { type Glob, globMatches, globsIntersect } from '../../base/glob.ts'
import { parseOperator } from '../../policies/decorators.ts'
import { leavesOf } from '../../policies/kleene.ts'
import type { FactPath } from '../../policies/path.ts'
import type { Candidate, Counter, Factor, PolicyData, Rule } from '../../policies/set.ts'
import { schemasAt } from '../schemas/actions.ts'
import { itemsOf, keyOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { placeOf } from './describe.ts'
import { boundsOf, valuesOf } from './known.ts'
import { passesIfTrue, passingOf } from './loose-allows.ts'

/** Reports policies that enforce nothing, sums that a request can lower, and approvals that let a request change what rules compare. */
export function reportUnsafeTerms(certain: Certain): void {
  const { set, names, roots, actionNodes } = certain
  for (const [path, counter] of actionNodes === undefined ? [] : set.counters) {
    const action = counter.sum && actionWithNegatives(counter, certain)
    const name = path.slice('history.sum.'.length)
    const [place] = roots.flatMap((root) => keyOf(memberOf(memberOf(root, 'history'), 'sum'), name) ?? [])
    if (action === undefined || place === undefined) continue
    const message = `The schema of ${action} lets a negative ${counter.sum?.text} through, which takes the sum back below a limit. Write minimum: 0 there.`
    names.report.add('GATE2037', place, message)
  }
  const holds = set.rules.filter(({ effect }) => effect === 'require_approval')
  for (const rule of holds) reportUnbound(memberOf(names.nodes.get(rule), 'approval'), rule.actions, certain)
  for (const root of roots) {
    reportUnbound(memberOf(root, 'approval'), undefined, certain)
    const mode = memberOf(root, 'mode')
    if (mode !== undefined && textOf(mode) === 'observe') names.report.add('GATE2039', mode, OBSERVED, 'enforce')
  }
  for (const about of [...set.rules, ...set.factors]) reportPassed(about, certain)
}

const OBSERVED =
  'The policies decide and record, and every action runs that no stop covers. Enforce them after the roll-out.'

/** A declared action whose number may be below zero. */
function actionWithNegatives({ actions, sum }: Counter, { actionNodes = new Map() }: Certain): string | undefined {
  if (sum === undefined) return undefined
  return [...actionNodes.keys()].find((action) => {
    const nodes = schemasAt(memberOf(actionNodes.get(action), sum.root), sum.segments)
    return nodes.length > 0 && actions.some((glob) => globMatches(glob, action)) && !nodes.some(isNeverNegative)
  })
}

function isNeverNegative(node: Node): boolean {
  const values = valuesOf(node)
  if (values !== undefined) return values.every((value) => typeof value !== 'number' || value >= 0)
  return boundsOf(node).some(({ holds }) => !holds(-1) && holds(Number.MAX_VALUE))
}

/** @param held the actions that are held on these terms; undefined for all that rules or their risk holds */
function reportUnbound(approval: Node | undefined, held: readonly Glob[] | undefined, { set, names }: Certain): void {
  for (const place of itemsOf(memberOf(approval, 'unbound'))) {
    const path = textOf(place)
    const reading = path === undefined ? undefined : readingOf(path, held, set)
    if (reading === undefined) continue
    const message = `${reading}, which may change after people have approved. Leave only paths unbound that no rule compares.`
    names.report.add('GATE2038', place, message)
  }
}

/**
 * The rule, factor or sum that reads the path, or a member below it. A rule that denies is evaluated again for
 * the request that uses the approval.
 */
function readingOf(path: string, held: readonly Glob[] | undefined, set: PolicyData): string | undefined {
  const isBelow = ({ text }: FactPath): boolean => text === path || text.startsWith(`${path}.`)
  const isHeld = (actions: readonly Glob[]): boolean =>
    held === undefined || held.some((glob) => actions.some((other) => globsIntersect(glob, other)))
  const compared = ({ condition }: Candidate): FactPath | undefined =>
    condition &&
    leavesOf(condition, set.conditions)
      .map(({ fact }) => fact)
      .find(isBelow)
  for (const rule of set.rules) {
    const fact = rule.effect === 'require_approval' ? compared(rule) : undefined
    if (fact !== undefined && isHeld(rule.actions)) return `Rule ${rule.id} compares ${fact.text}`
  }
  for (const factor of set.factors) {
    const scaled = factor.scale?.fact
    const fact = compared(factor) ?? (scaled && isBelow(scaled) ? scaled : undefined)
    if (fact !== undefined && isHeld(factor.actions)) return `Factor ${factor.name} reads ${fact.text}`
  }
  for (const [name, { sum, actions }] of set.counters)
    if (sum !== undefined && isBelow(sum) && isHeld(actions)) return `${name} adds up ${sum.text}`
  return undefined
}

/** Reports a count or sum that holds, or adds to the risk, at one value, and no longer beyond it. */
function reportPassed(about: Rule | Factor, { set, names }: Certain): void {
  const effect = 'effect' in about ? about.effect : 'factor'
  if (effect === 'allow' || set.counters.size === 0) return
  for (const passing of passingOf(about, set)) {
    const { fact, operator, wanted } = passing.leaf
    const counter = set.counters.get(fact.text)
    const isSum = counter?.sum !== undefined
    // A denied action is not counted, so that the count stays. The first action may be meant alone.
    if (counter === undefined || passesIfTrue(passing) || (effect === 'deny' && !isSum)) continue
    const isPassed = typeof wanted === 'number' && wanted > (isSum ? 0 : 1)
    if (parseOperator(operator)?.operator.name !== 'equal' || !isPassed) continue
    const place = memberOf(names.nodes.get(passing.leaf), 'operator') ?? placeOf(passing.leaf, names)
    const how = isSum
      ? `is seldom exactly ${JSON.stringify(wanted)}`
      : `is ${JSON.stringify(wanted)} for one action, and more for the next`
    const message = `${fact.text} ${how}. Ask with greaterThanInclusive.`
    names.report.add('GATE2040', place, message, operator === 'equal' ? 'greaterThanInclusive' : undefined)
  }
}
