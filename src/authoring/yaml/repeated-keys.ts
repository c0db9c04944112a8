import { grouped } from '../../base/grouped.ts'
import type { JsonObject } from '../../base/json.ts'
import { FACT_TYPES } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import { type Entry, entriesOf, itemsOf, memberOf, type Node, type Place, positionOf, RESERVED_KEYS } from './node.ts'

/** A mapping as a node holds it; `repeats` has the entries of repeated keys that do not count. */
interface Mapping {
  readonly entries: ReadonlyMap<string, Entry>
  readonly repeats: readonly Entry[]
  readonly value: JsonObject
}

/** Builds the mapping of entries; a key that is reserved or repeated is reported. */
export function mappingOf(read: readonly Entry[], report: Report): Mapping {
  const kept = read.filter((entry) => !isReserved(entry, report))
  const distinct = new Map(kept.map((entry) => [entry.name, entry]))
  if (distinct.size === kept.length) return { entries: distinct, repeats: [], value: valuesOf(distinct) }
  const entries = new Map<string, Entry>()
  const repeats: Entry[] = []
  const names = grouped(kept, ({ name }) => name)
  const lead = forgottenDash(names)
  for (const [name, same] of names) {
    const [first, ...later] = same
    if (first === undefined) continue
    // Keys after the one that begins another item are repeated for the same reason.
    if (lead === undefined || lead === name)
      for (const { key } of later) reportTwice(name, key, first, lead === name, report)
    const value = mergedValue(first.value, later)
    entries.set(name, value === first.value ? first : { ...first, value })
    repeats.push(...later.filter((entry) => value === first.value || !isAlike(first.value, entry.value)))
  }
  return { entries, repeats, value: valuesOf(entries) }
}

function isReserved({ name, key }: Entry, report: Report): boolean {
  if (!RESERVED_KEYS.has(name)) return false
  report.add('GATE1012', key, `The key ${name} is reserved; choose another name.`)
  return true
}

/** The first key of a rule, factor or test that has it twice: the dash of the next one is missing. */
function forgottenDash(names: ReadonlyMap<string, readonly Entry[]>): string | undefined {
  const [[name, same] = []] = names
  const isItem = /^\$\.(?:rules|risk|tests)\[\d+\]\.(?:id|name)$/.test(same?.[0]?.key.path ?? '')
  return isItem && same !== undefined && same.length > 1 ? name : undefined
}

function reportTwice(name: string, key: Place, first: Entry, isNext: boolean, report: Report): void {
  const { line } = positionOf(first.key.source, first.key.start)
  const hint = isNext ? '; where another item begins, a dash stands before it' : ''
  const message = `The key ${JSON.stringify(name.slice(0, 100))} appears twice in this mapping, first in line ${line}${hint}.`
  report.add('GATE1011', key, message)
}

/**
 * The value of a repeated key: sections are merged, so that neither hides declarations of the other; otherwise the
 * first counts.
 */
function mergedValue(first: Node, later: readonly Entry[]): Node {
  const alike = later.map(({ value }) => value).filter((value) => isAlike(first, value))
  if (alike.length === 0 || !/^\$\.\w+$/.test(first.path)) return first
  const all = [first, ...alike]
  if (first.items !== undefined) {
    const items = all.flatMap((node) => node.items ?? [])
    return { ...first, items, value: items.map(({ value }) => value) }
  }
  const entries = new Map<string, Entry>()
  const repeats: Entry[] = []
  for (const node of all) {
    for (const entry of entriesOf(node)) {
      if (entries.has(entry.name)) repeats.push(entry)
      else entries.set(entry.name, entry)
    }
    repeats.push(...(node.repeats ?? []))
  }
  return { ...withEntries(first, entries.values()), repeats }
}

/** True for two lists and for two mappings. */
function isAlike(a: Node, b: Node): boolean {
  return (a.items !== undefined && b.items !== undefined) || (a.entries !== undefined && b.entries !== undefined)
}

/**
 * The document in which the last of repeated keys counts, so that faults there are found too; undefined when no key
 * is repeated. A fact keeps its first type: comparisons with it are not at fault too.
 */
export function withLastKeys(root: Node): Node | undefined {
  const last = lastOf(root)
  return last === root ? undefined : last
}

function lastOf(node: Node): Node {
  if (node.items !== undefined) return withItems(node, lastOf)
  const repeats = (node.repeats ?? []).filter((entry) => node.path !== '$.facts' || !hasOtherType(node, entry))
  const last = new Map(repeats.map((entry) => [entry.name, entry]))
  return withMembers(node, (entry) => {
    const held = last.get(entry.name) ?? entry
    const value = lastOf(held.value)
    return value === entry.value ? entry : { ...held, value }
  })
}

function hasOtherType(facts: Node, { name, value }: Entry): boolean {
  const type = memberOf(value, 'type')?.value
  return FACT_TYPES.some((known) => known === type) && type !== memberOf(memberOf(facts, name), 'type')?.value
}

export function withEntries(node: Node, read: Iterable<Entry>): Node {
  const entries = new Map(Array.from(read, (entry) => [entry.name, entry]))
  return { ...node, entries, value: valuesOf(entries) }
}

/** The mapping with each entry as `of` makes it; the same node when none changes. */
export function withMembers(node: Node, of: (entry: Entry) => Entry): Node {
  const entries = entriesOf(node).map(of)
  return entries.every((entry) => entry === node.entries?.get(entry.name)) ? node : withEntries(node, entries)
}

/** The mapping with the value of each entry as `of` makes it; the same node when none changes. */
export function withValues(node: Node, of: (entry: Entry) => Node): Node {
  return withMembers(node, (entry) => {
    const value = of(entry)
    return value === entry.value ? entry : { ...entry, value }
  })
}

/** The list with each item as `of` makes it; the same node when none changes. */
export function withItems(node: Node, of: (item: Node) => Node): Node {
  const items = itemsOf(node).map(of)
  if (items.every((item, i) => item === node.items?.[i])) return node
  return { ...node, items, value: items.map(({ value }) => value) }
}

function valuesOf(entries: ReadonlyMap<string, Entry>): JsonObject {
  const value: JsonObject = Object.create(null)
  for (const [name, entry] of entries) value[name] = entry.value.value
  return value
}
