import { grouped } from '../../base/grouped.ts'
import type { Json } from '../../base/json.ts'
import type { Condition, Factor, PolicyData, Rule } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import type { Names } from '../load/names.ts'
import type { ReadFiles } from '../load/read-files.ts'
import { actionNodes } from '../schemas/actions.ts'
import { type Entry, entriesOf, itemsOf, memberOf, type Node } from '../yaml/node.ts'
import type { Declared } from './known.ts'

/** The certain part of a set, errors or not: the whole of one without errors. */
export interface Certain extends Declared {
  readonly names: Names
  /** Documents whose text was read as it stands. */
  readonly roots: readonly Node[]
  /** Texts inside conditions, each of which may be a name in spite of an error; none without errors. */
  readonly mentioned: ReadonlySet<string>
  /** False when something was left out. */
  readonly isWhole: boolean
}

/** Replacement for unknown thresholds: no sum of factors certainly reaches them, or certainly does not. */
const UNKNOWN_THRESHOLDS: PolicyData['thresholds'] = { requireApproval: 0, deny: Number.POSITIVE_INFINITY }

/**
 * Removes every rule, factor and condition with an error inside it, and those that refer to one: an unreadable
 * condition is not the absence of one. Other parts that may differ from what was read are left open.
 */
export function certainPart(set: PolicyData, names: Names, { policies, partial }: ReadFiles): Certain {
  const { report } = names
  const all = policies.map(({ root }) => root)
  const openLists = new Set(all.flatMap((root) => openListsIn(root, names)))
  const actions = new Map(all.flatMap(actionNodes).map(({ name, node }) => [name, node]))
  if (!report.failed())
    return { set, names, roots: all, actionNodes: actions, openLists, mentioned: new Set(), isWhole: true }
  const roots = all.filter(({ source }) => !report.errors.isGuessed(source.file))
  const isMissing = partial || roots.length < all.length
  const conditions = soundConditions(set, names)
  const isSound = (candidate: Rule | Factor): boolean =>
    isReadable(candidate, names) && referencesOf(candidate.condition).every((name) => conditions.has(name))
  const rules = set.rules.filter(isSound)
  const factors = set.factors.filter(isSound)
  const isDeclared = !isMissing && !names.unsure && !all.some((root) => hasFaultyDeclaration(root, names))
  const written = all.reduce((sum, root) => sum + (memberOf(root, 'risk')?.items?.length ?? 0), 0)
  const knowsRisk =
    !isMissing && factors.length === written && !all.some((root) => hasErrorAt(root, 'thresholds', names))
  return {
    set: {
      ...set,
      conditions,
      rules,
      factors,
      actions: isDeclared ? set.actions : new Map(),
      thresholds: knowsRisk ? set.thresholds : UNKNOWN_THRESHOLDS,
    },
    names: {
      ...names,
      nodes: new Map([...names.nodes].filter(([, { source }]) => !report.errors.isGuessed(source.file))),
    },
    roots,
    actionNodes: isDeclared ? actions : undefined,
    openLists,
    mentioned: new Set(all.flatMap(textsOfConditions)),
    isWhole: false,
  }
}

function openListsIn(root: Node, { report }: Names): string[] {
  const lists = entriesOf(memberOf(root, 'lists'))
  const isOpen = (entry: Entry): boolean => memberOf(entry.value, 'file') !== undefined || hasErrorIn(entry, report)
  return lists.filter(isOpen).map(({ name }) => name)
}

function hasFaultyDeclaration(root: Node, names: Names): boolean {
  const actions = memberOf(root, 'actions')
  const isUnread = actions !== undefined && actions.entries === undefined
  return isUnread || ['facts', 'actions', 'domains'].some((section) => hasErrorAt(root, section, names))
}

function hasErrorAt(root: Node, section: string, { report }: Names): boolean {
  const entry = root.entries?.get(section)
  return entry !== undefined && hasErrorIn(entry, report)
}

function hasErrorIn({ key, value }: Entry, { errors }: Report): boolean {
  return errors.within(key) || errors.within(value)
}

/**
 * True when all of a rule or factor was read: a reference that may be declared elsewhere is not an error, but is
 * missing.
 */
function isReadable(candidate: Rule | Factor, { nodes, report }: Names): boolean {
  const node = nodes.get(candidate)
  if (node === undefined || report.errors.isGuessed(node.source.file) || report.errors.within(node)) return false
  if (memberOf(node, 'when') !== undefined && candidate.condition === undefined) return false
  return memberOf(node, 'scale') === undefined || ('scale' in candidate && candidate.scale !== undefined)
}

/** Named conditions that were read without fault, as were all conditions that they refer to. */
function soundConditions({ conditions }: PolicyData, names: Names): Map<string, Condition> {
  const { errors } = names.report
  const isRead = (name: string, node: Node): boolean => {
    const key = names.conditionKeys.get(name)
    return !errors.isGuessed(node.source.file) && !errors.within(node) && key !== undefined && !errors.within(key)
  }
  const uses = [...conditions].flatMap(([user, condition]) => referencesOf(condition).map((name) => ({ name, user })))
  const usersOf = grouped(uses, ({ name }) => name)
  const sound = new Map(conditions)
  const faulty = new Set<string>()
  for (const [name, node] of names.conditions) if (!conditions.has(name) || !isRead(name, node)) faulty.add(name)
  // Iterating a growing set visits the additions too, so that indirect users are reached.
  for (const name of faulty) {
    sound.delete(name)
    for (const { user } of usersOf.get(name) ?? []) faulty.add(user)
  }
  return sound
}

/** Named conditions that a condition refers to directly. */
function referencesOf(condition: Condition | undefined): readonly string[] {
  if (condition === undefined || condition.kind === 'leaf') return []
  if (condition.kind === 'condition') return [condition.name]
  if (condition.kind === 'not') return referencesOf(condition.condition)
  return condition.conditions.flatMap(referencesOf)
}

/** Keys of rules and factors under which no condition stands, if rightly spelt. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'id',
  'name',
  'actions',
  'effect',
  'reason',
  'description',
  'approval',
])

function textsOfConditions(root: Node): string[] {
  const candidates = ['rules', 'risk'].flatMap((section) => itemsOf(memberOf(root, section)))
  const parts = candidates.flatMap((node) => entriesOf(node).filter(({ name }) => !PLAIN_KEYS.has(name)))
  return [...parts, ...entriesOf(memberOf(root, 'conditions'))].flatMap(({ value }) => textsIn(value.value))
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}
