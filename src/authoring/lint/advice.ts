import { parseOperator } from '../../policies/decorators.ts'
import type { Leaf, Rule } from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import { itemsOf, memberOf, type Node } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { adviseDefault } from './defaults.ts'
import { leafText, placeOf, writtenLeaves } from './describe.ts'
import { adviseLoose, type Passing, passesIfTrue, passingOf } from './loose-allows.ts'
import { adviseSpelling } from './spelling.ts'
import { uncertainLeaves } from './uncertain.ts'

/** Reports valid parts that could be safer or plainer. Shown by `gate-sidecar lint` alone. */
export function advise(certain: Certain): void {
  const { set, names, roots } = certain
  for (const rule of set.rules) {
    const passing = passingOf(rule, set)
    if (rule.effect === 'allow') adviseAllow(rule, passing, certain)
    for (const one of passing) adviseLoose(one, rule, names)
    adviseTerms(memberOf(names.nodes.get(rule), 'approval'), names)
  }
  for (const root of roots) adviseTerms(memberOf(root, 'approval'), names)
  for (const { leaf, node } of writtenLeaves(names)) adviseLength(leaf, node, names)
  adviseThresholds(certain)
  adviseTimezone(certain)
  adviseSpelling(certain)
}

function adviseAllow(rule: Rule, passing: readonly Passing[], certain: Certain): void {
  const { condition } = rule
  const { names } = certain
  if (condition === undefined) {
    for (const place of itemsOf(memberOf(names.nodes.get(rule), 'actions'))) adviseWide(place, rule, names)
    return
  }
  adviseDefault(rule, certain)
  const asserted = passing.filter(({ isDenied }) => !isDenied).map(({ leaf }) => leaf)
  for (const leaf of uncertainLeaves(rule, certain)) {
    if (isNegation(leaf) !== asserted.includes(leaf)) continue
    const { fact } = leaf
    const message = `${leafText(leaf)} is unknown where ${fact.text} is missing, and rule ${rule.id} does not allow then. If that is meant, ask with exists too; if not, give ${fact.text} a default or require it in the schema.`
    names.report.add('GATE2102', placeOf(leaf, names), message)
  }
  for (const one of passing) if (passesIfTrue(one)) adviseAnchors(one.leaf, rule, names)
}

/** Reports a pattern that names no part of an action. */
function adviseWide(place: Node, rule: Rule, names: Names): void {
  const pattern = String(place.value)
  if (!/^[*.]+$/.test(pattern)) return
  const those = pattern === '**' ? '' : `that ${pattern} matches and `
  const message = `Rule ${rule.id} allows every action ${those}that no other rule denies or holds, those that are still to come too. Name the actions.`
  names.report.add('GATE2105', place, message)
}

const NEGATIONS = ['notEqual', 'notIn', 'notInList', 'doesNotContain']

function isNegation({ operator }: Leaf): boolean {
  const parts = operator.split(':')
  return parts.includes('not') || NEGATIONS.includes(parts.at(-1) ?? '')
}

function adviseAnchors(leaf: Leaf, rule: Rule, names: Names): void {
  const { operator, wanted } = leaf
  if (parseOperator(operator)?.operator.name !== 'matches') return
  const pattern = String(wanted)
  const isAnchored = /^(\(\?[a-zA-Z]+\))?(\^|\\A)/.test(pattern) && /(\$|\\z)$/.test(pattern)
  const isOfParts = hasBareAlternative(pattern)
  if (isAnchored && !isOfParts) return
  const how = isOfParts && isAnchored ? ' Put the alternatives in brackets, as in ^(a|b)$.' : ''
  const message = `Rule ${rule.id} allows every text of which some part matches. Anchor the pattern with ^ and $, and write .* where anything may stand.${how}`
  names.report.add('GATE2104', memberOf(names.nodes.get(leaf), 'value') ?? placeOf(leaf, names), message)
}

/** True for `^a|b$`, of which each anchor holds for one alternative alone; false for `^a$|^b$`. */
function hasBareAlternative(pattern: string): boolean {
  const outside = pattern.replace(/\\.|\[[^\]]*\]/g, '_').replace(/^\(\?[a-zA-Z]+\)/, '')
  let bare = outside
  for (let next = ''; next !== bare; ) {
    next = bare
    bare = bare.replace(/\([^()]*\)/g, '_')
  }
  const parts = bare.split('|')
  return parts.length > 1 && !parts.every((part) => part.startsWith('^') && part.endsWith('$'))
}

const LONG_LIST = 30

function adviseLength({ wanted }: Leaf, node: Node, names: Names): void {
  const place = memberOf(node, 'value')
  if (!Array.isArray(wanted) || wanted.length <= LONG_LIST || place === undefined) return
  const message = `The list has ${wanted.length} values. Put them under lists, or in a file of their own, and ask with inList.`
  names.report.add('GATE2103', place, message)
}

function adviseTerms(approval: Node | undefined, names: Names): void {
  const place = memberOf(approval, 'selfApproval')
  if (place?.value !== true) return
  const message =
    'The requester may approve its own request, so one stolen key is enough. Leave it out unless people ask for themselves.'
  names.report.add('GATE2106', place, message)
}

/** Reports the first condition on the local time in a set without a time zone. */
function adviseTimezone({ names, roots }: Certain): void {
  if (roots.some((root) => memberOf(root, 'timezone') !== undefined)) return
  const timed = writtenLeaves(names).find(({ leaf }) => leaf.fact.root === 'time')
  if (timed === undefined) return
  const message = `${timed.leaf.fact.text} is in UTC, since the set has no timezone. Add one, such as timezone: Europe/Berlin or timezone: UTC.`
  names.report.add('GATE2112', placeOf(timed.leaf, names), message)
}

/** Reports factors that even together do not reach the lower threshold. */
function adviseThresholds({ set: { factors, thresholds }, names, roots }: Certain): void {
  const tenths = factors.reduce((sum, { weight }) => sum + Math.round(weight * 10), 0)
  const [place] = roots.flatMap((root) => memberOf(root, 'risk') ?? [])
  if (factors.length === 0 || place === undefined || tenths >= thresholds.requireApproval * 10) return
  const message = `All factors together add ${tenths / 10}; approval is asked for from ${thresholds.requireApproval} on. Raise weights, or lower thresholds.requireApproval.`
  names.report.add('GATE2107', place, message)
}
