import type { JsonObject } from '../base/json.ts'
import { type Entry, memberOf, type Node, positionOf, RESERVED_KEYS } from './node.ts'
import type { Report } from './report.ts'
import { FACT_TYPES } from './set.ts'

/** A mapping as far as it is read. */
export interface Members {
  readonly entries: Map<string, Entry>
  /** Of keys that stand twice those that do not hold. */
  readonly repeats: Entry[]
  readonly value: JsonObject
}

export function noMembers(): Members {
  return { entries: new Map(), repeats: [], value: Object.create(null) }
}

/** Adds what was read next; a key that is reserved, or stands there already, is reported. */
export function addMember({ entries, repeats, value }: Members, entry: Entry, report: Report): void {
  const { name, key } = entry
  if (RESERVED_KEYS.has(name)) {
    report.add('GATE1012', key, `The key ${name} is reserved; choose another name.`)
    return
  }
  const earlier = entries.get(name)
  const kept = earlier === undefined ? entry : { ...earlier, value: mergedValue(earlier.value, entry.value) }
  if (earlier !== undefined) {
    const { line } = positionOf(earlier.key.source, earlier.key.start)
    const message = `The key ${JSON.stringify(name.slice(0, 100))} appears twice in this mapping, first in line ${line}.`
    report.add('GATE1011', key, message)
    if (kept.value === earlier.value) repeats.push(entry)
  }
  entries.set(name, kept)
  value[name] = kept.value.value
}

/** What a key means that a document has twice: sections are read as one, so that neither hides what the other declares; else the first. */
function mergedValue(first: Node, second: Node): Node {
  if (!/^\$\.\w+$/.test(first.path)) return first
  if (first.items !== undefined && second.items !== undefined) {
    const items = [...first.items, ...second.items]
    return { ...first, items, value: items.map(({ value }) => value) }
  }
  if (first.entries === undefined || second.entries === undefined) return first
  const again = [...second.entries.values()].filter(({ name }) => first.entries?.has(name))
  const repeats = [...(first.repeats ?? []), ...again, ...(second.repeats ?? [])]
  return { ...withEntries(first, new Map([...second.entries, ...first.entries])), repeats }
}

/**
 * The document as it reads when of keys that stand twice the last one holds, so that what is wrong there is found
 * as well; undefined when none stands twice. A fact keeps its first type: who compares it is not at fault too.
 */
export function withLastKeys(root: Node): Node | undefined {
  const last = lastOf(root)
  return last === root ? undefined : last
}

function lastOf(node: Node): Node {
  if (node.items !== undefined) {
    const items = node.items.map(lastOf)
    if (items.every((item, i) => item === node.items?.[i])) return node
    return { ...node, items, value: items.map(({ value }) => value) }
  }
  if (node.entries === undefined) return node
  const repeats = (node.repeats ?? []).filter((entry) => node.path !== '$.facts' || !hasOtherType(node, entry))
  const last = new Map(repeats.map((entry) => [entry.name, entry]))
  const entries = new Map<string, Entry>()
  for (const [name, entry] of node.entries) {
    const held = last.get(name) ?? entry
    const value = lastOf(held.value)
    entries.set(name, value === entry.value ? entry : { ...held, value })
  }
  if ([...entries].every(([name, entry]) => entry === node.entries?.get(name))) return node
  return withEntries(node, entries)
}

function hasOtherType(facts: Node, { name, value }: Entry): boolean {
  const type = memberOf(value, 'type')?.value
  return FACT_TYPES.some((known) => known === type) && type !== memberOf(memberOf(facts, name), 'type')?.value
}

export function withEntries(node: Node, entries: ReadonlyMap<string, Entry>): Node {
  const value: JsonObject = Object.create(null)
  for (const [name, entry] of entries) value[name] = entry.value.value
  return { ...node, entries, value }
}
