import type { TSchema } from 'typebox'
import type { Json, JsonObject } from '../base/json.ts'
import { type Entry, entriesOf, type Node } from './node.ts'
import type { Report } from './report.ts'
import { closest, folded, type Synonyms } from './suggest.ts'
import { KEY_WORDS } from './synonyms.ts'
import { Verbatim } from './written.ts'

/** What is looked at of a JSON Schema. */
interface Shape {
  properties?: Readonly<Record<string, TSchema>>
  additionalProperties?: TSchema | boolean
  items?: TSchema
}

/**
 * The document with the keys that were probably meant in place of those that are unknown, each of which is reported: so that
 * a misspelt key is one fault, not also the absence of the key that was meant, and hides nothing of what stands below it.
 */
export function repairKeys(node: Node, shape: TSchema, report: Report): Node {
  const { properties, additionalProperties: values, items }: Shape = shape
  if (node.entries !== undefined && properties !== undefined) {
    const known = withKnownKeys(node, Object.keys(properties), KEY_WORDS, report)
    return withMembers(known, ({ name, value }) => {
      const member = properties[name]
      return member === undefined ? value : repairKeys(value, member, report)
    })
  }
  if (node.entries !== undefined && typeof values === 'object')
    return withMembers(node, ({ value }) => repairKeys(value, values, report))
  if (node.items === undefined || items === undefined) return node
  return withItems(
    node,
    node.items.map((item) => repairKeys(item, items, report)),
  )
}

/** A mapping whose unknown keys are reported, and those that are like a key that is not there are read as that one. */
export function withKnownKeys(
  node: Node,
  known: readonly string[],
  words: readonly Synonyms[],
  report: Report,
  fits: (name: string, value: Node) => boolean = () => true,
): Node {
  const unknown = entriesOf(node).filter(({ name }) => !known.includes(name))
  if (unknown.length === 0) return node
  const absent = new Set(known.filter((name) => node.entries?.has(name) !== true))
  const read = new Map<string, Entry>()
  for (const entry of unknown) {
    const glued = gluedValue(entry, absent)
    const meant = glued?.name ?? meantKey(entry.name, absent, words)
    reportKey(entry, known, glued, meant, report)
    if (meant === undefined) continue
    const value = glued === undefined ? entry.value : { ...entry.value, value: glued.value, start: entry.key.start }
    if (!fits(meant, value)) continue
    absent.delete(meant)
    // What is glued to its key cannot be told from it: nothing is said about the value before it is on its own.
    if (glued !== undefined) report.silence(entry.key)
    read.set(entry.name, { name: meant, key: entry.key, value })
  }
  return renamed(node, read)
}

function reportKey(
  { name, key }: Entry,
  known: readonly string[],
  glued: { name: string; text: string } | undefined,
  meant: string | undefined,
  report: Report,
): void {
  if (glued !== undefined) {
    const message = `A space is missing after the colon of ${glued.name}.`
    report.add('GATE1101', key, message, new Verbatim(`${glued.name}: ${glued.text}`))
    return
  }
  const hint = meant === undefined ? ` Known here: ${known.join(', ')}.` : ''
  report.add('GATE1101', key, `There is no key ${JSON.stringify(name.slice(0, 100))} here.${hint}`, meant)
}

/** `{fact:context.amount}`, which YAML reads as a key without value. */
function gluedValue(
  { name, key, value }: Entry,
  absent: ReadonlySet<string>,
): { name: string; text: string; value: Json } | undefined {
  const [, word = '', text = ''] = /^([A-Za-z]+):[\s\u00a0]*(\S.*)$/s.exec(name) ?? []
  if (value.value !== null || value.start !== key.start || !absent.has(word)) return undefined
  const number = Number(text)
  return { name: word, text, value: Number.isFinite(number) ? number : text }
}

function meantKey(name: string, absent: ReadonlySet<string>, words: readonly Synonyms[]): string | undefined {
  const near = closest(name, absent)
  // A synonym is surer than a name that happens to be spelt alike, unless that differs by its form alone.
  if (near !== undefined && folded(near) === folded(name)) return near
  const synonym = words.map((table) => table.get(folded(name))).find((word) => word !== undefined && absent.has(word))
  return synonym ?? near
}

function renamed(node: Node, read: ReadonlyMap<string, Entry>): Node {
  return rebuilt(
    node,
    entriesOf(node).map((entry) => read.get(entry.name) ?? entry),
  )
}

function withMembers(node: Node, of: (entry: Entry) => Node): Node {
  const entries = entriesOf(node)
  const values = entries.map(of)
  if (entries.every(({ value }, i) => value === values[i])) return node
  return rebuilt(
    node,
    entries.map((entry, i) => ({ ...entry, value: values[i] ?? entry.value })),
  )
}

function rebuilt(node: Node, entries: readonly Entry[]): Node {
  const value: JsonObject = Object.create(null)
  for (const entry of entries) value[entry.name] = entry.value.value
  return { ...node, value, entries: new Map(entries.map((entry) => [entry.name, entry])) }
}

function withItems(node: Node, items: readonly Node[]): Node {
  if (items.every((item, i) => item === node.items?.[i])) return node
  return { ...node, value: items.map(({ value }) => value), items }
}
