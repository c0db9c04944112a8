import { type Glob, globsIntersect } from '../../base/glob.ts'
import { distinctBy } from '../../base/grouped.ts'
import type { Rule, Truth } from '../../policies/set.ts'
import { placeText } from '../load/declarations.ts'
import { closest } from '../suggest/closest.ts'
import { itemsOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { listText } from './describe.ts'
import type { Search } from './search.ts'

/** Most pairs of holds that are compared; beyond them nothing is reported. */
const PAIRS = 100_000

/** Reports groups that are probably one misspelt, and holds that a person in one group alone cannot approve. */
export function reportApprovers(certain: Certain, search: Search): void {
  reportSpelling(certain)
  reportDisjoint(certain, search)
}

/** A group that only one place names, with a name near to that of a group that is named earlier or more often. */
function reportSpelling({ set, names, roots }: Certain): void {
  const terms = [...roots, ...set.rules.flatMap((rule) => names.nodes.get(rule) ?? [])]
  const places = terms.flatMap((node) => itemsOf(memberOf(memberOf(node, 'approval'), 'approvers')))
  const uses = new Map<string, number>()
  for (const place of places) {
    const group = textOf(place)
    if (group !== undefined) uses.set(group, (uses.get(group) ?? 0) + 1)
  }
  const earlier = new Set<string>()
  for (const place of places) {
    const group = textOf(place)
    if (group === undefined) continue
    const others = [...uses.keys()].filter((other) => earlier.has(other) || (uses.get(other) ?? 0) > 1)
    earlier.add(group)
    if (uses.get(group) !== 1) continue
    const meant = names.report.search(others, (known) => closest(group, known))
    if (meant === undefined || areSiblings(group, meant)) continue
    const message = `No other rule names the group ${group}, but ${meant} is named too. If keys have only one of them, nobody can approve the other.`
    names.report.add('GATE2030', place, message, meant)
  }
}

/** Words below this length are near to each other by chance, as sales and scales are. */
const MIN_WORD = 6

/** True for names that differ on purpose: in a number, in a short last part such as a country, or as short words do. */
function areSiblings(a: string, b: string): boolean {
  if (a.toLowerCase() === b.toLowerCase()) return false
  const stems = [/\d+/g, /[-_./][^-_./]{1,3}$/].map((part) => [a, b].map((name) => name.replace(part, '')))
  return Math.min(a.length, b.length) < MIN_WORD || stems.some(([one, other]) => one === other)
}

/** Every voter needs a group of each hold that applies. */
function reportDisjoint({ set, names }: Certain, search: Search): void {
  const holds = set.rules.filter(({ effect, terms }) => effect === 'require_approval' && terms.approvers.length > 0)
  if (holds.length ** 2 > PAIRS) return
  for (const [i, rule] of holds.entries()) {
    const groups = groupsOf(rule)
    const disjoint = holds.slice(0, i).filter((other) => !groupsOf(other).some((group) => groups.includes(group)))
    const beside = disjoint.filter((other) => applyTogether(rule, other, search))
    const [other] = distinctBy(beside, (one) => groupsOf(one).join(' '))
    const node = names.nodes.get(rule)
    if (other === undefined || node === undefined) continue
    const there = names.nodes.get(other)
    const where = there === undefined ? '' : ` (${placeText(there)})`
    const message = `If rule ${other.id}${where} holds too, each approver needs a key of ${listText(groupsOf(other), 'or')} and of ${listText(groups, 'or')}: a person in only one of them cannot vote. Let the rules exclude each other, or name a group that both have.`
    names.report.add('GATE2031', placeOfApprovers(node), message)
  }
}

function groupsOf({ terms }: Rule): readonly string[] {
  return terms.approvers.flat()
}

function applyTogether(a: Rule, b: Rule, search: Search): boolean {
  const meet = (globs: readonly Glob[], others: readonly Glob[]): Glob[] =>
    globs.filter((glob) => others.some((other) => globsIntersect(glob, other)))
  const scope = meet(a.actions, b.actions)
  if (scope.length === 0) return false
  const goals = [a, b].flatMap(({ condition }) =>
    condition === undefined ? [] : [{ condition, holds: (truth: Truth) => truth === 'true' }],
  )
  return goals.length === 0 || search.search(goals, scope) === 'found'
}

/** The groups of a rule, or the rule where those are the set's. */
function placeOfApprovers(node: Node) {
  return memberOf(memberOf(node, 'approval'), 'approvers') ?? memberOf(node, 'id') ?? node
}
