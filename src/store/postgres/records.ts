import { tenantOf } from '../../audit/chain.ts'
import { STATE_EVENTS } from '../../audit/events.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { chainOfRecord, type RecordKind, type RecordRow, type Records, type RecordWrite, recordOf } from '../records.ts'
import type { Placed } from '../submission.ts'
import { approvalColumns } from './approvals.ts'
import { first, type Runner, statement } from './database.ts'
import { escaped } from './entry-columns.ts'

type HeldTable = Exclude<RecordKind, 'approval'>

const TABLES: Readonly<Record<RecordKind, string>> = {
  tenant: 'gate.tenant',
  key: 'gate.api_key',
  signingKey: 'gate.signing_key',
  policy: 'gate.policy',
  switch: 'gate.kill_switch',
  approval: 'gate.approval',
}

function statementsOf(kind: RecordKind) {
  const table = TABLES[kind]
  const more = kind === 'key' || kind === 'switch' ? [', tenant', ', $4'] : ['', '']
  return {
    get: statement(`SELECT id, body FROM ${table} WHERE id = $1`),
    all: statement(`SELECT id, body FROM ${table} ORDER BY id`),
    after: statement(`SELECT id, body FROM ${table} WHERE id > $1 ORDER BY id LIMIT 1`),
    count: statement(`SELECT count(*) AS count FROM ${table}`),
    since: statement(`SELECT id, body FROM ${table} WHERE changed > $1 OR id = ANY($2) ORDER BY id`),
    put: statement(
      `INSERT INTO ${table} (id, body, changed${more[0]}) VALUES ($1, $2, $3${more[1]})
       ON CONFLICT (id) DO UPDATE SET body = excluded.body, changed = excluded.changed`,
    ),
  }
}

const STATEMENTS = {
  tenant: statementsOf('tenant'),
  key: statementsOf('key'),
  signingKey: statementsOf('signingKey'),
  policy: statementsOf('policy'),
  switch: statementsOf('switch'),
  approval: statementsOf('approval'),
}

/** Reads of one table of records. */
function tableReads<K extends RecordKind>(run: Runner, kind: K) {
  const of = STATEMENTS[kind]
  return {
    async get(id: string): Promise<Records[K] | undefined> {
      const row = await first(run.rows<RecordRow>(of.get, [id]))
      return row && recordOf(kind, row)
    },
    bodies: async () => new Map((await run.rows<RecordRow>(of.all)).map(({ id, body }) => [id, body])),
    after: (id: string) => first(run.rows<RecordRow>(of.after, [id])),
    count: async () => (await first(run.rows<{ count: number }>(of.count)))?.count ?? 0,
    all: async () => (await run.rows<RecordRow>(of.all)).map((row) => recordOf(kind, row)),
    rowsSince: (version: number, ids: readonly string[]) => run.rows<RecordRow>(of.since, [version, ids]),
  }
}

/** Value of the column of keys and stops that a file has not: their tenant, empty for those of the service itself. */
export function tenantColumn(write: RecordWrite): [tenant: string] | [] {
  return write.kind === 'key' || write.kind === 'switch' ? [tenantOf(chainOfRecord(write))] : []
}

const ENTRIES_OF = statement(
  `SELECT c.name AS chain, e.seq FROM gate.audit_entry AS e JOIN gate.chain AS c ON c.number = e.chain
    WHERE e.record_id = $1 AND e.record = $2 AND e.type = ANY($3) AND ($4::text IS NULL OR c.name = $4) ORDER BY e.at`,
)
const PUT_APPROVAL = statement(
  `INSERT INTO gate.approval (id, body, chain, status, digest, expires_at, requested_by, standing)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
   ON CONFLICT (id) DO UPDATE SET body = excluded.body, status = excluded.status, expires_at = excluded.expires_at,
     standing = excluded.standing`,
)
const REMOVE_APPROVAL = statement('DELETE FROM gate.approval WHERE id = $1')

export function recordQueries(run: Runner) {
  return {
    tenant: tableReads(run, 'tenant'),
    key: tableReads(run, 'key'),
    signingKey: tableReads(run, 'signingKey'),
    policy: tableReads(run, 'policy'),
    switch: tableReads(run, 'switch'),
    approval: { ...tableReads(run, 'approval'), remove: (id: string) => run.send(REMOVE_APPROVAL, [id]) },
    entriesOf: (kind: RecordKind, id: string, chain?: string) =>
      run.rows<Pick<Placed, 'chain' | 'seq'>>(ENTRIES_OF, [escaped(id), kind, STATE_EVENTS, chain ?? null]),
    put(write: RecordWrite, version: number) {
      const { kind, record } = write
      const body = canonicalJson(record)
      if (kind === 'approval') return run.send(PUT_APPROVAL, [record.id, body, ...approvalColumns(record)])
      return run.send(STATEMENTS[kind satisfies HeldTable].put, [record.id, body, version, ...tenantColumn(write)])
    },
  }
}
