import { NAME_PATTERN } from '../shapes/parts.ts'
import { entriesOf, type Node } from '../yaml/node.ts'
import { withEntries } from '../yaml/repeated-keys.ts'
import { nameIn } from './meant.ts'

const SECTIONS = ['lists', 'conditions', 'domains']
const NAME = new RegExp(NAME_PATTERN)

/**
 * The document with malformed names, which the shape reports, replaced by those that were probably meant: references
 * and declaration then get the same suggestion.
 */
export function withMeantNames(root: Node): Node {
  const changed = SECTIONS.flatMap((section) => {
    const entry = root.entries?.get(section)
    const value = entry && withSoundNames(entry.value)
    return entry === undefined || value === undefined || value === entry.value ? [] : [{ ...entry, value }]
  })
  if (changed.length === 0 || root.entries === undefined) return root
  return withEntries(root, new Map([...root.entries, ...changed.map((entry) => [entry.name, entry] as const)]))
}

function withSoundNames(section: Node): Node {
  const entries = entriesOf(section)
  if (entries.every(({ name }) => NAME.test(name))) return section
  const sound = new Map(section.entries)
  for (const entry of entries) {
    const name = NAME.test(entry.name) ? undefined : nameIn(entry.name, NAME)
    if (name === undefined || sound.has(name)) continue
    sound.delete(entry.name)
    sound.set(name, { ...entry, name })
  }
  return withEntries(section, sound)
}
