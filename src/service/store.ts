import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { KeyFile } from '../actions/evidence/signing-keys.ts'
import { type Clock, parseDuration } from '../base/time.ts'
import { readPrivately } from '../files/private.ts'
import { sealKeysIn } from '../files/seal-key.ts'
import { sealKeysAt, signingKeyFile } from '../files/signing-key.ts'
import type { About } from '../store/fleet.ts'
import { makeFolder } from '../store/make-folder.ts'
import type { Address } from '../store/postgres/database.ts'
import type { ServerOptions } from '../store/postgres/store.ts'
import type { StoreOptions } from '../store/sqlite/load.ts'
import type { SealKeys, Store } from '../store/store.ts'
import { VERSION } from '../version.ts'
import { type Config, ConfigError } from './config.ts'
import { signingKeyPath } from './paths.ts'

/** Opens the store of the settings; only its engine is loaded. @throws UnusableFile, ConfigError, Exposed, UnusableSealKey */
export async function openConfigured(
  config: Config,
  { lanes = false, onClock, ...options }: Omit<StoreOptions, 'dir'> & Pick<ServerOptions, 'lanes' | 'onClock'>,
): Promise<Store> {
  const address = addressOf(config)
  assertKeys(config)
  if (address === undefined) {
    const { openStore } = await import('../store/sqlite/store.ts')
    return openStore({ dir: resolve(config.data), ...options })
  }
  // It has the signing key, and stops that wait for the store.
  makeFolder(resolve(config.data))
  const { openServerStore } = await import('../store/postgres/store.ts')
  return openServerStore({
    address,
    ...options,
    lanes,
    signs: config.sealKey === null,
    about: aboutSelf(config, options.clock),
    onClock,
    maxStalenessMs: parseDuration(config.maxStaleness),
  })
}

/** A sidecar without the log key needs others that sign. @throws ConfigError */
function assertKeys({ store, signingKey, sealKey, anchorFile, anchorUrl }: Config): void {
  if (sealKey === null) return
  if (anchorFile !== null || anchorUrl !== null)
    throw new ConfigError('Anchors are delivered where checkpoints are signed, so not beside sealKey.')
  if (store === null) throw new ConfigError('sealKey needs store: the only writer of a data file signs too.')
  if (signingKey !== null)
    throw new ConfigError('signingKey and sealKey exclude each other: the seal key follows from the log key.')
}

/** Keys of the seals, from the log key, which is made where there is none, or from the seal key. */
export function sealKeysOf(config: Config): SealKeys {
  return config.sealKey === null ? sealKeysAt(signingKeyPath(config)) : sealKeysIn(config.sealKey)
}

/** File of the log key. @throws ConfigError where the seal key takes its place */
export function logKeyFileOf(config: Config): KeyFile {
  if (config.sealKey === null) return signingKeyFile(signingKeyPath(config))
  throw new ConfigError('This needs the log key, and sealKey names the seal key alone. Run it where signingKey is set.')
}

/** Description of this sidecar for the others. Kubernetes gives the host of a container the name of its pod. */
function aboutSelf({ name }: Config, clock: Clock): About {
  return { name: name ?? hostname(), version: VERSION, startedMs: clock() }
}

/** Address of the server; undefined where the data file keeps everything. @throws ConfigError, Exposed */
export function addressOf({ store, storePassword }: Pick<Config, 'store' | 'storePassword'>): Address | undefined {
  if (store === null) return undefined
  return { url: store, password: storePassword === null ? undefined : passwordIn(storePassword) }
}

function passwordIn(path: string): string {
  try {
    return readPrivately('The password of the store', path).replace(/\r?\n$/, '')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause)
      throw new ConfigError(`The password of the store ${path} cannot be read.`, { cause })
    throw cause
  }
}
