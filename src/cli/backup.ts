import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { verifySeqs } from '../actions/audit/verify-range.ts'
import { counted } from '../base/counted.ts'
import { GateError } from '../base/errors.ts'
import { syncFolder } from '../files/rewrite.ts'
import type { Config } from '../service/config.ts'
import { signingKeyPath, stopReservePath } from '../service/paths.ts'
import { lengthOf } from '../store/bounds.ts'
import type { Store } from '../store/store.ts'
import { letOthersGoFirst } from '../workers/thread.ts'
import { addCommonOptions, type GateCommand } from './command.ts'
import { CannotRun, type CommonOptions, configOf } from './context.ts'
import type { Io } from './io.ts'
import { print } from './output.ts'
import { progressBar } from './progress.ts'
import { reserveOf } from './stop-reserve.ts'

const POLL_INTERVAL_MS = 100
const KIB = 1024

export function addBackupCommand(program: GateCommand): void {
  addCommonOptions(program.command('backup'), 'data')
    .argument('<to>', 'file to write; it must not exist yet')
    .description('copy the data file, even of a running service, and verify the copy; a failed copy is not kept')
    .notes(`
The copy contains neither the signing key nor the anchor file: store both separately. On a full disk, stops stay in
stops.reserve, which the copy does not contain; the command warns of them. To restore, stop the service, replace
gate-sidecar.db in the data folder with the copy, remove gate-sidecar.db-wal and -shm there, keep stops.reserve, and
start the service.`)
    .example('backup /mnt/backups/gate-2026-11-26.db')
    .action(backup)
}

interface Backup {
  backup: string
  bytes: number
  chains: { chain: string; entries: number; status: string }[]
  signingKey: string
  /** Stops in force that the data file could not take yet; null if the signing key cannot read them. */
  unwrittenStops: number | null
  stopReserve: string
}

async function backup(to: string, options: CommonOptions): Promise<void> {
  const config = configOf(options)
  if (config.store !== null)
    throw new CannotRun(
      'A PostgreSQL database has backups of its own, such as pg_basebackup and WAL archiving; see docs/operations.md.',
    )
  const path = resolve(to)
  assertFree(path)
  const dir = resolve(config.data)
  letOthersGoFirst()
  // In the same folder, so that it gets its name by one rename.
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.partial`)
  mkdirSync(draft, { mode: 0o700 })
  try {
    const { DATA_FILE } = await import('../store/sqlite/open.ts')
    const copy = join(draft, DATA_FILE)
    await copyWithProgress(options.io, { dir, to: copy, from: join(dir, DATA_FILE) })
    const verified = await verifyCopy(options.io, draft, config)
    const files = { signingKey: signingKeyPath(config), stopReserve: stopReservePath(config) }
    const made: Backup = { backup: path, bytes: statSync(copy).size, ...verified, ...files }
    putInPlace(copy, path)
    print(options, made, () => linesOf(made))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function assertFree(path: string): void {
  if (existsSync(path))
    throw new CannotRun(`${path} already exists, and a backup never replaces a file; name another file.`)
}

async function copyWithProgress(io: Io, { from, ...job }: { dir: string; to: string; from: string }): Promise<void> {
  const { copyInThread } = await import('../store/sqlite/backup.ts')
  const sizeOf = (path: string): number => Math.ceil((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / KIB)
  const progress = progressBar(io, 'copying, KiB', sizeOf(from))
  const timer = setInterval(() => progress.at(sizeOf(job.to)), POLL_INTERVAL_MS)
  try {
    await copyInThread(job)
  } finally {
    clearInterval(timer)
    progress.end()
  }
}

/** Checks the copy as a start and `audit verify` do. @throws CannotRun naming the fault */
async function verifyCopy(io: Io, dir: string, config: Config): Promise<Pick<Backup, 'chains' | 'unwrittenStops'>> {
  const { openStore } = await import('../store/sqlite/store.ts')
  const store: Store = openStore({ dir, create: false, clock: Date.now, check: 'all' })
  try {
    const chains: Backup['chains'] = []
    for (const chain of await store.chainsEver()) {
      const progress = progressBar(io, `${chain}, verifying`, await lengthOf(store, chain))
      const verified = await verifySeqs(store, chain, undefined, {}, progress.at).finally(progress.end)
      if (!verified.valid)
        throw new CannotRun(`No backup was made, because audit chain ${chain} does not verify: ${verified.fault}.`)
      chains.push({ chain, entries: verified.entriesChecked, status: verified.status })
    }
    return { chains, unwrittenStops: unwrittenStops(store, config) }
  } finally {
    await store.close()
  }
}

function unwrittenStops(store: Store, config: Config): Backup['unwrittenStops'] {
  const reserve = reserveOf(store, config)
  try {
    const { stops, unreadable } = reserve?.read() ?? { stops: [], unreadable: 0 }
    return unreadable > 0 ? null : stops.length
  } catch (error) {
    if (error instanceof GateError) return null
    throw error
  } finally {
    reserve?.close()
  }
}

/** Gives the copy its name without replacing a file that appeared meanwhile, and syncs the folder. */
function putInPlace(copy: string, path: string): void {
  try {
    linkSync(copy, path)
  } catch (error) {
    assertFree(path)
    // A file system without hard links.
    if (!(error instanceof Error && 'code' in error && (error.code === 'EPERM' || error.code === 'ENOTSUP')))
      throw error
    renameSync(copy, path)
  }
  syncFolder(dirname(path))
}

function linesOf(made: Backup): string[] {
  const { backup, bytes, chains, signingKey } = made
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0)
  return [
    `${backup} has ${entries.toLocaleString('en')} entries of ${counted(chains.length, 'chain')} (${bytes.toLocaleString('en')} bytes), and was verified.`,
    `It does not contain the signing key ${signingKey}, which a restore needs: store that file separately.`,
    ...unwrittenLines(made),
  ]
}

function unwrittenLines({ unwrittenStops, stopReserve }: Backup): string[] {
  if (unwrittenStops === 0) return []
  if (unwrittenStops === null)
    return [`Stops in ${stopReserve} can be read only with their signing key: copy that file too.`]
  return [`WARNING: the copy lacks ${counted(unwrittenStops, 'stop')} in force: copy ${stopReserve} too.`]
}
