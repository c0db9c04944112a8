import { canonicalJson } from '../base/canonical.ts'
import { equalBytes } from '../base/digest.ts'
import { parseTimestamp } from '../base/time.ts'
import { commitment, type Entry, type Head, hashHeader, SALT_BYTES, type StoredEntry } from './chain.ts'

/** The first thing found wrong with a chain, in the words of an operator. */
export interface ChainFault {
  chain: string
  seq: number
  what: string
}

/**
 * Checks that `entry` is what follows `previous` and holds what it committed to: its hash is that of
 * its header, it links to the entry before, seq has no gap, time does not go back, and each
 * section's text and salt give the committed value.
 *
 * @param check.sections false when only headers are at hand
 * @returns what is wrong, or undefined. Everything is recomputed; nothing stored is trusted.
 */
export function entryFault(
  chain: string,
  previous: Head,
  entry: StoredEntry,
  check = { sections: true },
): ChainFault | undefined {
  const { header } = entry
  const seq = previous.seq + 1
  const fault = (what: string): ChainFault => ({ chain, seq, what })
  if (header.chain !== chain) return fault(`the entry belongs to chain ${header.chain}`)
  if (header.seq !== seq) return fault(`entry ${seq} is missing (found ${header.seq})`)
  if (hashHeader(entry.headerText) !== entry.hash) return fault('the header does not have the stored hash')
  if (canonicalJson(header) !== entry.headerText) return fault('the header is not in canonical form')
  if (header.prev !== previous.hash) return fault('the entry does not follow from the one before it')
  const tsMs = parseTimestamp(header.ts)
  if (tsMs === undefined || tsMs < previous.tsMs) return fault('the time goes back')
  const section = check.sections ? sectionFault(entry) : undefined
  return section === undefined ? undefined : fault(section)
}

/** What is wrong with the sections of an entry against the commitments in its header. */
export function sectionFault({ header, sections }: Entry): string | undefined {
  const names = Object.keys(header.commits)
  if (sections.length !== names.length) return `${names.length} sections are committed, ${sections.length} stored`
  if (new Set(sections.map(({ name }) => name)).size !== names.length) return 'a section is stored twice'
  for (const section of sections) {
    const committed = header.commits[section.name]
    if (committed === undefined) return `section ${section.name} is not committed`
    if (section.salt.byteLength !== SALT_BYTES) return `section ${section.name} has a malformed salt`
    if (!equalBytes(Buffer.from(commitment(section)), Buffer.from(committed))) {
      return `section ${section.name} does not match its commitment`
    }
  }
  return undefined
}

export function headOf(entry: Entry): Head {
  return { seq: entry.header.seq, hash: entry.hash, tsMs: Date.parse(entry.header.ts) }
}
