import type { Database } from 'better-sqlite3'
import type { PageQuery, SeqRange } from '../queries.ts'

export interface EntryRow {
  chain: string
  seq: number
  header: string
  hash: Buffer
}

export const COLUMNS = 'chain, seq, header, hash'

/**
 * Entries other than decisions with first <= seq < end. The index, which lacks decisions, is named, since the planner
 * would take the primary key and read every header.
 */
export const OTHERS = "entry INDEXED BY entry_type WHERE chain = ? AND type <> 'gate.decision' AND seq >= ? AND seq < ?"

interface RowPage {
  rows: EntryRow[]
  total: number
}

/** Pages of entry rows within a range of seqs. */
export function pageQuery(db: Database): (query: PageQuery, range: SeqRange) => RowPage {
  const between = db.prepare<[string, number, number], EntryRow>(
    `SELECT ${COLUMNS} FROM entry WHERE chain = ? AND seq >= ? AND seq < ? ORDER BY seq`,
  )
  const others = db.prepare<[string, number, number], number>(`SELECT seq FROM ${OTHERS} ORDER BY seq`).pluck()
  const ofType = typeQuery(db)
  return (query, range) => {
    const { chain, order, limit, offset, eventType } = query
    const { first, end } = range
    if (eventType !== undefined && eventType !== 'gate.decision') return ofType(query, range)
    // Seqs have no gaps: without a filter a page is arithmetic, and decisions are all seqs that the index lacks.
    const skipped = eventType === undefined || end <= first ? [] : others.all(chain, first, end)
    const total = Math.max(0, end - first - skipped.length)
    const low = order === 'asc' ? offset : Math.max(0, total - offset - limit)
    const high = Math.min(total, order === 'asc' ? offset + limit : total - offset)
    if (low >= high) return { rows: [], total }
    const rows = spans(skipped, first, low, high).flatMap(([from, to]) => between.all(chain, from, to))
    if (order === 'desc') rows.reverse()
    return { rows, total }
  }
}

/** Gapless spans of the seqs from the low-th to before the high-th, not counting the skipped ones. */
function spans(skipped: readonly number[], first: number, low: number, high: number): [from: number, to: number][] {
  const found: [number, number][] = []
  // `place` counts the seqs kept before `seq`.
  let seq = first
  let place = 0
  for (const gap of [...skipped, Number.POSITIVE_INFINITY]) {
    const kept = gap - seq
    const [from, to] = [Math.max(low - place, 0), Math.min(high - place, kept)]
    if (from < to) found.push([seq + from, seq + to])
    place += kept
    seq = gap + 1
    if (place >= high) break
  }
  return found
}

/** Pages of one type other than decisions, from the partial index. */
function typeQuery(db: Database): (query: PageQuery, range: SeqRange) => RowPage {
  const where = `FROM ${OTHERS} AND type = ?`
  const count = db.prepare<[string, number, number, string], { total: number }>(`SELECT count(*) AS total ${where}`)
  const ordered = (direction: 'ASC' | 'DESC') =>
    db.prepare<[string, number, number, string, number, number], EntryRow>(
      `SELECT ${COLUMNS} ${where} ORDER BY seq ${direction} LIMIT ? OFFSET ?`,
    )
  const pages = { asc: ordered('ASC'), desc: ordered('DESC') }
  return ({ chain, order, limit, offset, eventType = '' }, { first, end }) => {
    const { total } = count.get(chain, first, end, eventType) ?? { total: 0 }
    return { rows: pages[order].all(chain, first, end, eventType, limit, offset), total }
  }
}
