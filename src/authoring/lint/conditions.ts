import { repeatsOf } from '../../base/grouped.ts'
import { parseOperator } from '../../policies/decorators.ts'
import {
  type Condition,
  FACT_TYPES,
  type FactType,
  type Leaf,
  type PolicyData,
  type Truth,
} from '../../policies/set.ts'
import { REQUEST_ROOTS } from '../load/fact-names.ts'
import { SCHEMA_TYPES } from '../load/facts.ts'
import { asksNever, aType } from '../load/leaves.ts'
import type { Names } from '../load/names.ts'
import { isPresenceTest } from '../schemas/presence.ts'
import { operatorsFor, suitable } from '../suggest/operator-suggest.ts'
import { memberOf } from '../yaml/node.ts'
import { conditionText, leafText, listText, placeOf } from './describe.ts'
import { JSON_KINDS, type Scope } from './known.ts'
import type { Search } from './search.ts'
import { groupByFacts, outcomesIn, type TruthsOf } from './truths.ts'

interface Checking {
  readonly set: PolicyData
  readonly names: Names
  readonly search: Search
  readonly scope: Scope
  readonly outcomes: TruthsOf
  /** Comparisons that are reported where their constants stand. */
  readonly refused: ReadonlySet<Leaf>
}

/**
 * Reports parts of conditions that are constant or change nothing, each at the smallest part that shows it. True when
 * something was reported. A named condition is checked at its own place.
 */
export function conditionChecker(
  set: PolicyData,
  names: Names,
  search: Search,
  refused: ReadonlySet<Leaf>,
): (condition: Condition, scope: Scope) => boolean {
  return (condition, scope) =>
    check(condition, { set, names, search, scope, refused, outcomes: outcomesIn(scope, set, search) })
}

function check(node: Condition, checking: Checking): boolean {
  if (node.kind === 'condition') return false
  if (node.kind === 'leaf') return checkLeaf(node, checking)
  if (node.kind === 'not') return check(node.condition, checking)
  const reported = node.conditions.map((part) => check(part, checking))
  if (reported.includes(true)) return true
  return reportRepeated(node, checking) || reportConstant(node, checking) || reportIdle(node, checking)
}

function checkLeaf(leaf: Leaf, checking: Checking): boolean {
  const { names, search, scope } = checking
  // A guard may anticipate a change of the schema.
  if (isGuard(leaf, checking)) return false
  // Reported where the constant is read.
  if (asksNever(leaf) || checking.refused.has(leaf)) return true
  if (reportMistyped(leaf, checking)) return true
  const outcomes = checking.outcomes(leaf)
  const because = search.knownOf(leaf.fact, scope).because ?? 'no value gives another outcome'
  if (!outcomes.has('true')) {
    const message = `${leafText(leaf)} is never true: ${because}. Correct it, or take it out.`
    names.report.add('GATE2011', placeOf(leaf, names), message)
    return true
  }
  if (outcomes.has('false')) return false
  const message = `${leafText(leaf)} is always true${whereThere(outcomes)}: ${because}. Correct it, or take it out.`
  names.report.add('GATE2012', placeOf(leaf, names), message)
  return true
}

/** The type that the schemas give the fact, if the operator cannot be asked of it. */
export function mistypeOf({ fact, operator }: Leaf, scope: Scope, search: Search): FactType | undefined {
  const parsed = parseOperator(operator)
  const [kind, ...others] = JSON_KINDS.filter(search.knownOf(fact, scope).admitsOther)
  if (parsed === undefined || kind === undefined || others.length > 0 || !REQUEST_ROOTS.has(fact.root)) return undefined
  const isOfKind = (type: FactType): boolean => SCHEMA_TYPES[type].includes(kind)
  const suits = parsed.overItems ? kind === 'array' : parsed.operator.factTypes.some(isOfKind)
  return suits ? undefined : FACT_TYPES.find(isOfKind)
}

function reportMistyped(leaf: Leaf, { names, search, scope }: Checking): boolean {
  const type = mistypeOf(leaf, scope, search)
  const parsed = parseOperator(leaf.operator)
  if (type === undefined || parsed === undefined) return false
  const meant = suitable(type, parsed)
  // The rule determines whether some item must fit, or every one.
  const ofItems =
    meant?.includes('someFact:') === true ? `${meant} or ${meant.replace('someFact', 'everyFact')}` : undefined
  const message = `${leaf.fact.text} is ${aType(type)} by the schema, so ${leaf.operator} is never true of it. Ask with ${ofItems ?? meant ?? operatorsFor(type)}.`
  const place = memberOf(names.nodes.get(leaf), 'operator') ?? placeOf(leaf, names)
  names.report.add('GATE2011', place, message, ofItems === undefined ? meant : undefined)
  return true
}

function isGuard(leaf: Leaf, { set }: Checking): boolean {
  const { root, text } = leaf.fact
  return isPresenceTest(leaf) && REQUEST_ROOTS.has(root) && set.facts.get(text)?.default === undefined
}

function whereThere(outcomes: ReadonlySet<Truth>): string {
  return outcomes.has('unknown') ? ', if its facts are present' : ''
}

type ListCondition = Extract<Condition, { conditions: readonly Condition[] }>
type ListKind = ListCondition['kind']

/** Reports a list of conditions that is never true, or never false, though none of its parts is. */
function reportConstant(node: ListCondition, checking: Checking): boolean {
  const { kind } = node
  const { names } = checking
  const outcomes = checking.outcomes(node)
  const isNever = !outcomes.has('true')
  if (!isNever && outcomes.has('false')) return false
  // A named condition that is constant itself is reported at its own place.
  const inert = isNever ? 'true' : 'false'
  if (node.conditions.some((part) => part.kind === 'condition' && !checking.outcomes(part).has(inert))) return false
  const conflict = conflictOf(node, checking)
  const parts = listText(
    conflict.map((part) => conditionText(part, names)),
    kind === 'all' ? 'and' : 'or',
  )
  if (isNever) {
    const message = `${parts} ${kind === 'all' && conflict.length > 1 ? 'are never true together' : 'is never true'}. Correct one of them, or take out what can never be.`
    names.report.add('GATE2011', placeOf(node, names), message)
  } else {
    const message = `${parts} is always true${whereThere(outcomes)}. Correct one of them, or leave the condition out.`
    names.report.add('GATE2012', placeOf(node, names), message)
  }
  return true
}

const MAX_PAIRED = 12

/** The two parts in conflict, or the parts that conflict only together. */
function conflictOf({ kind, conditions: parts }: ListCondition, { search, scope }: Checking): readonly Condition[] {
  const holds = (truth: Truth): boolean => (kind === 'all' ? truth === 'true' : truth === 'false')
  const isMet = (some: readonly Condition[]): boolean =>
    search.search(
      some.map((condition) => ({ condition, holds })),
      scope,
    ) !== 'none'
  const group = groupByFacts(parts, (part) => part, search).find((some) => !isMet(some)) ?? parts
  const few = group.slice(0, MAX_PAIRED)
  for (const [i, second] of few.entries()) {
    for (const first of few.slice(0, i)) if (!isMet([first, second])) return [first, second]
  }
  return group
}

/** Reports parts that repeat an earlier one of their list. */
function reportRepeated({ kind, conditions }: ListCondition, { names }: Checking): boolean {
  const repeats = repeatsOf(conditions, conditionKey)
  for (const part of repeats) {
    const message = `${conditionText(part, names)} stands in this ${kind} already. Take it out, or correct it.`
    names.report.add('GATE2013', placeOf(part, names), message)
  }
  return repeats.length > 0
}

/** A key that is the same for equal conditions, in whatever order their parts stand. */
export const conditionKey = (condition: Condition): string => {
  if (condition.kind === 'leaf') return String(condition.index)
  if (condition.kind === 'condition') return `c(${JSON.stringify(condition.name)})`
  if (condition.kind === 'not') return `n(${conditionKey(condition.condition)})`
  return `${condition.kind}(${condition.conditions.map(conditionKey).sort().join()})`
}

/** Reports parts whose removal changes the list's outcome in no request. */
function reportIdle({ kind, conditions }: ListCondition, checking: Checking): boolean {
  let reported = false
  for (const group of groupByFacts(conditions, (part) => part, checking.search)) {
    let left = group
    for (let idle = idleOf(kind, left, checking); idle !== undefined; idle = idleOf(kind, left, checking)) {
      const rest = left.filter((part) => part !== idle)
      reportPart(kind, idle, rest, checking)
      left = rest
      reported = true
    }
  }
  return reported
}

/** The last part that never makes a difference beside the others. */
function idleOf(kind: ListKind, parts: readonly Condition[], checking: Checking): Condition | undefined {
  if (parts.length < 2) return undefined
  const needed = parts.map((part) => part.kind === 'leaf' && isGuard(part, checking))
  const goals = parts.map((condition) => ({ condition, holds: () => true }))
  const end = checking.search.search(goals, checking.scope, (truths) => {
    for (const i of decisive(kind, truths)) needed[i] = true
    return needed.every(Boolean)
  })
  return end === 'none' ? parts[needed.lastIndexOf(false)] : undefined
}

const RANK = { false: 0, unknown: 1, true: 2 } as const

/** Positions of the truths whose removal would change the outcome of the list. */
function decisive(kind: ListKind, truths: readonly Truth[]): number[] {
  const ranks = truths.map((truth) => (kind === 'all' ? RANK[truth] : -RANK[truth]))
  const least = Math.min(...ranks)
  const at = ranks.indexOf(least)
  return ranks.lastIndexOf(least) === at ? [at] : []
}

function reportPart(kind: ListKind, idle: Condition, rest: readonly Condition[], checking: Checking): void {
  const { names } = checking
  const only = rest.find((other) => idleOf(kind, [other, idle], checking) === idle)
  const others = only === undefined ? 'the others' : conditionText(only, names)
  const verb = only === undefined ? 'say' : 'says'
  const why = kind === 'all' ? `${others} ${verb} as much` : `${others} ${only === undefined ? 'cover' : 'covers'} it`
  const message = `${conditionText(idle, names)} changes nothing here: ${why}. Take it out, or correct it.`
  names.report.add('GATE2013', placeOf(idle, names), message)
}
