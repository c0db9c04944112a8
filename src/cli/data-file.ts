import { randomBytes } from 'node:crypto'
import type { Deps } from '../actions/deps.ts'
import { idMaker } from '../base/id.ts'
import type { Config } from '../service/config.ts'
import type { StartCheck, Unsealed } from '../store/verify/startup.ts'
import { CannotRun, type CommonOptions, configOf } from './context.ts'
import { conversionProgress } from './progress.ts'

interface Opening {
  /** Creates the file if it is missing. */
  create?: boolean
  check?: StartCheck
  unsealed?: Unsealed
}

/**
 * Runs `work` on the data file in this process, possibly beside a running server.
 * Checking many approvals takes long; a command that uses none, above all a stop, does not wait for it.
 *
 * @param opening.create create the file if it is missing
 */
export async function withStore<T>(
  options: CommonOptions,
  work: (deps: Deps, config: Config) => Promise<T>,
  { create = false, check = 'allButApprovals', unsealed }: Opening = {},
): Promise<T> {
  const config = configOf(options)
  const clock = Date.now
  const newId = idMaker(clock, randomBytes)
  // Commands without a store do not load its engine.
  const { openConfigured, sealKeysOf } = await import('../service/store.ts')
  const sealKeys = sealKeysOf(config)
  const store = await openConfigured(config, {
    create,
    clock,
    sealKeys,
    check,
    unsealed,
    onConvert: conversionProgress(options.io),
  })
  try {
    return await work({ store, clock, newId }, config)
  } finally {
    await store.close()
  }
}

/** A misspelt tenant must not pass for one without keys, nor be stopped instead of the intended one. */
export function assertTenant({ store }: Deps, id: string): void {
  const { tenants } = store.state()
  if (tenants.has(id)) return
  const known = [...tenants.keys()].sort().join(', ') || 'none yet'
  throw new CannotRun(`There is no tenant ${id}; there are: ${known}. Create one with \`gate-sidecar tenants create\`.`)
}
