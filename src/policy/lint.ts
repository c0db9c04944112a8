import type { Glob } from '../base/glob.ts'
import { actionNodes } from './actions.ts'
import { indexCandidates } from './candidates.ts'
import type { ReadFiles } from './files.ts'
import { leavesOf } from './kleene.ts'
import type { Names } from './names.ts'
import { entriesOf, memberOf, type Node, placeAt } from './node.ts'
import { type DeclaredContext, declaredFor, isPresenceTest, mayBeMissing } from './presence.ts'
import type { Leaf, PolicyData, Rule } from './set.ts'

/** Reports what is doubtful in a set, but can be meant. */
export function lint(set: PolicyData, names: Names, files: ReadFiles): void {
  for (const { root } of files.policies) {
    reportUnused(root, 'lists', names.used.lists, 'GATE2002', names)
    reportUnused(root, 'conditions', names.used.conditions, 'GATE2003', names)
  }
  reportShadowed(set.rules, names)
  const actions = files.policies
    .flatMap(({ root }) => actionNodes(root))
    .map(({ name, node }) => ({ name, context: memberOf(node, 'context')?.value }))
  const reported = new Set<Leaf>()
  for (const rule of set.rules) reportUncertain(rule, set, actions, names, reported)
}

function reportUnused(
  root: Node,
  section: 'lists' | 'conditions',
  used: ReadonlySet<string>,
  code: 'GATE2002' | 'GATE2003',
  names: Names,
): void {
  for (const { name, key } of entriesOf(memberOf(root, section))) {
    if (!used.has(name)) names.report.add(code, key, `Nothing uses ${JSON.stringify(name)}.`)
  }
}

const STRENGTH = { deny: 2, require_approval: 1, allow: 0 } as const

/** Rules that always stand behind a rule without condition, which decides first wherever they match. */
function reportShadowed(rules: readonly Rule[], names: Names): void {
  // A condition that could not be read is not the absence of one.
  const always = rules.filter((rule) => memberOf(names.nodes.get(rule), 'when') === undefined)
  const order = new Map(rules.map((rule, i) => [rule, i]))
  const covering = coveringRules(always)
  for (const rule of rules) {
    const node = names.nodes.get(rule)
    const [first, ...rest] = rule.actions.map(covering)
    const shadow = first?.find(
      (other) => other !== rule && rest.every((more) => more.includes(other)) && isStronger(other, rule, order),
    )
    if (shadow === undefined || node === undefined) continue
    const place = memberOf(node, 'id') ?? node
    names.report.add(
      'GATE2006',
      place,
      `The rule can never decide: rule ${shadow.id} always ${VERB[shadow.effect]} these actions.`,
    )
  }
}

const VERB = { deny: 'denies', require_approval: 'holds', allow: 'allows' } as const

// Holds add up: a second one can still ask for more approvers, so it is not without effect.
function isStronger(other: Rule, rule: Rule, order: ReadonlyMap<Rule, number>): boolean {
  if (other.effect !== rule.effect) return STRENGTH[other.effect] > STRENGTH[rule.effect]
  return rule.effect !== 'require_approval' && (order.get(other) ?? 0) < (order.get(rule) ?? 0)
}

/** Patterns that every action is compared with at most; of larger sets only equal patterns are noticed. */
const MAX_COMPARED = 300

/** Of rules with the same pattern and effect only the first shadows more than the others do. */
function firstOfEach(rules: readonly Rule[]): Rule[] {
  const seen = new Set<string>()
  return rules.filter((rule) => {
    const fresh = rule.actions.filter(({ text }) => !seen.has(`${rule.effect} ${text}`))
    for (const { text } of fresh) seen.add(`${rule.effect} ${text}`)
    return fresh.length > 0
  })
}

/** Finds the rules whose patterns cover all actions of a pattern, where that is plain to see. */
function coveringRules(all: readonly Rule[]): (glob: Glob) => readonly Rule[] {
  const rules = firstOfEach(all)
  const find = rules.length > MAX_COMPARED ? undefined : indexCandidates(rules)
  const byText = new Map<string, Rule[]>()
  for (const rule of rules) {
    for (const { text } of rule.actions) byText.set(text, [...(byText.get(text) ?? []), rule])
  }
  return (glob) => {
    if (glob.exact && find !== undefined) return find(glob.text).flatMap((i) => rules[i] ?? [])
    return [...(byText.get(glob.text) ?? []), ...(byText.get('**') ?? [])]
  }
}

/** Facts whose absence makes a restraining rule apply, where nothing shows that the author thought of it. */
function reportUncertain(
  rule: Rule,
  set: PolicyData,
  actions: readonly DeclaredContext[],
  names: Names,
  reported: Set<Leaf>,
): void {
  if (rule.effect === 'allow' || rule.condition === undefined) return
  const leaves = leavesOf(rule.condition, set.conditions)
  const guarded = new Set(leaves.filter(isPresenceTest).map(({ fact }) => fact.text))
  const declared = declaredFor(rule, actions)
  for (const leaf of leaves) {
    const { fact } = leaf
    if (guarded.has(fact.text) || reported.has(leaf) || !mayBeMissing(fact, set, declared)) continue
    reported.add(leaf)
    const node = names.nodes.get(leaf)
    const place = memberOf(node, 'fact') ?? node ?? placeAt({ file: leaf.file, text: '', lineStarts: [0] }, 0)
    const message = `Where ${fact.text} is missing, rule ${rule.id} applies; give it a default, require it in the schema, or ask with exists.`
    names.report.add('GATE2007', place, message)
  }
}
