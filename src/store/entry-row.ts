import { decisionText, type PreparedEntry } from '../audit/draft.ts'
import { type Header, headerTextOf, SALT_BYTES, type Section, type StoredEntry } from '../audit/entry.ts'
import { filled, type HistoryEnd, templateOf } from '../audit/grounds.ts'
import { digestOfDigits, digitsOf } from '../base/digest.ts'
import { GateError } from '../base/errors.ts'
import { ID_BYTES, idBytes, idOf, siblingId } from '../base/id.ts'
import { formatTimestamp, parseTimestamp } from '../base/time.ts'
import type { Decision } from '../policies/set.ts'
import { numberAt, placeOf, seqAt } from './places.ts'

const DIGEST_DIGITS = 64
/** Sections in the order of their names, as their commitments and salts lie in a row. */
const OF_DECISIONS = ['decision', 'grounds', 'request', 'risk'] as const
const OF_EVENTS = ['actor', 'data', 'detail'] as const
const DECISION = 'gate.decision'

type SectionName = (typeof OF_DECISIONS | typeof OF_EVENTS)[number]

/**
 * Columns of audit_entry from which a header is made, as arrays, which SQLite's binding makes in less time than objects.
 * Digests are bytes in the file and digits here: SQLite converts them, in half of the time that arrays of bytes take.
 */
type HeaderColumns = readonly [
  at: number,
  ts: number,
  type: string | null,
  id: Uint8Array,
  hash: string,
  prev: string,
  commits: string,
]
/** A row that begins with them. */
export type HeaderRow = readonly [...HeaderColumns, ...content: unknown[]]
/** All stored columns of audit_entry. */
export type EntryRow = readonly [
  ...HeaderColumns,
  salts: Uint8Array,
  action: string | null,
  effect: Decision | null,
  agent: string | null,
  session: string | null,
  taken: 1 | null,
  approval: string | null,
  /** A length, or a time in ms below zero. */
  historyEnd: number | null,
  evaluatedMs: number | null,
  grounds: TextOrNumber | number | null,
  risk: TextOrNumber | number | null,
  actor: string | null,
  data: string | null,
  detail: string | null,
  request: string | null,
]
/** Columns that hold what may be erased. */
export type Erasable = 'actor' | 'data' | 'detail' | 'request'

/** Place of the salt of a section that may be erased, in bytes; undefined for another section. */
export function erasableSalt(section: string): { column: Erasable; offset: number } | undefined {
  if (section === 'request') return { column: section, offset: OF_DECISIONS.indexOf(section) * SALT_BYTES }
  const column = OF_EVENTS.find((name) => name === section)
  return column && { column, offset: OF_EVENTS.indexOf(column) * SALT_BYTES }
}

/**
 * Stand-in for a text in a row: itself, or its number. A number is a bigint here, since SQLite's binding would store
 * others as a float.
 */
export type TextOrNumber = string | bigint

/** Numbers of chains, and texts that entries share. */
export interface Shared {
  /** Number of a chain, which is made with its first entry. */
  numberOf(chain: string): number
  /** Stand-in for the text in the entry of this seq of a chain. */
  stored(chain: number, seq: number, text: string): TextOrNumber
  /** The text for which `stored` stands in the entry of this seq of a chain; undefined when the store was altered. */
  text(chain: number, seq: number, stored: TextOrNumber | number): string | undefined
}

/** Codec between entries and rows of audit_entry. */
export function entryRows(shared: Shared) {
  const sections = sectionReader(shared)
  return {
    rowOf: rowMaker(shared),
    bareEntry,
    /** The sections that were not erased. @throws GateError as `bareEntry` */
    sections,
    /** The entry with its sections, or those of these names. @throws GateError as `bareEntry` */
    entry(chain: string, row: EntryRow, names?: readonly string[]): StoredEntry {
      const all = sections(chain, row)
      const asked = names === undefined ? all : all.filter(({ name }) => names.includes(name))
      return { ...bareEntry(chain, row), sections: asked }
    },
  }
}

export type EntryRows = ReturnType<typeof entryRows>

function sectionReader({ text }: Pick<Shared, 'text'>): (chain: string, row: EntryRow) => Section[] {
  const shared = ([at]: EntryRow, stored: EntryRow[16]): string | null =>
    stored === null ? null : (text(numberAt(at), seqAt(at), stored) ?? null)
  /** Texts in the order of the names of sections; null for one that was erased. */
  const textsIn = (row: EntryRow): readonly (string | null)[] => {
    const [, ts, type, id, , , , , action, effect, agent, session, taken, approvalId, historyEnd, evaluatedMs] = row
    const [, , , , , , , , , , , , , , , , grounds, risk, actor, data, detail, request] = row
    if (type !== null) return [actor, data, detail]
    const decision =
      action === null || effect === null
        ? null
        : decisionText({ action, decision: effect, id: idOf('decision', id) }, formatTimestamp(ts))
    const template = shared(row, grounds)
    const end = historyEnd !== null && historyEnd < 0 ? formatTimestamp(-historyEnd) : historyEnd
    const varying = { approvalId, agent, evaluatedMs, historyEnd: end, session, isTaken: taken === 1 }
    return [decision, template && filled(template, varying, action ?? ''), request, shared(row, risk)]
  }
  return (chain, row) => {
    const [, , , , , , , salts] = row
    try {
      const texts = textsIn(row)
      const found: Section[] = []
      for (const [i, name] of namesIn(row).entries()) {
        const json = texts[i] ?? null
        if (json !== null) found.push({ name, salt: salts.subarray(i * SALT_BYTES, (i + 1) * SALT_BYTES), json })
      }
      return found
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error
      throw damaged(chain, row, error.message)
    }
  }
}

/**
 * The row of an entry, from what it was before it was sealed, and the salts of its sections in the order of their names.
 *
 * @throws TypeError for an entry that has another form
 */
function rowMaker({ numberOf, stored }: Shared) {
  return ({ header, hash, sections }: StoredEntry, prepared: PreparedEntry, salts: Uint8Array): EntryRow => {
    const { chain, seq, type, id, ts, prev, commits } = header
    const { decision } = prepared
    const bytes = idBytes(id, 'entry')
    const names: readonly string[] = decision === undefined ? OF_EVENTS : OF_DECISIONS
    const isOurs = Object.keys(commits).every((name, i) => name === names[i])
    const isSibling = decision === undefined || decision.id === siblingId(id, 'decision')
    if (bytes === undefined || !isOurs || !isSibling) throw new TypeError(`${type} ${id} is not a well-formed entry`)
    const number = numberOf(chain)
    const json = (name: string): string | null => sections.find((section) => section.name === name)?.json ?? null
    const shared = (text: string | null | undefined): TextOrNumber | null =>
      decision === undefined || text == null ? null : stored(number, seq, text)
    const grounds = json('grounds')
    const template = decision && grounds && templateOf(grounds, decision.varying, decision.action)
    return [
      placeOf(number, seq),
      Date.parse(ts),
      decision === undefined ? type : null,
      bytes,
      digitsOf(hash),
      digitsOf(prev),
      Object.values(commits).map(digitsOf).join(''),
      salts,
      decision?.action ?? null,
      decision?.decision ?? null,
      decision?.varying.agent ?? null,
      decision?.varying.session ?? null,
      decision?.varying.isTaken ? 1 : null,
      decision?.varying.approvalId ?? null,
      historyColumn(decision?.varying.historyEnd ?? null),
      decision?.varying.evaluatedMs ?? null,
      shared(template),
      shared(json('risk')),
      json('actor'),
      json('data'),
      json('detail'),
      json('request'),
    ]
  }
}

/** @throws TypeError for a text that is not a time */
function historyColumn(end: HistoryEnd | null): number | null {
  if (typeof end !== 'string') return end
  const ms = parseTimestamp(end)
  if (ms === undefined || ms <= 0) throw new TypeError(`${end} is not the end of a history`)
  return -ms
}

/** The entry without its sections. @throws GateError naming the entry when its row is damaged beyond reading */
function bareEntry(chain: string, row: HeaderRow): StoredEntry {
  if (!isWhole(row)) throw damaged(chain, row, 'a column holds no value of its form')
  const [at, ts, type, id, hash, prev, commits] = row
  const header: Header = {
    chain,
    commits: {},
    id: idOf('entry', id),
    prev: digestOfDigits(prev),
    seq: seqAt(at),
    ts: formatTimestamp(ts),
    type: type ?? DECISION,
    v: 1,
  }
  for (const [i, name] of namesIn(row).entries())
    header.commits[name] = digestOfDigits(commits.slice(i * DIGEST_DIGITS, (i + 1) * DIGEST_DIGITS))
  return { header, headerText: headerTextOf(header), hash: digestOfDigits(hash), sections: [] }
}

/** Largest time of a Date (ECMAScript, 21.4.1.1). */
const MAX_MS = 8.64e15

/** False for a row of a damaged file, which holds values of other types than the schema says. */
function isWhole([, ts, type, id, hash, prev, commits]: HeaderRow): boolean {
  return (
    (type === null || typeof type === 'string') &&
    Math.abs(ts) <= MAX_MS &&
    id instanceof Uint8Array &&
    id.byteLength === ID_BYTES &&
    hash.length === DIGEST_DIGITS &&
    prev.length === DIGEST_DIGITS &&
    commits !== ''
  )
}

function namesIn([, , type, , , , commits]: HeaderRow): readonly SectionName[] {
  return type === null ? OF_DECISIONS : OF_EVENTS.slice(0, commits.length / DIGEST_DIGITS)
}

/** Damage of a row, which the file alone shows. */
function damaged(chain: string, [at]: HeaderRow, what: string): GateError {
  return new GateError('audit_unavailable', `Audit chain ${chain}, entry ${seqAt(at)}: ${what}.`)
}
