import type { TSchema } from '#typebox'
import type { Json } from '../../base/json.ts'
import type { Report } from '../diagnostics/report.ts'
import { type Entry, entriesOf, type Node, type Place } from '../yaml/node.ts'
import { withItems, withMembers, withValues } from '../yaml/repeated-keys.ts'
import { closest, folded, type Synonyms } from './closest.ts'
import { KEY_WORDS } from './synonyms.ts'
import { Verbatim } from './written.ts'

/** The members of a JSON Schema that are read here. */
interface Shape {
  properties?: Readonly<Record<string, TSchema>>
  additionalProperties?: TSchema | boolean
  items?: TSchema
}

/**
 * The document with unknown keys replaced by those that were probably meant; each is reported. A misspelt key is thus
 * one fault, not also the absence of the key that was meant, and hides nothing below it.
 */
export function repairKeys(node: Node, shape: TSchema, report: Report): Node {
  const { properties, additionalProperties: values, items }: Shape = shape
  if (node.entries !== undefined && properties !== undefined) {
    const known = withKnownKeys(node, Object.keys(properties), KEY_WORDS, report, { below: keysBelow(properties) })
    return withValues(known, ({ name, value }) => {
      const member = properties[name]
      return member === undefined ? value : repairKeys(value, member, report)
    })
  }
  if (typeof values === 'object') return withValues(node, ({ value }) => repairKeys(value, values, report))
  return items === undefined ? node : withItems(node, (item) => repairKeys(item, items, report))
}

/** A mapping whose unknown keys are reported; those that resemble an absent key are read as that key. */
export function withKnownKeys(
  node: Node,
  known: readonly string[],
  words: readonly Synonyms[],
  report: Report,
  { fits = () => true, below = new Map() }: Repair = {},
): Node {
  const unknown = entriesOf(node).filter(({ name }) => !known.includes(name))
  if (unknown.length === 0) return node
  const absent = new Set(known.filter((name) => node.entries?.has(name) !== true))
  const read = new Map<string, Entry>()
  for (const entry of unknown) {
    const glued = gluedValue(entry, absent)
    const meant = glued?.name ?? meantKey(entry.name, absent, words)
    if (glued === undefined) report.add('GATE1101', entry.key, unknownKey(entry.name, known, meant, below), meant)
    else reportGlued(entry.key, glued, report)
    if (meant === undefined) continue
    const value = glued === undefined ? entry.value : { ...entry.value, value: glued.value, start: entry.key.start }
    if (!fits(meant, value)) continue
    absent.delete(meant)
    // A value glued to its key cannot be told from it: its own faults are not reported.
    if (glued !== undefined) report.silence(entry.key)
    read.set(entry.name, { name: meant, key: entry.key, value })
  }
  return withMembers(node, (entry) => read.get(entry.name) ?? entry)
}

/** Keys of the mappings that can stand below a mapping, by the key of each. */
type Below = ReadonlyMap<string, ReadonlySet<string>>

interface Repair {
  /** False for a value that does not fit the key, which is then not read as that key. */
  readonly fits?: (name: string, value: Node) => boolean
  readonly below?: Below
}

function keysBelow(properties: Readonly<Record<string, Shape>>): Below {
  return new Map(
    Object.entries(properties).map(([name, shape]) => [name, new Set(Object.keys(shape.properties ?? {}))]),
  )
}

function reportGlued(key: Place, { name, text }: { name: string; text: string }, report: Report): void {
  const message = `A space is missing after the colon of ${name}.`
  report.add('GATE1101', key, message, new Verbatim(`${name}: ${text}`))
}

/**
 * Message about an unknown key. It lists the known ones, unless the key that was meant is clear, or has its place
 * further below.
 */
export function unknownKey(
  name: string,
  known: readonly string[],
  meant: string | undefined,
  below: Below = new Map(),
): string {
  const message = `There is no key ${JSON.stringify(name.slice(0, 100))} here`
  if (meant !== undefined) return `${message}.`
  for (const [parent, keys] of below) {
    const key = sameKey(name, keys) ?? synonymOf(name, keys, KEY_WORDS)
    if (key !== undefined) return `${message}; the key ${key} stands under ${parent}.`
  }
  return `${message}. Known here: ${known.join(', ')}.`
}

/** Reads `{fact:context.amount}`, which YAML takes for a key without value. */
function gluedValue(
  { name, key, value }: Entry,
  absent: ReadonlySet<string>,
): { name: string; text: string; value: Json } | undefined {
  const [, word = '', text = ''] = /^([A-Za-z]+):[\s\u00a0]*(\S.*)$/s.exec(name) ?? []
  if (value.value !== null || value.start !== key.start || !absent.has(word)) return undefined
  const number = Number(text)
  return { name: word, text, value: Number.isFinite(number) ? number : text }
}

/** The absent key that an unknown one probably means. */
export function meantKey(
  name: string,
  absent: ReadonlySet<string>,
  words: readonly Synonyms[] = KEY_WORDS,
): string | undefined {
  // A synonym is surer than a similar name, unless that differs by its form alone.
  return sameKey(name, absent) ?? synonymOf(name, absent, words) ?? closest(name, absent)
}

function sameKey(name: string, keys: ReadonlySet<string>): string | undefined {
  return [...keys].find((key) => folded(key) === folded(name))
}

function synonymOf(name: string, keys: ReadonlySet<string>, words: readonly Synonyms[]): string | undefined {
  return words.map((table) => table.get(folded(name))).find((word) => word !== undefined && keys.has(word))
}
