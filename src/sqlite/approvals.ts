import type { Database } from 'better-sqlite3'
import type { Approval } from '../approvals/approval.ts'
import type { ApprovalQuery } from '../store.ts'

interface Row {
  body: string
}

const toApproval = (row: Row): Approval => JSON.parse(row.body) as Approval
const OPEN = "('pending', 'approved')"

/** Reads over approvals, by what callers ask. */
export function approvalQueries(db: Database) {
  const byDigest = db.prepare<[string, string], Row>(
    "SELECT body FROM approval WHERE chain = ? AND digest = ? AND status IN ('pending', 'approved', 'rejected') ORDER BY id DESC",
  )
  const due = db.prepare<[string, number], Row>(
    `SELECT body FROM approval WHERE status IN ${OPEN} AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  )
  const approved = db.prepare<[], Row>("SELECT body FROM approval WHERE status = 'approved'")
  const where = `FROM approval WHERE chain = ? AND status IN (SELECT value FROM json_each(?)) AND (? IS NULL OR requested_by_key = ?)`
  const list = db.prepare<unknown[], Row>(`SELECT body ${where} ORDER BY expires_at, id LIMIT ? OFFSET ?`)
  const count = db.prepare<unknown[], { total: number }>(`SELECT count(*) AS total ${where}`)
  return {
    forDigest: (chain: string, digest: string) => byDigest.all(chain, digest).map(toApproval),
    due: (before: string, limit: number) => due.all(before, limit).map(toApproval),
    approved: () => approved.all().map(toApproval),
    list(query: ApprovalQuery): { items: Approval[]; total: number } {
      const by = query.requestedByKey ?? null
      const filter = [query.chain, JSON.stringify(query.statuses), by, by]
      const items = list.all(...filter, query.limit, query.offset).map(toApproval)
      return { items, total: count.get(...filter)?.total ?? 0 }
    },
  }
}
