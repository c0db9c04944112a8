import { idBytes } from '../../base/id.ts'
import { isJsonObject, storedJson } from '../../base/json.ts'
import type { EntryRow } from '../entry-row.ts'
import { statement } from './database.ts'
import { sharedText } from './shared-text.ts'

export const HEADER_COLUMNS = "at, ts, type, id, encode(hash, 'hex'), encode(prev, 'hex'), encode(commits, 'hex')"

const CONTENT = `salts, action, effect, agent, session, CASE WHEN taken THEN 1 END, approval, history_end, evaluated_at,
  ${sharedText('grounds')}, ${sharedText('risk')}, actor, data, detail, request`
const REFERENCES = 'record, record_id, decision, reported_by'
/** Columns of a whole row. The table is named `e`. */
export const COLUMNS = `${HEADER_COLUMNS}, ${CONTENT}, ${REFERENCES}`

const INSERTED = `at, ts, type, id, hash, prev, commits, salts, action, effect, agent, session, taken, approval, history_end,
  evaluated_at, grounds, grounds_number, risk, risk_number, actor, data, detail, request, ${REFERENCES}`
const PARAMETERS = INSERTED.split(',').map((name, i) =>
  /^\s*(hash|prev|commits)$/.test(name) ? `decode($${i + 1}, 'hex')` : `$${i + 1}`,
)
export const INSERT = statement(`INSERT INTO gate.audit_entry (${INSERTED}) VALUES (${PARAMETERS})`)

/** References of an entry to others, by its data. */
type References = readonly [
  record: string | null,
  recordId: string | null,
  decision: Uint8Array | null,
  reportedBy: string | null,
]
/** Whole row as it is read. */
export type StoredRow = readonly [...EntryRow, ...References]
const REFERENCES_FROM = 22

/** Inside of a JSON string, which holds no zero and no half of a character, as texts of PostgreSQL may not. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function unescaped(text: string | null): string | null {
  // The text was made by `escaped`; one that was not gives another commitment, or none.
  return text === null ? null : ((storedJson(`"${text}"`) as string | undefined) ?? text)
}

const NONE: References = [null, null, null, null]

function referencesOf(data: string | null): References {
  const value = data === null ? undefined : storedJson(data)
  if (!isJsonObject(value)) return NONE
  const { record, id, decisionId, reportedBy } = value
  const text = (member: unknown): string | null => (typeof member === 'string' ? escaped(member) : null)
  const decision = typeof decisionId === 'string' ? idBytes(decisionId, 'decision') : undefined
  return [text(record), text(record) === null ? null : text(id), decision ?? null, text(reportedBy)]
}

/** Parameters of INSERT. */
export function parametersOf(row: EntryRow): unknown[] {
  const [at, ts, type, id, hash, prev, commits, salts, action, effect, agent, session, taken, ...rest] = row
  const [approval, historyEnd, evaluatedMs, grounds, risk, actor, data, detail, request] = rest
  const text = (stored: unknown) => (typeof stored === 'string' ? [stored, null] : [null, stored])
  return [
    ...[at, ts, type, id, hash, prev, commits, salts, action, effect],
    ...[agent && escaped(agent), session && escaped(session), taken === 1 || null, approval, historyEnd, evaluatedMs],
    ...[...text(grounds), ...text(risk), actor, data, detail, request, ...referencesOf(data)],
  ]
}

/** The row as the codec takes it; undefined when what it refers to is not what its data says. */
export function rowOf(stored: StoredRow): EntryRow | undefined {
  const references = stored.slice(REFERENCES_FROM)
  const row = stored.slice(0, REFERENCES_FROM) as unknown as EntryRow
  const expected = referencesOf(row[19])
  const isSame = expected.every((value, i) => sameValue(value, references[i]))
  if (!isSame) return undefined
  return row.with(10, unescaped(row[10])).with(11, unescaped(row[11])) as unknown as EntryRow
}

function sameValue(a: string | Uint8Array | null, b: unknown): boolean {
  return typeof a === 'object' && a !== null && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b
}
