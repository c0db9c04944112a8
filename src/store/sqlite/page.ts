import type { Database } from 'better-sqlite3'
import type { EntryRow } from '../entry-row.ts'
import type { PageQuery, SeqRange } from '../queries.ts'
import { COLUMNS } from './columns.ts'
import { type ChainPlaces, SEQ } from './places.ts'

/**
 * Entries other than decisions of a chain, from a place and before another. The index, which lacks decisions, is named,
 * since the planner would take the primary key and read every entry.
 */
export const OTHERS = 'audit_entry INDEXED BY entry_by_type WHERE chain = ? AND type IS NOT NULL AND at >= ? AND at < ?'

interface RowPage {
  rows: EntryRow[]
  total: number
}

/** Pages of entry rows within a range of seqs. */
export function pageQuery(db: Database, places: ChainPlaces): (query: PageQuery, range: SeqRange) => RowPage {
  const between = db
    .prepare<[number, number], EntryRow>(`SELECT ${COLUMNS} FROM audit_entry WHERE at >= ? AND at < ? ORDER BY at`)
    .raw()
  const others = db.prepare<[number, number, number], number>(`SELECT ${SEQ} FROM ${OTHERS} ORDER BY at`).pluck()
  const ofType = typeQuery(db, places)
  return (query, range) => {
    const { chain, order, limit, offset, eventType } = query
    const { first, end } = range
    if (eventType !== undefined && eventType !== 'gate.decision') return ofType(query, range)
    // Seqs have no gaps: without a filter a page is arithmetic, and decisions are all seqs that the index lacks.
    const skipped =
      eventType === undefined || end <= first ? [] : others.all(places.number(chain), ...places.range(chain, range))
    const total = Math.max(0, end - first - skipped.length)
    const low = order === 'asc' ? offset : Math.max(0, total - offset - limit)
    const high = Math.min(total, order === 'asc' ? offset + limit : total - offset)
    if (low >= high) return { rows: [], total }
    const rows = spans(skipped, first, low, high).flatMap((span) => between.all(...places.range(chain, span)))
    if (order === 'desc') rows.reverse()
    return { rows, total }
  }
}

/** Gapless spans of the seqs from the low-th to before the high-th, not counting the skipped ones. */
function spans(skipped: readonly number[], first: number, low: number, high: number): SeqRange[] {
  const found: SeqRange[] = []
  // `place` counts the seqs kept before `seq`.
  let seq = first
  let place = 0
  for (const gap of [...skipped, Number.POSITIVE_INFINITY]) {
    const kept = gap - seq
    const [from, to] = [Math.max(low - place, 0), Math.min(high - place, kept)]
    if (from < to) found.push({ first: seq + from, end: seq + to })
    place += kept
    seq = gap + 1
    if (place >= high) break
  }
  return found
}

/** Pages of one type other than decisions, from the partial index. */
function typeQuery(db: Database, places: ChainPlaces): (query: PageQuery, range: SeqRange) => RowPage {
  const where = `FROM ${OTHERS} AND type = ?`
  const count = db.prepare<[number, number, number, string], number>(`SELECT count(*) ${where}`).pluck()
  const ordered = (direction: 'ASC' | 'DESC') =>
    db
      .prepare<[number, number, number, string, number, number], EntryRow>(
        `SELECT ${COLUMNS} ${where} ORDER BY at ${direction} LIMIT ? OFFSET ?`,
      )
      .raw()
  const pages = { asc: ordered('ASC'), desc: ordered('DESC') }
  return ({ chain, order, limit, offset, eventType = '' }, range) => {
    const place = [places.number(chain), ...places.range(chain, range), eventType] as const
    return { rows: pages[order].all(...place, limit, offset), total: count.get(...place) ?? 0 }
  }
}
