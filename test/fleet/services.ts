import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cleanup, type Gate, type GateOptions, startGate, temporaryFolder } from '../helpers.ts'
import { postgresDatabase } from '../postgres.ts'

/** Services of this process on one database, which share the log key and nothing else. */
export interface Services {
  /** Address of the database for its administrator. */
  admin: string
  start(options?: GateOptions): Promise<Gate>
}

export async function services(t: Cleanup): Promise<Services> {
  const dir = temporaryFolder()
  const admin = await postgresDatabase(t)
  const url = new URL(admin)
  const storePassword = join(dir, 'password')
  writeFileSync(storePassword, url.password, { mode: 0o600 })
  url.password = ''
  const signingKey = join(dir, 'signing-key.pem')
  const shared = { store: url.href, storePassword, signingKey, maxStaleness: '60s' }
  return {
    admin,
    start: (options = {}) => startGate(t, { ...options, settings: { ...shared, ...options.settings } }),
  }
}
