import { type Approval, OPEN_STATUSES, type Standing } from '../../approvals/approval.ts'
import { withinBytes } from '../budget.ts'
import { AlteredFile } from '../errors.ts'
import type { ApprovalQuery, OpenQuery, StandingQuery } from '../queries.ts'
import { type RecordRow, recordOf } from '../records.ts'
import { first, type Runner, statement } from './database.ts'
import { escaped } from './entry-columns.ts'

/** Upper bound, which sorts after every deadline. */
const NEVER = '~'

type Columns = readonly [
  chain: string,
  status: string,
  digest: string,
  expiresAt: string,
  requestedBy: string,
  standing: string,
]
interface ApprovalRow extends RecordRow {
  columns: Columns
}

/** Columns by which approvals are found. */
export function approvalColumns(approval: Approval): Columns {
  const { chain, status, digest, expiresAt, requestedBy } = approval
  return [chain, status, digest, expiresAt, escaped(requestedBy), JSON.stringify(standingOf(approval))]
}

const READ = 'id, body, ARRAY[chain, status, digest, expires_at, requested_by, standing] AS columns'
const FROM = 'FROM gate.approval'
const BY_DIGEST = statement(
  `SELECT ${READ} ${FROM} WHERE chain = $1 AND digest = $2 AND status IN ('pending', 'approved', 'rejected') ORDER BY id DESC`,
)
const PENDING = statement(`SELECT id ${FROM} WHERE chain = $1 AND digest = $2 AND status = 'pending'`)
const PENDING_BY = statement(
  `SELECT count(*) AS count ${FROM} WHERE chain = $1 AND requested_by = $2 AND status = 'pending'`,
)
const openOnes = (columns: string) =>
  statement(
    `SELECT ${columns} ${FROM} WHERE status = ANY($1) AND expires_at <= $2 AND (expires_at, id) > ($3, $4)
    AND chain = coalesce($6, chain) ORDER BY expires_at, id LIMIT $5`,
  )

const OPEN = openOnes(READ)
const STANDINGS = openOnes('standing')

/** The approval, held to the columns by which it was found. @throws AlteredFile */
function toApproval(row: ApprovalRow): Approval {
  const approval = recordOf('approval', row)
  if (approvalColumns(approval).every((value, i) => value === row.columns[i])) return approval
  throw new AlteredFile(`The stored approval ${row.id} is listed as another. The database was altered.`)
}

export function approvalQueries(run: Runner) {
  return {
    forDigest: async (chain: string, digest: string) =>
      (await run.rows<ApprovalRow>(BY_DIGEST, [chain, digest])).map(toApproval),
    isPending: async ({ id, chain, digest }: Pick<Approval, 'id' | 'chain' | 'digest'>) =>
      (await first(run.rows<{ id: string }>(PENDING, [chain, digest])))?.id === id,
    pendingOf: async (chain: string, requestedBy: string) =>
      (await first(run.rows<{ count: number }>(PENDING_BY, [chain, escaped(requestedBy)])))?.count ?? 0,
    async open(query: OpenQuery): Promise<Approval[]> {
      const rows = await run.rows<ApprovalRow>(OPEN, valuesOf(query))
      return withinBytes(rows, query.maxBytes, (row) => row, sizeOf).map(toApproval)
    },
    async standings(query: StandingQuery): Promise<Standing[]> {
      const rows = await run.rows<{ standing: string }>(STANDINGS, valuesOf(query))
      // The text was made by `approvalColumns`, and is held to the approval where that is read.
      return rows.map(({ standing }) => JSON.parse(standing) as Standing)
    },
    list: (query: ApprovalQuery) => list(run, query),
  }
}

function valuesOf({ statuses, dueAt = NEVER, after, limit, chain }: OpenQuery): unknown[] {
  return [statuses, dueAt, after?.expiresAt ?? '', after?.id ?? '', limit, chain ?? null]
}

function standingOf(approval: Approval): Standing {
  const { id, chain, action, domain, status, createdAt, requestedEnd, decidedEnd, expiresAt } = approval
  return { id, chain, action, domain, status, createdAt, requestedEnd, decidedEnd, expiresAt }
}

const LISTED = `${FROM} WHERE chain = $1 AND status = ANY($2)
  AND CASE WHEN id = ANY($3) THEN 'expired' WHEN id = ANY($4) THEN 'cancelled' ELSE status END = ANY($5)
  AND requested_by = coalesce($6, requested_by)`
const LIST = {
  deadline: statement(`SELECT ${READ} ${LISTED} ORDER BY expires_at, id LIMIT $7 OFFSET $8`),
  // Ids sort by time.
  age: statement(`SELECT ${READ} ${LISTED} ORDER BY id LIMIT $7 OFFSET $8`),
}
const COUNT = statement(`SELECT count(*) AS total ${LISTED}`)

async function list(run: Runner, query: ApprovalQuery): Promise<{ items: Approval[]; total: number }> {
  const { chain, statuses, actual = { expired: [], cancelled: [] }, limit, offset, requestedBy, maxBytes } = query
  const others = actual.expired.length + actual.cancelled.length > 0 ? OPEN_STATUSES : []
  const by = requestedBy === undefined ? null : escaped(requestedBy)
  const filter = [chain, [...statuses, ...others], actual.expired, actual.cancelled, statuses, by]
  const [rows, count] = await Promise.all([
    run.rows<ApprovalRow>(LIST[query.order ?? 'deadline'], [...filter, limit, offset]),
    first(run.rows<{ total: number }>(COUNT, filter)),
  ])
  return { items: withinBytes(rows, maxBytes, (row) => row, sizeOf).map(toApproval), total: count?.total ?? 0 }
}

const sizeOf = ({ body }: RecordRow): number => body.length
