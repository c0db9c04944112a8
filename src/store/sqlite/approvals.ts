import type { Database } from 'better-sqlite3'
import { type Approval, OPEN_STATUSES, type Standing } from '../../approvals/approval.ts'
import { withinBytes } from '../budget.ts'
import type { ApprovalQuery, OpenQuery, StandingQuery } from '../queries.ts'
import { type RecordRow, recordOf } from '../records.ts'

type IdRow = Pick<RecordRow, 'id'>

const toApproval = (row: RecordRow): Approval => recordOf('approval', row)
/** Upper bound, which sorts after every deadline. */
const NEVER = '~'

export function approvalQueries(db: Database) {
  const byDigest = db.prepare<[string, string], RecordRow>(
    "SELECT id, body FROM approval WHERE chain = ? AND digest = ? AND status IN ('pending', 'approved', 'rejected') ORDER BY id DESC",
  )
  const pending = db.prepare<[string, string], IdRow>(
    "SELECT id FROM approval WHERE chain = ? AND digest = ? AND status = 'pending'",
  )
  const pendingBy = db.prepare<[string, string], { count: number }>(
    "SELECT count(*) AS count FROM approval WHERE chain = ? AND requested_by = ? AND status = 'pending'",
  )
  const bodies = bodyReader(db)
  return {
    forDigest: (chain: string, digest: string) => byDigest.all(chain, digest).map(toApproval),
    /** Reads the index of pending approvals alone: a waiting reader asks often, and a body may be large. */
    isPending: ({ id, chain, digest }: Pick<Approval, 'id' | 'chain' | 'digest'>) =>
      pending.get(chain, digest)?.id === id,
    pendingOf: (chain: string, requestedBy: string): number => pendingBy.get(chain, requestedBy)?.count ?? 0,
    open: openQuery(db, bodies),
    standings: standingQuery(db),
    list: listQuery(db, bodies),
  }
}

type Bodies = (rows: readonly IdRow[], maxBytes: number | undefined) => Approval[]

/** Reads bodies one by one, as far as the bytes allow; an index has found their ids before. */
function bodyReader(db: Database): Bodies {
  const body = db.prepare<[string], RecordRow>('SELECT id, body FROM approval WHERE id = ?')
  return (rows, maxBytes) =>
    withinBytes(
      rows,
      maxBytes,
      ({ id }) => body.get(id) ?? { id, body: 'null' },
      (row) => row.body.length,
    ).map(toApproval)
}

type Parameters = Record<string, string | number>

const NEXT_OPEN = `status IN (SELECT value FROM json_each(@statuses)) AND expires_at <= @dueAt
  AND (expires_at, id) > (@expiresAt, @id) ORDER BY expires_at, id LIMIT @limit`

function parametersOf({ statuses, dueAt = NEVER, limit, after }: Omit<StandingQuery, 'chain'>): Parameters {
  const place = { expiresAt: after?.expiresAt ?? '', id: after?.id ?? '' }
  return { statuses: JSON.stringify(statuses), dueAt, limit, ...place }
}

function openQuery(db: Database, bodies: Bodies) {
  const everywhere = db.prepare<[Parameters], IdRow>(`SELECT id FROM approval WHERE ${NEXT_OPEN}`)
  const inChain = db.prepare<[Parameters], IdRow>(`SELECT id FROM approval WHERE chain = @chain AND ${NEXT_OPEN}`)
  return ({ chain, maxBytes, ...query }: OpenQuery): Approval[] => {
    const asked = parametersOf(query)
    return bodies(chain === undefined ? everywhere.all(asked) : inChain.all({ ...asked, chain }), maxBytes)
  }
}

/** Selects only columns of the index approval_list, so that no body is read. */
function standingQuery(db: Database) {
  const statement = db.prepare<[Parameters], Standing>(
    `SELECT id, chain, action, domain, status, created_at AS createdAt, requested_end AS requestedEnd,
       decided_end AS decidedEnd, expires_at AS expiresAt
       FROM approval WHERE chain = @chain AND ${NEXT_OPEN}`,
  )
  return ({ chain, ...query }: StandingQuery): Standing[] => statement.all({ ...parametersOf(query), chain })
}

function listQuery(db: Database, bodies: Bodies) {
  const statements = (filter: string) => {
    const where = `FROM approval
      WHERE chain = @chain AND status IN (SELECT value FROM json_each(@stored)) AND ${filter}
        CASE WHEN id IN (SELECT value FROM json_each(@expired)) THEN 'expired'
             WHEN id IN (SELECT value FROM json_each(@cancelled)) THEN 'cancelled' ELSE status END
          IN (SELECT value FROM json_each(@wanted))`
    const page = (order: string) =>
      db.prepare<[object], IdRow>(`SELECT id ${where} ORDER BY ${order} LIMIT @limit OFFSET @offset`)
    return {
      // Ids sort by time.
      page: { deadline: page('expires_at, id'), age: page('id') },
      count: db.prepare<[object], { total: number }>(`SELECT count(*) AS total ${where}`),
    }
  }
  const all = statements('')
  // Only the body has the requester, so this filter is used only on demand.
  const ofRequester = statements('requested_by = @by AND')
  return (query: ApprovalQuery): { items: Approval[]; total: number } => {
    const {
      chain,
      statuses,
      actual = { expired: [], cancelled: [] },
      limit,
      offset,
      requestedBy: by,
      order = 'deadline',
    } = query
    const others = actual.expired.length + actual.cancelled.length > 0 ? OPEN_STATUSES : []
    const filter = {
      chain,
      stored: JSON.stringify([...statuses, ...others]),
      wanted: JSON.stringify(statuses),
      expired: JSON.stringify(actual.expired),
      cancelled: JSON.stringify(actual.cancelled),
      ...(by !== undefined && { by }),
    }
    const { page, count } = by === undefined ? all : ofRequester
    const rows = page[order].all({ ...filter, limit, offset })
    return { items: bodies(rows, query.maxBytes), total: count.get(filter)?.total ?? 0 }
  }
}
