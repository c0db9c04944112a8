import { canonicalJson } from '../base/canonical.ts'
import { parseTimestamp } from '../base/time.ts'
import {
  commitment,
  type Entry,
  genesisHead,
  type Head,
  type Header,
  hashHeader,
  SALT_BYTES,
  type StoredEntry,
} from './chain.ts'
import { isErasable } from './redaction.ts'

/** The first thing found wrong with a chain, in the words of an operator. */
export interface ChainFault {
  chain: string
  seq: number
  /** Whether what an entry says was changed, or one is missing or follows from another. */
  status: 'tampered' | 'broken-link'
  what: string
}

export interface EntryCheck {
  /** False when only headers are at hand. */
  sections: boolean
  /** Whether a section of the entry was erased by a command. */
  isErased?: (name: string) => boolean
}

/**
 * Checks that `entry` is what follows `previous` and holds what it committed to: its hash is that of
 * its header, it links to the entry before, seq has no gap, time does not go back, and each
 * section's text and salt give the committed value.
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
  const section = check.sections ? sectionFault(entry, check.isErased) : undefined
  return section === undefined ? undefined : tampered(section)
}

/**
 * The header as text is nearly always its members between these words. Where that is the stored text, of which the members were read,
 * no member needs an escape: it is canonical, and found so in a tenth of the time.
 */
function isCanonical({ header, headerText }: StoredEntry): boolean {
  const { chain, commits, id, prev, seq, ts, type } = header
  let sections = ''
  let last = ''
  for (const name of Object.keys(commits)) {
    if (name <= last) return canonicalJson(header) === headerText
    sections += `${last === '' ? '' : ','}"${name}":"${commits[name]}"`
    last = name
  }
  const text = `{"chain":"${chain}","commits":{${sections}},"id":"${id}","prev":"${prev}","seq":${seq},"ts":"${ts}","type":"${type}","v":1}`
  return text === headerText || canonicalJson(header) === headerText
}

/** What is wrong with the sections of an entry against the commitments in its header. */
export function sectionFault(
  { header, sections }: Entry,
  isErased: (name: string) => boolean = () => false,
): string | undefined {
  const stored = new Set(sections.map(({ name }) => name))
  if (stored.size !== sections.length) return 'a section is stored twice'
  const missing = Object.keys(header.commits).find(
    (name) => !stored.has(name) && !(isErasable(header.type, name) && isErased(name)),
  )
  if (missing !== undefined) return `section ${missing} is missing`
  for (const section of sections) {
    const committed = header.commits[section.name]
    if (committed === undefined) return `section ${section.name} is not committed`
    if (section.salt.byteLength !== SALT_BYTES) return `section ${section.name} has a malformed salt`
    if (commitment(section) !== committed) return `section ${section.name} does not match its commitment`
  }
  return undefined
}

/** What the first entry of a segment must follow from: the genesis of its chain, or what it says itself of the entry before. */
export function genesisOr(origin: string, chain: string, first: number, { prev, ts }: Header): Head {
  return first === 0 ? genesisHead(origin, chain) : { seq: first - 1, hash: prev, tsMs: parseTimestamp(ts) ?? 0 }
}

export function headOf(entry: Entry): Head {
  return { seq: entry.header.seq, hash: entry.hash, tsMs: Date.parse(entry.header.ts) }
}
