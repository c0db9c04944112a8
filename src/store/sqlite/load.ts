import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from '../../base/time.ts'
import { loaded, type Memory } from '../memory.ts'
import { runNow } from '../steps.ts'
import {
  assertAllSealed,
  assertApprovals,
  assertHeads,
  assertRecords,
  assertStops,
  type FollowOptions,
} from '../verify/startup.ts'
import type { Connection } from './connection.ts'
import { asUnusable } from './errors.ts'
import { assertIndexed, assertNamed } from './indexed.ts'
import { DATA_FILE, type OpenOptions, retryWhileBusy } from './open.ts'
import { RECORD_TABLES } from './records.ts'
import type { MakeVerifier } from './verifiers.ts'
import type { MakeWriter } from './writers.ts'

export interface StoreOptions extends FollowOptions {
  /** Folder of the data file. */
  dir: string
  create: boolean
  clock: Clock
  makeWriter?: MakeWriter
  makeVerifier?: MakeVerifier
  onConvert?: OpenOptions['onConvert']
}

/** Checks the file, then loads the instance's name and records; closes a file that is refused. */
export function checked(connection: Connection, options: StoreOptions): { origin: string; memory: Memory } {
  try {
    const origin = retryWhileBusy(() => ensureOrigin(connection))
    // One snapshot for all checks: a commit of another process meanwhile is not a difference between chain and records.
    const load = connection.db.transaction(() => {
      if (options.check !== 'nothing') assertFollows(connection, origin, options)
      return runNow(loaded(connection))
    })
    return { origin, memory: load.deferred() }
  } catch (error) {
    connection.db.close()
    throw asUnusable(error, join(options.dir, DATA_FILE))
  }
}

/**
 * A file that the service would refuse is not migrated by any command: it stays as its version left it. @throws
 * AlteredFile
 */
export function accept(connection: Connection, options: FollowOptions): void {
  const origin = connection.instance.origin()
  if (origin !== undefined) assertFollows(connection, origin, options)
}

/** Requires records and heads to follow from the chains, and each chain to be sealed. @throws AlteredFile */
export function assertFollows(
  connection: Connection,
  origin: string,
  { check = 'all', sealKeys, unsealed = 'refused' }: FollowOptions,
): void {
  runNow(assertHeads(connection, origin))
  runNow(assertRecords(connection, origin))
  runNow(assertStops(connection))
  assertNamed(connection)
  const { approval, ...held } = RECORD_TABLES
  assertIndexed(connection, ['chain', ...Object.values(held)])
  if (check !== 'allButApprovals') {
    runNow(assertApprovals(connection, origin))
    assertIndexed(connection, [approval])
  }
  if (unsealed !== 'accepted') runNow(assertAllSealed(connection, origin, sealKeys))
}

/**
 * Names the instance at the first start. Processes that start at once agree, since the row can be inserted only once.
 */
function ensureOrigin({ db, instance }: Connection): string {
  const make = db.transaction(() => {
    if (instance.origin() === undefined) instance.create(`gate-${randomBytes(10).toString('hex')}`)
    return instance.origin()
  })
  const origin = instance.origin() ?? make.immediate()
  if (origin === undefined) throw new Error('the instance has no origin')
  return origin
}
