import { NAME_PATTERN } from '../shapes/parts.ts'
import { entriesOf, type Node } from '../yaml/node.ts'
import { withEntries, withValues } from '../yaml/repeated-keys.ts'
import { nameIn } from './meant.ts'

const SECTIONS = ['lists', 'conditions', 'domains']
const NAME = new RegExp(NAME_PATTERN)

/**
 * The document with malformed names, which the shape reports, replaced by those that were probably meant: references
 * and declaration then get the same suggestion.
 */
export function withMeantNames(root: Node): Node {
  return withValues(root, ({ name, value }) => (SECTIONS.includes(name) ? withSoundNames(value) : value))
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
  return withEntries(section, sound.values())
}
