import { counted } from '../base/counted.ts'
import { matchesAny } from '../base/glob.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Scalar } from '../policies/operators.ts'
import { enforcedRules, type FactType, type PolicySet } from '../policies/set.ts'
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
    const same = evidence.held.filter(({ action }) => action === group.action)
    const refused = same.flatMap(({ held }) => held.filter(isRefusal))
    const beyond = same.reduce((sum, one) => sum + one.beyond, 0)
    const defaultOf = (path: string): Json | undefined => set.facts.get(path)?.default
    const read = readAbout(set, group.action)
    const shapes = shapesOf(group, { minima, mayBeFree, defaultOf, read, refused, beyond })
    if ('why' in shapes) not.push({ what: `approvals of ${group.action}${byRules(group)}`, why: shapes.why })
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

/** Facts that the rules and factors about an action read, those that they add up too. */
function readAbout(set: PolicySet, action: string): Set<string> {
  const { facts, factors, overTime } = set.evaluator.about(action)
  const summed = overTime.flatMap(({ text }) => set.counters.get(text)?.sum ?? [])
  return new Set([...facts, ...summed, ...factors.flatMap(({ scale }) => scale?.fact ?? [])].map(({ text }) => text))
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
    why: `People approved all ${support.requests} requests like this${byRules(group)}.${erased}`,
    condition: conditionOf(set, group, shape),
    ...(allowing === undefined && {
      added: { effect: 'allow' as const, reason: 'Requests like this one need no approval.', when: null },
    }),
    ...{ amendments: [], facts: typesOf(shape) },
  }
}

function shapeText({ same, absent, within }: Shape): string {
  return [
    ...Array.from(same, ([path, value]) => `${path} is ${JSON.stringify(value)}`),
    ...Array.from(within, ([path, { from, to }]) => `${path} is from ${from} to ${to}`),
    ...absent.map((path) => `${path} is missing`),
  ].join(' and ')
}

/** True of requests of the shape; of no other is it true, nor unknown for want of an argument. */
function conditionOf(set: PolicySet, { action, rules }: HeldGroup, { same, absent, within }: Shape): JsonObject {
  const holding = set.rules.filter(({ id }) => rules.includes(id))
  // A rule that holds other actions as well goes on to hold them.
  const isOfOthers = holding.some(({ actions }) => actions.some(({ text }) => text !== action))
  const compare = (fact: string, ...tests: { operator: string; value: Scalar }[]): Json[] => [
    ...(set.facts.get(fact)?.default === undefined ? [{ fact, operator: 'exists' }] : []),
    ...tests.map((test) => ({ fact, ...test })),
  ]
  return {
    all: [
      isOfOthers ? [{ fact: 'action', operator: 'equal', value: action }] : [],
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
