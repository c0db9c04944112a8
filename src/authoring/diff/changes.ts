import { canonicalJson } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import type { Condition, Factor, PolicyData, Rule } from '../../policies/set.ts'

/** Kinds of difference between the texts of two sets. */
type ChangeKind = 'added' | 'removed' | 'changed' | 'moved'

/** A difference in what two sets say, with the members of which it consists. */
export interface SetChange {
  kind: ChangeKind
  what: 'rule' | 'factor' | 'setting'
  /** Id of the rule, name of the factor, or name of the setting. */
  name: string
  /** Members that differ; empty where the whole was added, removed or moved. */
  members: readonly string[]
}

/** Differences between two sets: rules and factors by their names, then settings. Places in files do not count. */
export function changesBetween(a: PolicyData, b: PolicyData): SetChange[] {
  const [old, now] = [a, b].map(({ rules }) => rules)
  return [
    ...changesOf(
      'rule',
      named(old ?? [], ({ id }) => id),
      named(now ?? [], ({ id }) => id),
      ruleMembers(a),
      ruleMembers(b),
    ),
    ...changesOf(
      'factor',
      named(a.factors, ({ name }) => name),
      named(b.factors, ({ name }) => name),
      factorMembers(a),
      factorMembers(b),
    ),
    ...settingChanges(a, b),
  ]
}

function named<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, T> {
  return new Map(items.map((item) => [nameOf(item), item]))
}

type Members<T> = (item: T) => Readonly<Record<string, Json>>

function changesOf<T>(
  what: SetChange['what'],
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
  membersOfA: Members<T>,
  membersOfB: Members<T>,
): SetChange[] {
  const changes: SetChange[] = []
  for (const name of a.keys()) if (!b.has(name)) changes.push({ kind: 'removed', what, name, members: [] })
  for (const [name, item] of b) {
    const before = a.get(name)
    const members = before === undefined ? [] : differing(membersOfA(before), membersOfB(item))
    if (before === undefined) changes.push({ kind: 'added', what, name, members })
    else if (members.length > 0) changes.push({ kind: 'changed', what, name, members })
  }
  const common = (names: Iterable<string>, other: ReadonlyMap<string, T>): string[] =>
    [...names].filter((name) => other.has(name))
  const [order, now] = [common(a.keys(), b), common(b.keys(), a)]
  const moved = movedAmong(order, now)
  return [...changes, ...moved.map((name): SetChange => ({ kind: 'moved', what, name, members: [] }))]
}

/** The names that have another place among the others: those outside the longest run that kept its order. */
function movedAmong(before: readonly string[], after: readonly string[]): string[] {
  const places = new Map(before.map((name, i) => [name, i]))
  const order = after.map((name) => places.get(name) ?? 0)
  // Longest increasing subsequence, by patience: ends[n] is the smallest end of one of length n + 1.
  const ends: number[] = []
  const previous: number[] = []
  for (const [i, place] of order.entries()) {
    let length = ends.findIndex((end) => (order[end] ?? 0) >= place)
    if (length < 0) length = ends.length
    previous[i] = ends[length - 1] ?? -1
    ends[length] = i
  }
  const kept = new Set<number>()
  for (let i = ends.at(-1) ?? -1; i >= 0; i = previous[i] ?? -1) kept.add(i)
  return after.filter((_, i) => !kept.has(i))
}

function differing(a: Readonly<Record<string, Json>>, b: Readonly<Record<string, Json>>): string[] {
  return Object.keys(b).filter((name) => canonicalJson(a[name] ?? null) !== canonicalJson(b[name] ?? null))
}

function ruleMembers({ conditions }: PolicyData): Members<Rule> {
  return ({ effect, mode, actions, condition, reason, terms }) => ({
    effect,
    mode,
    actions: actions.map(({ text }) => text),
    when: conditionJson(condition, conditions),
    reason,
    approval: { ...terms } as unknown as Json,
  })
}

function factorMembers({ conditions }: PolicyData): Members<Factor> {
  return ({ weight, actions, condition, scale }) => ({
    weight,
    actions: actions.map(({ text }) => text),
    when: conditionJson(condition, conditions),
    scale: scale === undefined ? null : { fact: scale.fact.text, from: scale.from, to: scale.to },
  })
}

/** A condition without its places, with named ones written out. */
export function conditionJson(condition: Condition | undefined, named: PolicyData['conditions']): Json {
  if (condition === undefined) return null
  if (condition.kind === 'leaf') return [condition.fact.text, condition.operator, condition.wanted]
  if (condition.kind === 'not') return { not: conditionJson(condition.condition, named) }
  if (condition.kind === 'condition') return conditionJson(named.get(condition.name), named)
  return { [condition.kind]: condition.conditions.map((one) => conditionJson(one, named)) }
}

function settingChanges(a: PolicyData, b: PolicyData): SetChange[] {
  return differing(settingsOf(a), settingsOf(b)).map((name) => ({
    kind: 'changed' as const,
    what: 'setting' as const,
    name,
    members: [],
  }))
}

/** Settings by the names that they have in a file. */
export function settingsOf(set: PolicyData): Readonly<Record<string, Json>> {
  const { mode, explain, timezone, defaults, thresholds, approval, domains, facts, actions, session, counters, lists } =
    set
  const globs = (entries: ReadonlyMap<string, readonly { text: string }[]>): Json =>
    Object.fromEntries(Array.from(entries, ([name, all]) => [name, all.map(({ text }) => text)]))
  return {
    ...{ mode, explain, timezone },
    defaults: { ...defaults },
    thresholds: { ...thresholds },
    approval: { ...approval } as unknown as Json,
    domains: globs(domains),
    facts: Object.fromEntries(
      Array.from(facts, ([name, { type, default: value }]) => [name, { type, default: value ?? null }]),
    ),
    actions: Object.fromEntries(
      Array.from(actions, ([name, { context, plan }]) => [name, { context: context ?? null, plan: plan ?? null }]),
    ),
    session: session === undefined ? null : { fact: session.fact.text, taken: globs(session.taken) },
    history: Object.fromEntries(
      Array.from(counters, ([name, { actions: of, sum, withinMs, by }]) => [
        name,
        { actions: of.map(({ text }) => text), sum: sum?.text ?? null, withinMs, by },
      ]),
    ),
    lists: Object.fromEntries(Array.from(lists, ([name, items]) => [name, [...items]])),
  }
}
