import { type Cleanup, type Gate, type GateOptions, startGate } from '../helpers.ts'
import { postgresDatabase } from '../postgres.ts'
import { settingsFor } from '../store/roles.ts'

/** Services of this process on one database, which share the log key and nothing else. */
export interface Services {
  /** Address of the database for its administrator. */
  admin: string
  start(options?: GateOptions): Promise<Gate>
}

export async function services(t: Cleanup): Promise<Services> {
  const admin = await postgresDatabase(t)
  const shared = settingsFor(admin)
  return {
    admin,
    start: (options = {}) => startGate(t, { ...options, settings: { ...shared, ...options.settings } }),
  }
}
