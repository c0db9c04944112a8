import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { type Clock, parseDuration } from '../base/time.ts'
import { readPrivately } from '../files/private.ts'
import type { About } from '../store/fleet.ts'
import { makeFolder } from '../store/make-folder.ts'
import type { Address } from '../store/postgres/database.ts'
import type { ServerOptions } from '../store/postgres/store.ts'
import type { StoreOptions } from '../store/sqlite/load.ts'
import type { Store } from '../store/store.ts'
import { VERSION } from '../version.ts'
import { type Config, ConfigError } from './config.ts'

/** Opens the store of the settings; only its engine is loaded. @throws UnusableFile, ConfigError, Exposed */
export async function openConfigured(
  config: Config,
  { lanes = false, onClock, ...options }: Omit<StoreOptions, 'dir'> & Pick<ServerOptions, 'lanes' | 'onClock'>,
): Promise<Store> {
  const address = addressOf(config)
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
    about: aboutSelf(config, options.clock),
    onClock,
    maxStalenessMs: parseDuration(config.maxStaleness),
  })
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
