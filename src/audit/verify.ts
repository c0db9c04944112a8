import { canonicalJson } from '../base/canonical.ts'
import { parseTimestamp } from '../base/time.ts'
import { genesisHead, type Head } from './chain.ts'
import {
  commitment,
  type Entry,
  type Header,
  hashHeader,
  headerTextOf,
  SALT_BYTES,
  type Section,
  type StoredEntry,
} from './entry.ts'
import { isErasable } from './redaction.ts'

/** The first fault of a chain, in an operator's terms. */
export interface ChainFault {
  chain: string
  seq: number
  /** Kind of fault: changed content, or an entry that is missing or links to another one. */
  status: 'tampered' | 'broken-link'
  what: string
}

/** A section, as the commitment of its content. */
export interface Committed {
  name: string
  commitment: string
}

export interface EntryCheck {
  /**
   * True verifies the entry's sections; computed commitments replace them; false skips them when only headers are at
   * hand.
   */
  sections: boolean | readonly Committed[]
  /** True when a command erased this section of the entry. */
  isErased?: (name: string) => boolean
}

/**
 * Verifies that `entry` follows `previous` and holds what it committed to: hash of its header, link, seq without a gap,
 * time not going back, and each section's commitment.
 *
 * @returns what is wrong, or undefined. Everything is recomputed; nothing stored is trusted.
 */
export function entryFault(
  chain: string,
  previous: Head,
  entry: StoredEntry,
  check: EntryCheck = { sections: true },
): ChainFault | undefined {
  const { header } = entry
  const seq = previous.seq + 1
  const broken = (what: string): ChainFault => ({ chain, seq, status: 'broken-link', what })
  const tampered = (what: string): ChainFault => ({ chain, seq, status: 'tampered', what })
  if (header.chain !== chain) return tampered(`the entry belongs to chain ${header.chain}`)
  if (header.seq !== seq) return broken(`entry ${seq} is missing (found ${header.seq})`)
  if (hashHeader(entry.headerText) !== entry.hash) return tampered('the header does not have the stored hash')
  if (!isCanonical(entry)) return tampered('the header is not in canonical form')
  if (header.prev !== previous.hash) return broken('the entry does not follow from the one before it')
  const tsMs = parseTimestamp(header.ts)
  if (tsMs === undefined || tsMs < previous.tsMs) return tampered('the time goes back')
  const section = checkedFault(entry, check)
  return section === undefined ? undefined : tampered(section)
}

function checkedFault(entry: Entry, { sections, isErased }: EntryCheck): string | undefined {
  if (sections === false) return undefined
  return sections === true ? contentFault(entry, isErased) : sectionFault(entry.header, sections, isErased)
}

/** True for a canonical header. A full canonicalisation is ten times as slow, and needed only where a member has an escape. */
function isCanonical({ header, headerText }: StoredEntry): boolean {
  return headerTextOf(header) === headerText || canonicalJson(header) === headerText
}

/** The fault in an entry's sections against the commitments in its header. */
export function contentFault({ header, sections }: Entry, isErased?: (name: string) => boolean): string | undefined {
  return sectionFault(header, sections.map(committedBy), isErased)
}

function committedBy(section: Section): Committed {
  return { name: section.name, commitment: section.salt.byteLength === SALT_BYTES ? commitment(section) : '' }
}

/** The fault in computed commitments against those in the entry's header. */
export function sectionFault(
  { type, commits }: Header,
  sections: readonly Committed[],
  isErased: (name: string) => boolean = () => false,
): string | undefined {
  for (const [i, { name, commitment }] of sections.entries()) {
    const committed = commits[name]
    if (committed === undefined) return `section ${name} is not committed`
    if (commitment !== committed) return `section ${name} does not match its commitment`
    if (sections.findIndex((other) => other.name === name) !== i) return 'a section is stored twice'
  }
  const names = Object.keys(commits)
  if (names.length === sections.length) return undefined
  const isMissing = (name: string): boolean => !sections.some((section) => section.name === name)
  const missing = names.find((name) => isMissing(name) && !(isErasable(type, name) && isErased(name)))
  return missing && `section ${missing} is missing`
}

/** The head before a segment: the genesis of its chain, or the one that its first entry claims. */
export function genesisOr(origin: string, chain: string, first: number, { prev, ts }: Header): Head {
  return first === 0 ? genesisHead(origin, chain) : { seq: first - 1, hash: prev, tsMs: parseTimestamp(ts) ?? 0 }
}

export function headOf(entry: Entry): Head {
  return { seq: entry.header.seq, hash: entry.hash, tsMs: Date.parse(entry.header.ts) }
}
