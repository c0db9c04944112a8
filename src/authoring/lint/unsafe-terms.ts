import { globMatches, globsIntersect } from '../../base/glob.ts'
import { leavesOf } from '../../policies/kleene.ts'
import type { Counter, PolicyData, Rule } from '../../policies/set.ts'
import { schemasAt } from '../schemas/actions.ts'
import { itemsOf, keyOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { boundsOf, valuesOf } from './known.ts'

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
  for (const rule of holds) reportUnbound(memberOf(names.nodes.get(rule), 'approval'), [rule], certain)
  for (const root of roots) {
    reportUnbound(memberOf(root, 'approval'), holds, certain)
    const mode = memberOf(root, 'mode')
    if (mode !== undefined && textOf(mode) === 'observe') names.report.add('GATE2039', mode, OBSERVED, 'enforce')
  }
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

function reportUnbound(approval: Node | undefined, holds: readonly Rule[], { set, names }: Certain): void {
  for (const place of itemsOf(memberOf(approval, 'unbound'))) {
    const path = textOf(place)
    const rule = path === undefined ? undefined : comparingRule(path, holds, set)
    if (rule === undefined) continue
    const message = `Rule ${rule.id} compares ${path}, which may change after people have approved. Leave only paths unbound that no rule compares.`
    names.report.add('GATE2038', place, message)
  }
}

/** A rule about the held actions that compares the path. */
function comparingRule(path: string, holds: readonly Rule[], { rules, conditions }: PolicyData): Rule | undefined {
  return rules.find(
    ({ condition, actions }) =>
      condition !== undefined &&
      leavesOf(condition, conditions).some(({ fact }) => fact.text === path) &&
      holds.some((hold) => hold.actions.some((glob) => actions.some((other) => globsIntersect(glob, other)))),
  )
}
