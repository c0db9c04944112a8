import type { Deps } from '../../actions/deps.ts'
import { type CheckpointDeps, checkpointer } from '../../actions/evidence/checkpoints.ts'
import type { EvidenceDeps } from '../../actions/evidence/evidence.ts'
import { openKeyring } from '../../actions/evidence/signing-keys.ts'
import type { Config } from '../../service/config.ts'
import { signingKeyPath } from '../../service/paths.ts'
import { logKeyFileOf } from '../../service/store.ts'
import { CannotRun } from '../context.ts'

/**
 * The signer in this process. It uses the log key of the service, which only the service creates.
 *
 * @param onFault called for a chain that cannot be signed; without it the command fails
 */
export async function withKeyring(
  deps: Deps,
  config: Config,
  onFault: CheckpointDeps['onFault'] = (_chain, message) => {
    throw new CannotRun(message)
  },
): Promise<EvidenceDeps> {
  const path = signingKeyPath(config)
  const create = (): never => {
    throw new CannotRun(`There is no signing key ${path}; start the service once to create it.`)
  }
  const keyring = await openKeyring(deps, { ...logKeyFileOf(config), create })
  return { ...deps, keyring, checkpoints: checkpointer({ ...deps, keyring, onFault }) }
}
