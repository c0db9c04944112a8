import type { TSchema } from '#typebox'
import type { Report } from '../diagnostics/report.ts'
import { CONDITION_KEYS } from '../load/conditions.ts'
import { type Entry, entriesOf, itemsOf, memberOf, type Node } from '../yaml/node.ts'
import { withEntries } from '../yaml/repeated-keys.ts'

/** The members of a JSON Schema that are read here. */
interface Shape {
  readonly type?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly additionalProperties?: Shape | boolean
}

/**
 * The document with nested sections at their own places, as in `facts: {context.a: …, rules: […]}`. They are one fault
 * for the key that holds them, and hide nothing.
 */
export function withFlatSections(root: Node, shape: TSchema, report: Report): Node {
  const { properties: sections = {} }: Shape = shape
  const outer = entriesOf(root).find((entry) => nestedIn(entry, root, sections).length > 0)
  if (outer === undefined) return root
  const nested = nestedIn(outer, root, sections)
  const [first] = nested
  const names = nested.map(({ name }) => name).join(', ')
  const [verb, them] = nested.length === 1 ? ['stands', 'it'] : ['stand', 'them']
  const message = `${names} ${verb} inside ${outer.name.slice(0, 100)}. Move ${them} to the left margin.`
  if (first !== undefined) report.add('GATE1101', first.key, message)
  const left = entriesOf(outer.value).filter((entry) => !nested.includes(entry))
  const kept = left.length === 0 ? [] : [{ ...outer, value: withEntries(outer.value, left) }]
  const entries = entriesOf(root).flatMap((entry) => (entry === outer ? kept : [entry]))
  return withFlatSections(withEntries(root, [...entries, ...nested]), shape, report)
}

/** Sections that the document lacks, and that cannot be meant as entries of the key that holds them. */
function nestedIn(outer: Entry, root: Node, sections: Readonly<Record<string, Shape>>): Entry[] {
  return entriesOf(outer.value).filter(({ name, value }) => {
    const section = Object.hasOwn(sections, name) ? sections[name] : undefined
    const isMissing = section !== undefined && memberOf(root, name) === undefined
    return isMissing && hasForm(value, section) && !canHold(outer, name, value, sections)
  })
}

/** True for a list of mappings as rules are, and for a mapping as facts are. */
function hasForm(value: Node, { type }: Shape): boolean {
  if (type === 'array') return itemsOf(value).length > 0 && itemsOf(value).every(({ entries }) => entries !== undefined)
  return type === 'object' && entriesOf(value).length > 0
}

/** True when the key can have an entry of this name and value. */
function canHold(outer: Entry, name: string, value: Node, sections: Readonly<Record<string, Shape>>): boolean {
  if (!Object.hasOwn(sections, outer.name)) return false
  const { properties, additionalProperties: entry } = sections[outer.name] ?? {}
  if (properties !== undefined) return Object.hasOwn(properties, name)
  if (typeof entry !== 'object') return false
  if (entry.type === 'array') return itemsOf(value).every(({ entries }) => entries === undefined) && !value.entries
  // Conditions have a shape of their own.
  const keys = outer.name === 'conditions' ? CONDITION_KEYS : Object.keys(entry.properties ?? {})
  return value.entries !== undefined && (keys.length === 0 || keys.some((key) => memberOf(value, key) !== undefined))
}
