import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { anchorFile } from '../../anchors/file.ts'
import { counted } from '../../base/counted.ts'
import { type Heads, headsOf } from '../../evidence/anchor.ts'
import { sealKeysAt } from '../../files/signing-key.ts'
import { stopReserve } from '../../files/stop-reserve.ts'
import { type Config, shown } from '../../service/config.ts'
import { signingKeyPath, stopReservePath } from '../../service/paths.ts'
import { SETTINGS } from '../../service/settings.ts'
import { addressOf } from '../../service/store.ts'
import type { Copied } from '../../store/copy/copy.ts'
import type { Side } from '../../store/copy/side.ts'
import type { Address } from '../../store/postgres/database.ts'
import type { SealKeys } from '../../store/store.ts'
import { addCommonOptions, addSettingOption, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, configOf, UsageError } from '../context.ts'
import type { Io } from '../io.ts'
import { print } from '../output.ts'
import { conversionProgress, progressBar } from '../progress.ts'

interface CopyOptions extends CommonOptions {
  from: string
  to: string
  fromPassword?: string
  toPassword?: string
}

export function addStoreCopyCommand(store: GateCommand): void {
  const copy = store
    .command('copy')
    .requiredOption('--from <place>', 'folder of a data file, or URL of a PostgreSQL database without a password')
    .requiredOption('--to <place>', 'the same, of the empty store that takes the trail')
    .option('--from-password <file>', 'file of the password for --from')
    .option('--to-password <file>', 'file of the password for --to')
  addCommonOptions(addSettingOption(copy, 'signingKey'))
    .description('move a trail from a data file to PostgreSQL, or back; verify both sides')
    .notes(`
Stop whatever uses the source first. Entries, checkpoints and records stay the same, byte for byte. When both sides are
verified, the source is marked as moved, and nothing opens it any more: two stores of one trail would contradict each
other. If the command ends early, run it again: it goes on with the unfinished target, which nothing else opens. The
signing key is needed, and not copied.`)
    .example(
      'store copy --from ./data --to postgres://owner@db.internal/gate --to-password /run/secrets/owner-password',
    )
    .action(run)
}

interface Made extends Copied {
  from: string
  to: string
  signingKey: string
}

/** A folder, or a server. */
type Place = { name: string } & ({ dir: string } | { address: Address })

async function run(options: CopyOptions): Promise<void> {
  const { io } = options
  const config = configOf(options)
  const from = placeOf('--from', options.from, options.fromPassword)
  const to = placeOf('--to', options.to, options.toPassword)
  if (from.name === to.name) throw new UsageError('--from and --to name the same store.')
  const keyFile = keyFileOf(config, from)
  const sealKeys = sealKeysAt(keyFile, 'left')
  const anchors = await anchorsOf(config)
  const { copyTrail } = await import('../../store/copy/copy.ts')
  const source = await opened(io, from, 'source', sealKeys)
  try {
    if ('dir' in from) assertNoStops({ ...config, data: from.dir })
    const target = { name: to.name, exists: () => isThere(to), open: () => opened(io, to, 'target', sealKeys) }
    const watch = (what: string, total: number) => progressBar(io, what, total)
    const copied = await copyTrail({ source, target, watch, sealKeys, anchors, nowMs: Date.now() })
    const made: Made = { from: from.name, to: to.name, ...copied, signingKey: keyFile }
    print(options, made, () => linesOf(made))
  } finally {
    await source.close()
  }
}

/** @throws UsageError for a URL that no store has; its password is not shown */
function placeOf(option: string, text: string, passwordFile: string | undefined): Place {
  const { shape } = SETTINGS.store
  if (!/^postgres(?:ql)?:/.test(text)) {
    if (passwordFile !== undefined) throw new UsageError(`${option}-password is for a PostgreSQL database.`)
    return { name: resolve(text), dir: resolve(text) }
  }
  const url = shape.read(shape.fromText(text))
  const address = addressOf({ store: url ?? null, storePassword: passwordFile ?? null })
  if (address === undefined)
    throw new UsageError(
      `${option}: ${shown(text)} is not accepted: a URL such as ${SETTINGS.store.example} is expected, with the password in the file of ${option}-password.`,
    )
  return { name: address.url, address }
}

/** Only the engine of the place is loaded. */
async function opened(io: Io, place: Place, role: 'source' | 'target', sealKeys: SealKeys): Promise<Side> {
  if ('address' in place) {
    const { openServerSide } = await import('../../store/postgres/side.ts')
    return openServerSide({ address: place.address, role })
  }
  const { openFileSide } = await import('../../store/sqlite/side.ts')
  const create = role === 'target'
  return openFileSide({ dir: place.dir, create, sealKeys, onConvert: conversionProgress(io) })
}

/** True for a server, and for a folder with a data file. */
async function isThere(place: Place): Promise<boolean> {
  if ('address' in place) return true
  const { DATA_FILE } = await import('../../store/sqlite/open.ts')
  return existsSync(join(place.dir, DATA_FILE))
}

/** Stops that a full disk kept out of the trail would be left behind. @throws CannotRun */
function assertNoStops(config: Config): void {
  const path = stopReservePath(config)
  if (!existsSync(path)) return
  // Any stop counts, whether its key is at hand or not.
  const reserve = stopReserve(path, () => new Uint8Array())
  const { stops, unreadable } = reserve.read()
  reserve.close()
  const count = stops.length + unreadable
  if (count > 0)
    throw new CannotRun(
      `${path} has ${counted(count, 'stop')} that the trail lacks. Start the service once, so that they are written, and stop it again.`,
    )
}

/** The key lies beside the data file, unless a setting says where. */
function keyFileOf(config: Config, from: Place): string {
  return signingKeyPath('dir' in from ? { ...config, data: from.dir } : config)
}

async function anchorsOf({ anchorFile: path }: Config): Promise<Heads> {
  return path === null ? new Map() : headsOf((await anchorFile(path).newest()).newest.values())
}

function linesOf({ from, to, chains, signingKey }: Made): string[] {
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0)
  return [
    `${entries.toLocaleString('en')} entries of ${counted(chains.length, 'chain')} were moved to ${to}, and verified on both sides.`,
    `${from} is marked as moved, and nothing opens it any more; remove it when the new store has a backup.`,
    `The signing key ${signingKey} was not copied: the services of the new store need it.`,
  ]
}
