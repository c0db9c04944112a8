import { permits } from './answers.ts'
import { type Asked, askedBy, type Condition } from './conditions.ts'
import type { AgtPolicy, AgtRule } from './table.ts'

/** A rule of ours, before it is written. */
export interface Rule {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  readonly reason: string
  /** Undefined for one that always applies. */
  readonly when: Condition | undefined
  /** A warning that is meant: what is written there. */
  readonly ignore?: string
  /** What the toolkit's rule says, for the reader. */
  readonly comment: string
  /** The rule of the toolkit for which it stands; undefined for the default. */
  readonly of: AgtRule | undefined
  /** True when the toolkit answers with an error where the rule matches. */
  readonly isError: boolean
}

/** What our language does not say, and why. */
export interface Refusal {
  readonly rule: string
  readonly reason: string
}

export interface Translation {
  readonly policy: AgtPolicy
  readonly tenant: string
  /** Conditions that several rules use. */
  readonly conditions: ReadonlyMap<string, Condition>
  readonly rules: readonly Rule[]
  /** Rules that are refused as a whole. */
  readonly refusals: readonly Refusal[]
  /** In the order in which the toolkit asks them. */
  readonly asked: readonly AskedRule[]
}

interface AskedRule extends Asked {
  readonly rule: AgtRule
  /** What its conditions and rules are called here. */
  readonly id: string
}

/**
 * A policy of the toolkit as a policy set: its first rule that matches decides, here every deny comes before every allow.
 * So each rule that refuses also asks that no permitting rule before it matches; what is an error there, and refuses, is
 * unknown here, where a deny rule counts as matched, and gets a deny rule of its own beside each permitting rule.
 */
export function translate(policy: AgtPolicy, tenant: string): Translation {
  // Sorting is stable, as Python's is: rules of one priority are asked as they stand in the file.
  const sorted = policy.rules.toSorted((a, b) => b.priority - a.priority)
  const names = namer()
  const asked = sorted.map((rule): AskedRule => ({ ...askedBy(rule), rule, id: names(rule.name) }))
  const conditions = new Map<string, Condition>()
  const before: AskedRule[] = []
  const rules: Rule[] = []
  for (const [i, one] of asked.entries()) {
    const isUsedAgain = one.mayFail || asked.slice(i + 1).some(becomesDeny)
    rules.push(...rulesOf(one, before, isUsedAgain, names))
    if (!isPermit(one)) continue
    if (isUsedAgain) conditions.set(one.id, one.condition)
    before.push(one)
  }
  if (permits(policy.defaultAction)) rules.push(defaultRule(policy, names))
  const refusals = asked.filter(({ always }) => always === 'refused')
  return {
    policy,
    tenant,
    conditions,
    rules,
    asked,
    refusals: refusals.map(({ rule, refuses }) => ({ rule: rule.name, reason: refuses(null) ?? '' })),
  }
}

function isPermit({ rule, always }: AskedRule): boolean {
  return permits(rule.action) && always === undefined
}

/** True for what becomes a deny rule, or has one beside it. */
function becomesDeny({ rule, always, mayFail }: AskedRule): boolean {
  return !permits(rule.action) || mayFail || always === 'error'
}

function rulesOf(
  one: AskedRule,
  before: readonly AskedRule[],
  isUsedAgain: boolean,
  names: (name: string) => string,
): Rule[] {
  const { rule, id, always, condition } = one
  const says = `priority ${rule.priority}: ${rule.field} ${rule.operator} ${JSON.stringify(rule.value)}, ${rule.action}`
  const made = { reason: `${rule.name}: ${rule.action}`, comment: says, of: rule, isError: always === 'error' }
  if (!isPermit(one)) {
    // What cannot be said must not permit either.
    if (always === 'refused' && permits(rule.action)) return []
    const earlier = before.filter((other) => !excludes(one, other))
    return [{ ...made, id, effect: 'deny', when: unlessBefore(condition, earlier) }]
  }
  const allow: Rule = { ...made, id, effect: 'allow', when: isUsedAgain ? { condition: id } : condition }
  if (!one.mayFail) return [allow]
  // Never true, and unknown where the condition is: then this denies.
  const fails: Condition = { all: [{ condition: id }, { not: { condition: id } }] }
  const error: Rule = {
    ...made,
    id: names(`${id}-error`),
    effect: 'deny',
    reason: `${rule.name} cannot be evaluated`,
    when: unlessBefore(fails, before),
    comment: 'where the next rule cannot be evaluated',
    ignore: 'GATE2011: unknown, and so a reason to deny, where the condition cannot be evaluated',
    isError: true,
  }
  return [error, allow]
}

/** True when the two never match together, since they want other values of one field. */
function excludes(one: AskedRule, other: AskedRule): boolean {
  const { members } = one
  if (members === undefined || other.members === undefined || one.rule.field !== other.rule.field) return false
  return other.members.every((value) => !members.includes(value))
}

function unlessBefore(condition: Condition, before: readonly AskedRule[]): Condition {
  const parts = 'all' in condition ? condition.all : [condition]
  return { all: [...parts, ...before.map(({ id }): Condition => ({ not: { condition: id } }))] }
}

function defaultRule({ defaultAction }: AgtPolicy, names: (name: string) => string): Rule {
  return {
    id: names('default'),
    effect: 'allow',
    reason: `No rule matches: ${defaultAction}`,
    when: undefined,
    comment: `default: ${defaultAction}`,
    of: undefined,
    isError: false,
  }
}

/** Makes names of rules and conditions out of any texts, each once. */
function namer(): (text: string) => string {
  const used = new Set<string>()
  return (text) => {
    const plain =
      text
        .replace(/[^A-Za-z0-9_.-]+/g, '-')
        .replace(/^[.-]+/, '')
        .slice(0, 100) || 'rule'
    let name = plain
    for (let i = 2; used.has(name); i++) name = `${plain}-${i}`
    used.add(name)
    return name
  }
}
