import { join } from 'node:path'
import type { Deps } from '../../src/actions/deps.ts'
import { type Checkpointer, checkpointer } from '../../src/actions/evidence/checkpoints.ts'
import type { EvidenceDeps } from '../../src/actions/evidence/evidence.ts'
import { openKeyring } from '../../src/actions/evidence/signing-keys.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Clock } from '../../src/base/time.ts'
import { sealKeysAt, signingKeyFile } from '../../src/files/signing-key.ts'
import { randomPool } from '../../src/store/random-pool.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import type { StartCheck } from '../../src/store/verify/startup.ts'
import { START_MS } from './drafts.ts'

/** A store on a data folder, with the log key in it, and what signs. */
export async function openTrail(
  dir: string,
  clock: Clock = () => START_MS,
  check: StartCheck = 'all',
): Promise<EvidenceDeps & { close(): Promise<void> }> {
  const keyFile = join(dir, 'signing-key.pem')
  const store = openStore({ dir, create: true, clock, check, sealKeys: sealKeysAt(keyFile) })
  const deps: Deps = { store, clock, newId: idMaker(clock, randomPool()) }
  const keyring = await openKeyring(deps, signingKeyFile(keyFile))
  const checkpoints: Checkpointer = checkpointer({ ...deps, keyring, onFault: () => undefined })
  return { ...deps, keyring, checkpoints, close: () => store.close() }
}
