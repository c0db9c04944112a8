import type { RangeInputs } from '../actions/audit/verify-range.ts'
import type { Deps } from '../actions/deps.ts'
import { type Checkpointer, checkpointer } from '../actions/evidence/checkpoints.ts'
import { type Keyring, openKeyring } from '../actions/evidence/signing-keys.ts'
import { GateError } from '../base/errors.ts'
import { signingKeyFile } from '../files/signing-key.ts'
import { type Anchors, keepAnchors } from './anchors.ts'
import { type Config, signingKeyPath } from './config.ts'
import type { Logger } from './log.ts'
import type { Tasks } from './repeat.ts'
import { keepSweeping, type Sweeping } from './sweep.ts'

/** Between two looks at whether a checkpoint is due. */
const POLL_MS = 500

export interface Trail {
  keyring: Keyring
  checkpoints: Checkpointer
  anchors: Anchors
  sweeping: Sweeping
  /** What lies elsewhere of the chains, for who verifies them. */
  readAnchors(): Promise<RangeInputs>
  /** False while the trail contradicts its anchors: nothing is written then. */
  isWriting(): boolean
  /** Signs what is not signed yet, and has it anchored. */
  close(): Promise<void>
}

/**
 * What keeps the audit trail provable: signs checkpoints as it grows, and puts them where they cannot be taken back.
 *
 * @throws WrongSigningKey, UnusableKey, UnusableSecret, ConfigError when it must not start on what it finds
 */
export async function keepTrail(deps: Deps, options: { config: Config; log: Logger; tasks: Tasks }): Promise<Trail> {
  const { config, log, tasks } = options
  const keyring = await openKeyring(deps, signingKeyFile(signingKeyPath(config)))
  const anchors = await keepAnchors(deps, options)
  const checkpoints = checkpointer({
    ...deps,
    keyring,
    onFault: (chain, fault) => log.error({ chain, fault }, 'the audit trail was altered'),
  })
  const isWriting = (): boolean => anchors.fault() === null
  tasks.every('sign checkpoints', POLL_MS, async () => {
    if (isWriting()) await checkpoints.tend()
  })
  const readAnchors = async (): Promise<RangeInputs> => {
    try {
      return { anchors: await anchors.heads() }
    } catch (cause) {
      throw new GateError('audit_unavailable', 'The anchors cannot be read, which the trail is held to.', { cause })
    }
  }
  const sweeping = keepSweeping(deps, readAnchors, { ...options, isWriting })
  return {
    keyring,
    checkpoints,
    anchors,
    sweeping,
    readAnchors,
    isWriting,
    async close() {
      if (!isWriting()) return
      try {
        await checkpoints.signAll()
      } catch (error) {
        log.error({ cause: String(error) }, 'the newest entries could not be signed; the next start signs them')
      }
      await anchors.close()
    },
  }
}
