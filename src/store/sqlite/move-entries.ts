import type { Database } from 'better-sqlite3'
import type { PreparedEntry } from '../../audit/draft.ts'
import { readHeader, SALT_BYTES, type Section, type StoredEntry } from '../../audit/entry.ts'
import { type Grounds, varyingOf } from '../../audit/grounds.ts'
import { formatDigest, isDigest } from '../../base/digest.ts'
import { grouped } from '../../base/grouped.ts'
import { isJsonObject, storedJson } from '../../base/json.ts'
import type { Decision } from '../../policies/set.ts'
import { type EntryRow, entryRows } from '../entry-row.ts'
import { AlteredFile } from '../errors.ts'
import { INSERT } from './columns.ts'
import { chainPlaces } from './places.ts'
import { sharedTexts } from './shared-text.ts'

/** Entries and texts of one transaction: others wait for its end, and a full disk or a crash loses only this much work. */
const MAX_ENTRIES = 10_000
const MAX_CHARACTERS = 64_000_000
/** Entries read at once. */
const CHUNK = 100

interface OldEntry {
  chain: string
  seq: number
  header: string
  hash: Uint8Array
}

interface OldSection extends Section {
  seq: number
}

/**
 * Moves entries from the tables entry and section to audit_entry, in the order of their chains, until a limit.
 *
 * @returns true when none is left
 * @throws AlteredFile for an entry that is not the same, to the byte, in its new row
 */
export function moveEntries(db: Database): boolean {
  const places = chainPlaces(db)
  const { stored, text } = sharedTexts(db)
  const rows = entryRows({ numberOf: places.made, stored, text })
  const first = db.prepare<[], Pick<OldEntry, 'chain'>>('SELECT chain FROM entry ORDER BY chain, seq LIMIT 1')
  const next = db.prepare<[string, number], OldEntry>(
    'SELECT chain, seq, header, hash FROM entry WHERE chain = ? ORDER BY seq LIMIT ?',
  )
  const between = 'WHERE chain = ? AND seq >= ? AND seq <= ?'
  const sectionsIn = db.prepare<[string, number, number], OldSection>(
    `SELECT seq, name, salt, json FROM section ${between} ORDER BY seq, name`,
  )
  const insert = db.prepare<[EntryRow]>(INSERT)
  const deletions = ['entry', 'section'].map((table) =>
    db.prepare<[string, number, number]>(`DELETE FROM ${table} ${between}`),
  )
  let characters = 0
  for (let moved = 0; moved < MAX_ENTRIES && characters < MAX_CHARACTERS; ) {
    const { chain } = first.get() ?? {}
    if (chain === undefined) return isEmpty(db)
    const found = next.all(chain, CHUNK)
    const place = [chain, found.at(0)?.seq ?? 0, found.at(-1)?.seq ?? 0] as const
    const sections = grouped(sectionsIn.all(...place), ({ seq }) => seq)
    for (const old of found) {
      const own = sections.get(old.seq) ?? []
      for (const { json } of own) characters += json.length
      insert.run(rowOf(rows, old, own))
    }
    for (const deletion of deletions) deletion.run(...place)
    moved += found.length
  }
  return false
}

/** Entries that are left, by the ends of their chains. */
export function entriesToMove(db: Database): number {
  return (
    db
      .prepare<[], number>(
        `WITH RECURSIVE found (chain) AS (
         SELECT min(chain) FROM entry
         UNION ALL
         SELECT (SELECT min(chain) FROM entry WHERE chain > found.chain) FROM found WHERE found.chain IS NOT NULL
       )
       SELECT coalesce(sum((SELECT max(seq) - min(seq) + 1 FROM entry WHERE entry.chain = found.chain)), 0) FROM found`,
      )
      .pluck()
      .get() ?? 0
  )
}

/** @throws AlteredFile for a section that belongs to no entry */
function isEmpty(db: Database): true {
  const stray = db.prepare<[], { chain: string; seq: number }>('SELECT chain, seq FROM section LIMIT 1').get()
  if (stray === undefined) return true
  throw new AlteredFile(
    `Audit chain ${stray.chain} has a section of entry ${stray.seq}, and no such entry. The store was altered outside gate-sidecar.`,
  )
}

function rowOf(rows: ReturnType<typeof entryRows>, old: OldEntry, sections: readonly Section[]): EntryRow {
  const altered = (what: string): AlteredFile => new AlteredFile(`Audit chain ${old.chain}, entry ${old.seq}: ${what}.`)
  const header = readHeader(old.header)
  if (header === undefined) throw altered('the header is malformed')
  const entry: StoredEntry = { header, headerText: old.header, hash: formatDigest(old.hash), sections }
  const names = Object.keys(header.commits)
  const salts = Buffer.alloc(names.length * SALT_BYTES)
  for (const { name, salt } of sections) salts.set(salt, Math.max(0, names.indexOf(name)) * SALT_BYTES)
  for (const name of ['decision', 'grounds'])
    if (names.includes(name) && !sections.some((section) => section.name === name))
      throw altered(`section ${name} is missing`)
  try {
    const row = rows.rowOf(entry, prepared(entry), salts)
    const made = rows.entry(old.chain, row)
    const isDigits = [header.prev, ...Object.values(header.commits)].every(isDigest)
    if (isDigits && header.chain === old.chain && header.seq === old.seq && isSame(made, entry)) return row
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    throw altered(`it is not as a version of gate-sidecar wrote it: ${error.message}`)
  }
  throw altered('it is not as a version of gate-sidecar wrote it')
}

/** The entry as it was before it was sealed. @throws TypeError for another form */
function prepared({ header: { id, chain, type }, sections }: StoredEntry): PreparedEntry {
  if (type !== 'gate.decision') return { id, chain, type, sections }
  const value = (name: string): unknown => storedJson(sections.find((section) => section.name === name)?.json ?? 'null')
  const [decision, grounds] = [value('decision'), value('grounds')]
  if (!isDecision(decision) || !isGrounds(grounds)) throw new TypeError('the decision or its grounds are missing')
  return { id, chain, type, sections, decision: { ...decision, varying: varyingOf(grounds, decision.action) } }
}

// As far as the types of this program go; that the new row has the same text is compared.

function isDecision(value: unknown): value is { id: string; action: string; decision: Decision } {
  return isJsonObject(value as never) && typeof (value as { action: unknown }).action === 'string'
}

function isGrounds(value: unknown): value is Grounds {
  return isJsonObject(value as never) && isJsonObject((value as { caller: never }).caller)
}

function isSame(made: StoredEntry, entry: StoredEntry): boolean {
  return (
    made.headerText === entry.headerText &&
    made.hash === entry.hash &&
    made.sections.length === entry.sections.length &&
    made.sections.every(({ name, json, salt }, i) => {
      const old = entry.sections[i]
      return old?.name === name && old.json === json && Buffer.compare(old.salt, salt) === 0
    })
  )
}
