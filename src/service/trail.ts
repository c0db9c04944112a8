import type { RangeInputs } from '../actions/audit/verify-range.ts'
import type { Deps } from '../actions/deps.ts'
import { type Checkpointer, checkpointer } from '../actions/evidence/checkpoints.ts'
import { sealedKeyring } from '../actions/evidence/sealed-keyring.ts'
import { type Keyring, openKeyring } from '../actions/evidence/signing-keys.ts'
import { GateError } from '../base/errors.ts'
import { type Anchors, keepAnchors } from './anchors.ts'
import type { Background } from './repeat.ts'
import { logKeyFileOf, sealKeysOf } from './store.ts'

/** Interval of the check whether a checkpoint is due. */
const POLL_INTERVAL_MS = 500

export interface Trail {
  keyring: Keyring
  checkpoints: Checkpointer
  anchors: Anchors
  /** Anchors of the chains, kept elsewhere, for verification. */
  readAnchors(): Promise<RangeInputs>
  /** False while the trail contradicts its anchors: nothing is written then. */
  isWriting(): boolean
  /** Signs and anchors the entries that are not signed yet. */
  close(): Promise<void>
}

/**
 * Keeps the audit trail provable: signs checkpoints as it grows, and anchors them where nobody can take them back.
 *
 * @throws WrongSigningKey, UnusableKey, UnusableSecret, ConfigError when the files forbid a start
 */
export async function keepTrail(deps: Deps, background: Background): Promise<Trail> {
  const { config, log, tasks } = background
  const keyring =
    config.sealKey === null
      ? await openKeyring(deps, logKeyFileOf(config))
      : sealedKeyring(deps.store, sealKeysOf(config))
  const anchors = await keepAnchors(deps, background)
  const checkpoints = checkpointer({
    ...deps,
    keyring,
    onFault: (chain, fault) => log.error({ chain, fault }, 'the audit trail was altered'),
  })
  const isWriting = (): boolean => anchors.fault() === null
  let told: ReadonlySet<string> = new Set()
  tasks.every('compare the ends of chains', POLL_INTERVAL_MS, async () => {
    await deps.store.compareChains()
    const altered = deps.store.alteredChains()
    for (const [chain, fault] of altered)
      if (!told.has(chain)) log.error({ chain, fault }, 'the audit trail was altered')
    told = new Set(altered.keys())
  })
  tasks.every('sign checkpoints', POLL_INTERVAL_MS, async () => {
    if (isWriting()) await checkpoints.tend()
  })
  const readAnchors = async (): Promise<RangeInputs> => {
    try {
      return { anchors: await anchors.heads() }
    } catch (cause) {
      throw new GateError('audit_unavailable', 'The anchors that the trail must match cannot be read.', { cause })
    }
  }
  return {
    keyring,
    checkpoints,
    anchors,
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
