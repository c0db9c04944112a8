import { GateError } from '../../base/errors.ts'
import type { SealKeys, Store } from '../../store/store.ts'
import { type Keyring, keyInUse, WrongSigningKey } from './signing-keys.ts'

/**
 * The keys of a process that has the seal key alone: it appends, and others sign.
 *
 * @throws WrongSigningKey when the seal key is not that of the log key in use
 */
export function sealedKeyring(store: Store, sealKeys: SealKeys): Keyring {
  const inUse = keyInUse(store)
  if (inUse === undefined)
    throw new WrongSigningKey(
      'No log key is recorded yet, so nothing can be sealed. Start a sidecar with the log key first.',
    )
  if (sealKeys(inUse.id) === undefined)
    throw new WrongSigningKey(
      `The seal key is not that of the log key in use, ${inUse.id}. Write it anew: gate-sidecar signing-keys export-seal`,
    )
  const refuse = async (): Promise<never> => {
    throw new GateError(
      'forbidden',
      'This sidecar has the seal key alone, and signs nothing. Ask one that has the log key.',
    )
  }
  return { logKey: refuse, bundleKey: refuse }
}
