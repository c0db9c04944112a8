import { counted } from '../base/counted.ts'
import { matchesAny } from '../base/glob.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Scalar } from '../policies/operators.ts'
import type { FactPath } from '../policies/path.ts'
import { type Condition, enforcedRules, type FactType, type Leaf, type PolicySet } from '../policies/set.ts'
import type { Evidence } from './evidence.ts'
import { type HeldGroup, isRefusal } from './held.ts'
import type { NotProposed, Proposal, Wanted } from './proposal.ts'
import { type Shape, shapesOf } from './shapes.ts'

/** Proposals to allow what people always approved, and the holds of which nothing can be proposed. */
export function alwaysApproved(
  set: PolicySet,
  evidence: Evidence,
  wanted: Wanted,
): { proposals: Proposal[]; not: NotProposed[] } {
  const proposals: Proposal[] = []
  const not: NotProposed[] = []
  for (const group of evidence.held) {
    const { minima, free } = wanted
    const open = [...free, ...unboundOf(set, group)]
    const mayBeFree = (path: string): boolean =>
      open.some((one) => path === one || (path.startsWith(one) && /^[.[]/.test(path.slice(one.length))))
    const seen = evidence.seen.get(group.action)
    const what = `approvals of ${group.action}${byRules(group)}`
    const other = otherFact(set, group)
    const same = evidence.held.filter(({ action }) => action === group.action)
    const refused = same.flatMap(({ held }) => held.filter(isRefusal))
    const beyond = same.reduce((sum, one) => sum + one.beyond, 0)
    const defaultOf = (path: string): Json | undefined => set.facts.get(path)?.default
    const read = readAbout(set, group.action)
    const isUpward = upwardIn(set, group.action)
    const rules = { minima, mayBeFree, defaultOf, read, isUpward, refused, beyond }
    const shapes = shapesOf(group, { ...rules, seen: seen ?? new Set() })
    if ('why' in shapes) not.push({ what, why: shapes.why })
    else if (shapes.length === 0) continue
    else if (seen === undefined) not.push({ what, why: 'requests about the action have too many arguments' })
    else if (other !== undefined) not.push({ what, why: `${other}, of which a shape says nothing` })
    else proposals.push(...shapes.map((shape) => proposalOf(set, group, shape)))
  }
  return { proposals, not }
}

function byRules({ rules }: HeldGroup): string {
  return rules.length === 0 ? ', held by default' : `, held by rule ${rules.join(', ')}`
}

/** Arguments that no approval of these holds binds. */
function unboundOf(set: PolicySet, { rules }: HeldGroup): readonly string[] {
  const terms =
    rules.length === 0 ? [set.approval] : set.rules.filter(({ id }) => rules.includes(id)).map((one) => one.terms)
  const [first, ...others] = terms
  return (first?.unbound ?? []).filter((path) => others.every(({ unbound }) => unbound.includes(path)))
}

/** Facts of the request that the rules and factors about an action read, those that they add up too. */
function readAbout(set: PolicySet, action: string): Set<string> {
  const { facts, factors, overTime } = set.evaluator.about(action)
  const summed = overTime.flatMap(({ text }) => set.counters.get(text)?.sum ?? [])
  const all = [...facts, ...summed, ...factors.flatMap(({ scale }) => scale?.fact ?? [])]
  return new Set(all.filter(isOfRequest).map(({ text }) => text))
}

function isOfRequest({ root, segments }: FactPath): boolean {
  return (root === 'context' || root === 'plan') && segments.length > 0
}

/** The first fact beside the request that a holding rule reads: an exception for a shape would let any number of requests through. */
function otherFact(set: PolicySet, { rules }: HeldGroup): string | undefined {
  for (const rule of set.rules.filter(({ id }) => rules.includes(id)))
    for (const { fact } of set.evaluator.leavesOf(rule))
      if (!isOfRequest(fact) && fact.root !== 'action') return `rule ${rule.id} reads ${fact.text}`
  return undefined
}

const ABOVE = ['greaterThan', 'greaterThanInclusive']
const BELOW = ['lessThan', 'lessThanInclusive']

/** Says of a number whether all rules about an action only restrain it above a limit, and allow it below one. */
function upwardIn(set: PolicySet, action: string) {
  const rules = enforcedRules(set).filter(({ actions }) => matchesAny(actions, action))
  return (path: string): boolean =>
    rules.every(({ effect, condition }) =>
      signedLeaves(set, condition).every(
        ({ fact, operator, isNegated }) =>
          fact.text !== path || (!isNegated && (effect === 'allow' ? BELOW : ABOVE).includes(operator)),
      ),
    )
}

/** The comparisons of a condition, each with whether a `not` turns it around. */
function signedLeaves(
  set: PolicySet,
  condition: Condition | undefined,
  isNegated = false,
): (Leaf & { isNegated: boolean })[] {
  if (condition === undefined) return []
  if (condition.kind === 'leaf') return [{ ...condition, isNegated }]
  if (condition.kind === 'not') return signedLeaves(set, condition.condition, true)
  if (condition.kind === 'condition') return signedLeaves(set, set.conditions.get(condition.name), isNegated)
  return condition.conditions.flatMap((one) => signedLeaves(set, one, isNegated))
}

function proposalOf(set: PolicySet, group: HeldGroup, shape: Shape): Proposal {
  const { action, rules, unknown } = group
  const { support, approvers, free } = shape
  const erased = unknown === 0 ? '' : ` Unknown, since erased: ${counted(unknown, 'request')} that the same rule held.`
  // One that allows the action in any case allows these too, once they are not held.
  const allowing = enforcedRules(set).find(
    ({ effect, condition, actions }) => effect === 'allow' && condition === undefined && matchesAny(actions, action),
  )
  return {
    ...{ kind: 'approved', effect: 'loosens', rules, actions: [action], support, approvers, free },
    what: `${action} is allowed${allowing === undefined ? '' : ` by rule ${allowing.id}`} if ${shapeText(shape)}`,
    why: `People approved all ${support.requests} requests like this${byRules(group)}.${largestText(shape)}${erased}`,
    condition: conditionOf(set, group, shape),
    ...(allowing === undefined && {
      added: { effect: 'allow' as const, reason: 'Requests like this one need no approval.', when: null },
    }),
    ...{ amendments: [], facts: typesOf(shape) },
  }
}

/** A largest number far above the next ones may be a slip of one approver. */
function largestText({ within }: Shape): string {
  return Array.from(within, ([path, { largest }]) => ` The largest of ${path}: ${largest.join(', ')}.`).join('')
}

function shapeText({ same, absent, within }: Shape): string {
  return [
    ...Array.from(same, ([path, value]) => `${path} is ${JSON.stringify(value)}`),
    ...Array.from(within, ([path, { from, to }]) => `${path} is from ${from} to ${to}`),
    ...absent.map((path) => `${path} is missing`),
  ].join(' and ')
}

/** True of requests of the shape; of no other is it true, nor unknown for want of an argument. */
function conditionOf(set: PolicySet, { action }: HeldGroup, { same, absent, within }: Shape): JsonObject {
  const compare = (fact: string, ...tests: { operator: string; value: Scalar }[]): Json[] => [
    ...(set.facts.get(fact)?.default === undefined ? [{ fact, operator: 'exists' }] : []),
    ...tests.map((test) => ({ fact, ...test })),
  ]
  return {
    all: [
      [{ fact: 'action', operator: 'equal', value: action }],
      ...Array.from(same, ([path, value]) => compare(path, { operator: 'equal', value })),
      ...Array.from(within, ([path, { from, to }]) =>
        compare(path, { operator: 'greaterThanInclusive', value: from }, { operator: 'lessThanInclusive', value: to }),
      ),
      absent.map((fact) => ({ fact, operator: 'missing' })),
    ].flat(),
  }
}

function typesOf({ same, absent, within }: Shape): Map<string, FactType> {
  return new Map<string, FactType>([
    ...Array.from(same, ([path, value]): [string, FactType] => [path, typeof value as 'string' | 'number' | 'boolean']),
    ...Array.from(within.keys(), (path): [string, FactType] => [path, 'number']),
    ...absent.map((path): [string, FactType] => [path, 'string']),
  ])
}
