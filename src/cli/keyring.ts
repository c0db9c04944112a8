import { checkpointer } from '../actions/checkpoints.ts'
import type { Deps } from '../actions/deps.ts'
import type { EvidenceDeps } from '../actions/evidence.ts'
import { openKeyring } from '../actions/signing-keys.ts'
import { type Config, signingKeyPath } from '../config.ts'
import { signingKeyFile } from '../files/signing-key.ts'
import { CannotRun } from './context.ts'

/** What signs in this process, with the log key of the service, which only the service makes. */
export async function withKeyring(deps: Deps, config: Config): Promise<EvidenceDeps> {
  const path = signingKeyPath(config)
  const create = (): never => {
    throw new CannotRun(`There is no signing key ${path}; start the service once to make it.`)
  }
  const keyring = await openKeyring(deps, { ...signingKeyFile(path), create })
  const onFault = (_chain: string, message: string): never => {
    throw new CannotRun(message)
  }
  return { ...deps, keyring, checkpoints: checkpointer({ ...deps, keyring, onFault }) }
}
