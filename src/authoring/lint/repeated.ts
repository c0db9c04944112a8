import { type Glob, globContains } from '../../base/glob.ts'
import { repeatsOf } from '../../base/grouped.ts'
import { enforcedRules, type PolicyData, type Rule } from '../../policies/set.ts'
import { placeText } from '../load/declarations.ts'
import type { Names } from '../load/names.ts'
import { entriesOf, itemsOf, memberOf, type Node } from '../yaml/node.ts'
import { conditionKey } from './conditions.ts'
import { writtenLeaves } from './describe.ts'

/** Reports repetitions without further meaning. Returns the rules that repeat an earlier one. */
export function reportRepeated(set: PolicyData, names: Names, files: readonly Node[]): ReadonlySet<Rule> {
  for (const candidate of [...set.rules, ...set.factors])
    reportPatterns(candidate.actions, memberOf(names.nodes.get(candidate), 'actions'), names)
  const isSound = (node: Node): boolean => !names.report.errors.within(node)
  for (const rule of set.rules) reportTerms(memberOf(names.nodes.get(rule), 'approval'), names)
  for (const root of files) {
    reportTerms(memberOf(root, 'approval'), names)
    for (const { name, value } of entriesOf(memberOf(root, 'domains')))
      if (isSound(value)) reportPatterns(set.domains.get(name) ?? [], value, names)
    for (const { value } of entriesOf(memberOf(root, 'lists')))
      if (isSound(value)) reportValues(memberOf(value, 'values'), names)
  }
  for (const { leaf, node } of writtenLeaves(names))
    if (Array.isArray(leaf.wanted)) reportValues(memberOf(node, 'value'), names)
  return reportRules(enforcedRules(set), names)
}

/** Most patterns of a list that are compared with each other; in a longer list only equal ones are noticed. */
const MAX_COMPARED = 100

function reportPatterns(globs: readonly Glob[], node: Node | undefined, names: Names): void {
  const seen = new Set<string>()
  for (const [i, glob] of globs.entries()) {
    const place = itemsOf(node)[i]
    if (place === undefined) continue
    const other =
      globs.length > MAX_COMPARED
        ? undefined
        : globs.find((outer) => outer.text !== glob.text && globContains(outer, glob))
    if (seen.has(glob.text))
      names.report.add('GATE2015', place, `${glob.text} stands in this list already. Take it out.`)
    else if (other !== undefined) {
      const message = `${glob.text} adds nothing: ${other.text} matches all of its actions. Take it out.`
      names.report.add('GATE2015', place, message)
    }
    seen.add(glob.text)
  }
}

function reportValues(node: Node | undefined, names: Names): void {
  for (const item of repeatsOf(itemsOf(node), ({ value }) => value))
    names.report.add('GATE2017', item, `${JSON.stringify(item.value)} stands in this list already. Take it out.`)
}

function reportTerms(approval: Node | undefined, names: Names): void {
  for (const key of ['approvers', 'unbound']) reportValues(memberOf(approval, key), names)
}

/** Rules with the same actions, effect and condition; a hold also with the same terms, since those add up. */
function reportRules(rules: readonly Rule[], names: Names): ReadonlySet<Rule> {
  const first = new Map<string, Rule>()
  const repeated = new Set<Rule>()
  for (const rule of rules) {
    const { actions, effect, condition, terms } = rule
    const patterns = actions.map(({ text }) => text).sort()
    const asks = condition === undefined ? '' : conditionKey(condition)
    const key = JSON.stringify([effect, patterns, asks, effect === 'require_approval' ? terms : null])
    const earlier = first.get(key)
    const node = names.nodes.get(rule)
    if (earlier === undefined) {
      first.set(key, rule)
      continue
    }
    if (node === undefined) continue
    repeated.add(rule)
    const there = names.nodes.get(earlier)
    const where = there === undefined ? '' : ` (${placeText(there)})`
    const message = `The rule says what rule ${earlier.id}${where} says: the same actions, effect and condition. Take one of them out.`
    names.report.add('GATE2016', memberOf(node, 'id') ?? node, message)
  }
  return repeated
}
