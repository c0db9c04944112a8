import type pg from 'pg'
import { COPIED_TABLES, type CopiedRow, type CopiedTable, insertSql } from '../copy/copied-tables.ts'
import { placed } from '../copy/rows.ts'
import type { ChainEnds, Instance, Side } from '../copy/side.ts'
import { UnusableFile } from '../errors.ts'
import { recordOf } from '../records.ts'
import { approvalColumns } from './approvals.ts'
import { chainPlaces, lockRecords, type Numbers } from './chains.ts'
import { first, type Runner, runnerOn, statement } from './database.ts'
import { INSERT, parametersOf } from './entry-columns.ts'
import { PUT_FENCE, REMOVE_FENCE } from './fence.ts'
import { CHANNEL } from './listener.ts'
import { tenantColumn } from './records.ts'
import { sharedTexts } from './shared-text.ts'
import { begin } from './transaction.ts'

export const DIALECT = { schema: 'gate.', parameter: (number: number) => `$${number}` }
const tables = ['audit_entry', ...COPIED_TABLES]
/** Condition of a database with anything in it. */
export const IS_USED = `(${tables.map((table) => `EXISTS (SELECT FROM gate.${table})`).join(' OR ')})`

const USED = statement(`SELECT ${IS_USED} AS used`)
const PUT_INSTANCE = statement('UPDATE gate.instance SET origin = $1, state_version = $2')
// Nobody appends by the records that were there before.
const PUT_CHAIN = statement(
  'INSERT INTO gate.chain (name, state) SELECT $1, state_version FROM gate.instance RETURNING number',
)
// Entries must be decided by the records as they are now.
const PUT_END = statement(
  `UPDATE gate.chain SET length = $2, hash = decode($3, 'hex'), pruned = $4, sealed_size = $5, seal_key = $6,
          seal = decode($7, 'hex'), state = $8
    WHERE name = $1`,
)
const GO_ON_COUNTING = statement(
  `SELECT setval(pg_get_serial_sequence('gate.checkpoint', 'number'), max(number)) FROM gate.checkpoint
   HAVING max(number) IS NOT NULL`,
)
const NEXT_VERSION = statement('UPDATE gate.instance SET state_version = state_version + 1')
// Each process that has the database open reads the records anew before its next entry, and finds the mark.
const OUTDATE = statement('UPDATE gate.chain SET state = (SELECT state_version FROM gate.instance)')
const TELL = statement(`NOTIFY ${CHANNEL}`)
/** Columns that the data file has not. */
const MORE: Partial<Record<CopiedTable, readonly string[]>> = {
  approval: ['chain', 'status', 'digest', 'expires_at', 'requested_by', 'standing'],
  api_key: ['tenant'],
  kill_switch: ['tenant'],
}

type Writes = Pick<Side, 'begin' | 'append' | 'clear' | 'put' | 'putEnds' | 'finish' | 'retire'>

/** @param told names the server in errors */
export function sideWrites(
  client: pg.Client,
  numbers: Numbers,
  told: <T>(work: Promise<T>) => Promise<T>,
  assertNoSidecars: (run: Runner) => Promise<void>,
): Writes {
  const texts = sharedTexts()
  const written = (work: (run: Runner) => Promise<void>): Promise<void> => told(inTransaction(client, work))
  const numberOf = async (run: Runner, chain: string): Promise<number> => {
    const known = await chainPlaces(run, numbers).number(chain)
    return known || ((await first(run.rows<{ number: number }>(PUT_CHAIN, [chain])))?.number ?? 0)
  }
  return {
    begin: ({ origin, version }, { kind, other, at }) =>
      written(async (run) => {
        lockRecords(run)
        await assertNoSidecars(run)
        if ((await first(run.rows<{ used: boolean }>(USED)))?.used !== false)
          throw new UnusableFile('The database is not empty any more: something was written to it meanwhile.')
        run.send(PUT_INSTANCE, [origin, version])
        run.send(PUT_FENCE, [kind, other, at])
      }),
    append: (chain, entries) =>
      written(async (run) => {
        const number = await numberOf(run, chain)
        const stored = (text: string, seq: number) => texts.stored(run, number, seq, text)
        for (const entry of entries) run.send(INSERT, parametersOf(placed(entry, number, stored)))
      }),
    clear: (table) => written(async (run) => run.send(statement(`DELETE FROM gate.${table}`))),
    put: (table, rows) => written(async (run) => putRows(run, table, rows)),
    putEnds: (instance, ends) => written(async (run) => putEnds(run, instance, ends)),
    finish: () => written(async (run) => run.send(REMOVE_FENCE)),
    // In the transaction that has held the source.
    retire: ({ kind, other, at }) =>
      told(
        (async () => {
          const run = runnerOn(client)
          await run.rows(NEXT_VERSION)
          await run.rows(OUTDATE)
          await run.rows(PUT_FENCE, [kind, other, at])
          await run.rows(TELL)
          await client.query('COMMIT')
        })(),
      ),
  }
}

async function inTransaction(client: pg.Client, work: (run: Runner) => Promise<void>): Promise<void> {
  const transaction = begin(client)
  try {
    await work(transaction.run)
    await transaction.commit()
  } catch (error) {
    if (transaction.isOpen()) await transaction.rollback()
    throw error
  }
}

function putRows(run: Runner, table: CopiedTable, rows: readonly CopiedRow[]): void {
  const insert = statement(insertSql(DIALECT, table, MORE[table]))
  for (const row of rows) run.send(insert, [...row, ...moreOf(table, row)])
}

function moreOf(table: CopiedTable, [id, body]: CopiedRow): readonly string[] {
  const row = { id: String(id), body: String(body) }
  if (table === 'approval') return approvalColumns(recordOf('approval', row))
  if (table === 'api_key') return tenantColumn({ kind: 'key', record: recordOf('key', row) })
  return table === 'kill_switch' ? tenantColumn({ kind: 'switch', record: recordOf('switch', row) }) : []
}

function putEnds(run: Runner, { origin, version }: Instance, ends: readonly ChainEnds[]): void {
  run.send(PUT_INSTANCE, [origin, version])
  for (const { name, length, hash, pruned, seal } of ends) {
    const [size, key, mac] = seal ?? [null, null, null]
    run.send(PUT_END, [name, length, hash, pruned, size, key, mac, version])
  }
  run.send(GO_ON_COUNTING)
}
