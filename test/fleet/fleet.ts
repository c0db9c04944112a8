import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { readConfig } from '../../src/service/config.ts'
import { openConfigured } from '../../src/service/store.ts'
import type { Store } from '../../src/store/store.ts'
import { type Ended, runBuilt } from '../cli/program.ts'
import { command, type Folder, folderIn, type Key, type Service, serve } from '../e2e/processes.ts'
import { type Cleanup, temporaryFolder } from '../helpers.ts'
import { MAX_STALENESS, postgresDatabase } from '../postgres.ts'

/** Sidecars on one database, which share the log key and nothing else of a disk. */
export interface Fleet {
  /** Flags that name the database. */
  flags: readonly string[]
  /** Folder of the policies of all of them. */
  policies: string
  /** File of the log key, which all of them have. */
  signingKey: string
  /** A sidecar more, with a data folder of its own. */
  serve(...more: string[]): Promise<Service>
  /** A key that a command makes. */
  key(...roles: string[]): Promise<Key & { id: string }>
  /** Arguments of a command beside the sidecars, which has the log key at hand. */
  args(...words: string[]): string[]
  /** Runs such a command of the built program. */
  run(...words: string[]): Promise<Ended>
  /** Address of the database for its administrator. */
  admin: string
  /** The database as another process opens it that holds the log key. */
  open(): Promise<Store>
}

interface FleetOptions {
  /** Gives the address at which the sidecars reach the database; its own by default. */
  at?: (url: URL) => Promise<URL>
  /** Address of an empty database, by default one on the server of all tests. */
  database?: string
}

/** Nothing but what is asked. */
const QUIET = ['--sweep', 'off', '--max-staleness', MAX_STALENESS]

export async function fleet(t: Cleanup, { at = async (url) => url, database }: FleetOptions = {}): Promise<Fleet> {
  const dir = temporaryFolder()
  const admin = database ?? (await postgresDatabase(t))
  const url = new URL(admin)
  const password = join(dir, 'password')
  writeFileSync(password, url.password, { mode: 0o600 })
  url.password = ''
  const reached = await at(new URL(url.href))
  const flagsFor = (store: URL) => ['--store', store.href, '--store-password', password]
  const folder = folderIn(dir)
  // The commands make it there.
  const signingKey = join(folder.data, 'signing-key.pem')
  const args = (...words: string[]) => [...words, '--data', folder.data, ...flagsFor(url)]
  let started = 0
  return {
    flags: flagsFor(url),
    signingKey,
    serve(...more) {
      started += 1
      const own: Folder = { data: join(dir, `data-${started}`), policies: folder.policies }
      return serve(t, own, ...flagsFor(reached), '--signing-key', signingKey, ...QUIET, ...more)
    },
    async key(...roles) {
      const named = roles.flatMap((role) => ['--role', role])
      return command(folder, 'keys', 'create', '--tenant', 'acme', ...named, ...flagsFor(url))
    },
    args,
    run: (...words) => runBuilt(args(...words)),
    admin,
    policies: folder.policies,
    open() {
      const flags = { store: url.href, storePassword: password, signingKey }
      const config = readConfig({ flags, env: {}, file: undefined })
      return openConfigured(config, { create: false, clock: Date.now, sealKeys: sealKeysAt(signingKey) })
    },
  }
}
