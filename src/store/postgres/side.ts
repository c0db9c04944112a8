import type pg from 'pg'
import { type CopiedRow, pageSql } from '../copy/copied-tables.ts'
import type { CopiedEntry, Instance, Side } from '../copy/side.ts'
import { AlteredFile, UnusableFile } from '../errors.ts'
import { seqAt, WHOLE_CHAIN } from '../places.ts'
import { runLater } from '../steps.ts'
import { assertFollows } from '../verify/startup.ts'
import { chainPlaces, type Numbers } from './chains.ts'
import {
  type Address,
  database as connected,
  type Database,
  first,
  isDatabaseError,
  type Runner,
  runnerOn,
  statement,
} from './database.ts'
import { COLUMNS, rowOf, type StoredRow } from './entry-columns.ts'
import { readFence } from './fence.ts'
import { assertMigrated } from './migrate.ts'
import { servedTenant } from './served.ts'
import { assertEnds, endsIn } from './side-ends.ts'
import { DIALECT, IS_USED, sideWrites } from './side-writes.ts'
import { unreachable } from './store.ts'
import { tablesOn } from './tables.ts'

/** Lock of the one who copies into a database: any number that nothing else of it uses. */
const LOCK = 7_264_813_656
const TRY_LOCK = statement(`SELECT pg_try_advisory_lock(${LOCK}) AS ours`)
/** A long wait between two statements is one for the other side. */
const HOLD =
  'BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0'
// In the order in which sidecars lock.
const LOCK_RECORDS = statement('SELECT FROM gate.instance FOR UPDATE NOWAIT')
const LOCK_CHAINS = statement('SELECT FROM gate.chain ORDER BY number FOR UPDATE NOWAIT')
const LEASES = statement('SELECT count(*) AS count FROM gate.sidecar WHERE expires_at > clock_timestamp()')

interface SideOptions {
  address: Address
  role: 'source' | 'target'
}

/**
 * Opens a database for a copy. A source is held in one state: until it is closed, nobody appends to it.
 *
 * @throws UnusableFile, such as when sidecars hold lanes of it
 */
export async function openServerSide({ address, role }: SideOptions): Promise<Side> {
  const database = connected(address)
  let client: pg.Client | undefined
  const close = async (): Promise<void> => {
    // A connection that broke cannot say goodbye.
    await client?.end().catch(() => undefined)
    await database.close()
  }
  try {
    client = await database.connect()
    await held(client, runnerOn(client), role)
    return sideOn(address, database, client, close)
  } catch (error) {
    await close()
    const isHeld = isDatabaseError(error) && ['55P03', '40001'].includes(error.code ?? '')
    if (isHeld) throw new UnusableFile(`The store ${address.url} is in use; stop its sidecars and commands first.`)
    return unreachable(address, error)
  }
}

async function held(client: pg.Client, run: Runner, role: SideOptions['role']): Promise<void> {
  await assertMigrated(run)
  if ((await servedTenant(run)) !== undefined)
    throw new UnusableFile('The login serves one tenant, so it does not see the whole trail. Copy with another.')
  if (role === 'source') {
    await client.query(HOLD)
    await run.rows(LOCK_RECORDS)
    await run.rows(LOCK_CHAINS)
  } else if ((await first(run.rows<{ ours: boolean }>(TRY_LOCK)))?.ours !== true)
    throw new UnusableFile('Another copy into this database is under way; wait for its end.')
  await assertNoSidecars(run)
}

/** @throws UnusableFile */
async function assertNoSidecars(run: Runner): Promise<void> {
  const { count = 0 } = (await first(run.rows<{ count: number }>(LEASES))) ?? {}
  if (count > 0)
    throw new UnusableFile(
      `The database is in use by sidecars (${count}). Stop them first; one that was killed is gone after ten seconds.`,
    )
}

function sideOn(address: Address, database: Database, client: pg.Client, close: () => Promise<void>): Side {
  const numbers: Numbers = new Map()
  const run = telling(address, runnerOn(client))
  const tables = tablesOn(run, numbers)
  const name = address.url
  const told = <T>(work: Promise<T>): Promise<T> => work.catch((error: unknown) => unreachable(address, error))
  return {
    name,
    tables,
    ...sideReads(run, numbers, name),
    endsNow: () => told(database.snapshot(endsIn)),
    async assertFollows(origin, sealKeys) {
      await assertEnds(run)
      await runLater(assertFollows(tables, origin, { check: 'all', sealKeys }))
    },
    ...sideWrites(client, numbers, told, assertNoSidecars),
    close,
  }
}

/** Statements with errors that name the server. */
function telling(address: Address, { rows, arrays, send }: Runner): Runner {
  return {
    rows: (of, values) => rows<never>(of, values).catch((error: unknown) => unreachable(address, error)),
    arrays: (of, values) => arrays<never>(of, values).catch((error: unknown) => unreachable(address, error)),
    send,
  }
}

const INSTANCE = statement(
  `SELECT origin, state_version AS version FROM gate.instance WHERE EXISTS (SELECT FROM gate.fence) OR ${IS_USED}`,
)
const SOME = statement(`SELECT ${COLUMNS} FROM gate.audit_entry AS e WHERE at >= $1 AND at < $2 ORDER BY at LIMIT $3`)

type Reads = Pick<Side, 'fence' | 'instance' | 'ends' | 'entries' | 'rows'>

function sideReads(run: Runner, numbers: Numbers, name: string): Reads {
  const places = chainPlaces(run, numbers)
  return {
    fence: () => readFence(run),
    instance: () => first(run.rows<Instance>(INSTANCE)),
    ends: () => endsIn(run),
    async entries(chain, seq, limit) {
      const found = await run.arrays<StoredRow>(SOME, [
        ...(await places.range(chain, { ...WHOLE_CHAIN, first: seq })),
        limit,
      ])
      return found.map((stored): CopiedEntry => {
        const row = rowOf(stored)
        const seqOf = seqAt(stored[0])
        if (row === undefined) throw new AlteredFile(`In ${name}, entry ${seqOf} of ${chain} is listed as another.`)
        return row.with(0, seqOf) as unknown as CopiedEntry
      })
    },
    rows: (table, after, limit) =>
      run.arrays<CopiedRow>(statement(pageSql(DIALECT, table, after === undefined)), [...(after ?? []), limit]),
  }
}
