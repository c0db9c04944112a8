import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { once } from '../../base/memo.ts'
import { UnusableFile } from '../errors.ts'
import { first, type Runner, runnerOn, statement } from './database.ts'

const MIGRATIONS = new URL('./schema/', import.meta.url)
/** Lock of those who migrate: any number that nothing else of this database uses. */
const LOCK = 7_264_813_655

const migrations = once(() =>
  readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(new URL(name, MIGRATIONS), 'utf8')),
)

/** Brings the schema up to date, forward only, one at a time however many try. @returns its levels before and after */
export async function migrate(client: pg.Client): Promise<{ from: number; to: number }> {
  await client.query('BEGIN')
  await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
  await client.query('CREATE SCHEMA IF NOT EXISTS gate')
  await client.query('CREATE TABLE IF NOT EXISTS gate.migration (level integer PRIMARY KEY)')
  const level = await levelOf(runnerOn(client))
  assertKnown(level)
  for (const [i, sql] of migrations().entries()) {
    if (i < level) continue
    await client.query(sql)
    await client.query('INSERT INTO gate.migration (level) VALUES ($1)', [i + 1])
  }
  // Names the instance, once.
  await client.query(
    'INSERT INTO gate.instance (one, origin, state_version) VALUES (1, $1, 0) ON CONFLICT (one) DO NOTHING',
    [`gate-${randomBytes(10).toString('hex')}`],
  )
  await client.query('COMMIT')
  return { from: level, to: migrations().length }
}

const IS_OURS = statement("SELECT to_regclass('gate.migration') IS NOT NULL AS ours")
const LEVEL = statement('SELECT coalesce(max(level), 0) AS level FROM gate.migration')

/** @throws UnusableFile when the schema is not that of this version */
export async function assertMigrated(run: Runner): Promise<void> {
  const isOurs = (await first(run.rows<{ ours: boolean }>(IS_OURS)))?.ours === true
  const level = isOurs ? await levelOf(run) : 0
  assertKnown(level)
  if (level < migrations().length)
    throw new UnusableFile('The database has not the schema of this version. Run `gate-sidecar store migrate` first.')
}

async function levelOf(run: Runner): Promise<number> {
  return (await first(run.rows<{ level: number }>(LEVEL)))?.level ?? 0
}

function assertKnown(level: number): void {
  if (level > migrations().length)
    throw new UnusableFile('The database was written by a newer version of gate-sidecar.')
}
