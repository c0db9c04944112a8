import type { RangeVerification } from '../audit/range.ts'
import type { SealKey } from '../audit/seal.ts'
import { GateError } from '../base/errors.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import type { Memory } from './memory.ts'
import type { ChainRequest } from './queries.ts'
import { logKeyInUse, logKeysOf, revokedOf } from './records.ts'
import type { Awaitable } from './steps.ts'
import type { SealKeys, Store } from './store.ts'
import type { Submission } from './submission.ts'
import type { VerifyRequest } from './verify/walk-range.ts'

interface Verifying {
  origin: string
  refresh(): Awaitable<void>
  verify(request: KeyedRequest): Promise<RangeVerification>
}

/** A request with the keys to verify by. */
export type KeyedRequest = Omit<VerifyRequest, 'nowMs'>

type Members = Pick<Store, 'suspend' | 'resume' | 'impose' | 'withdraw' | 'imposed' | 'state' | 'altered'>

/** State that a store holds in this process: the records, the stops that are not durable yet, and whether it writes. */
export function held(initial: Memory, sealKeys: SealKeys | undefined) {
  let memory = initial
  let suspended: ((chains: readonly string[]) => string) | undefined
  const imposed = new Map<string, KillSwitch>()
  const members: Members = {
    suspend(reasonFor) {
      suspended = reasonFor
    },
    resume() {
      suspended = undefined
    },
    impose: (stop) => void imposed.set(stop.id, stop),
    withdraw: (stop) => void imposed.delete(stop.id),
    imposed: () => [...imposed.values()],
    state: () => (imposed.size === 0 ? memory : { ...memory, switches: [...memory.switches, ...imposed.values()] }),
    altered: () => [...memory.altered.values()],
  }
  /** Key of the seals; undefined for a store without them, and when it is not at hand. */
  const sealKey = (): SealKey | undefined => {
    const isAwaited = [...memory.altered.values()].some(({ awaitsKey }) => awaitsKey)
    return isAwaited ? undefined : sealKeys?.(logKeyInUse(memory.signingKeys.values())?.id)
  }
  return {
    members,
    memory: () => memory,
    /** Takes in the records of a refresh, with the stops that are durable by now. */
    take(refreshed: Memory): void {
      memory = refreshed
      for (const id of imposed.keys()) if (memory.onDisk.has(id)) imposed.delete(id)
    },
    sealKey,
    /** Key of the seals to be made; undefined for a store without them. @throws GateError when it is not at hand */
    sealKeyInUse(): SealKey | undefined {
      if (sealKeys === undefined) return undefined
      const rotation = [...memory.altered.values()].find(({ isRotation }) => isRotation)
      if (rotation !== undefined) throw new GateError('audit_unavailable', rotation.message)
      const inUse = logKeyInUse(memory.signingKeys.values())
      const key = sealKeys(inUse?.id)
      if (key === undefined)
        throw new GateError('audit_unavailable', `The log key ${inUse?.id ?? ''} is not available.`)
      return key
    },
    /** Verifies a chain by the keys of now; again after a fault, if keys changed meanwhile: the log key may be another. */
    async verified(request: ChainRequest, { origin, refresh, verify }: Verifying): Promise<RangeVerification> {
      for (;;) {
        const { signingKeys } = memory
        const keys = [...signingKeys.values()]
        const { logKeys = logKeysOf(origin, keys), revoked = revokedOf(keys) } = request
        const seals = sealKey()
        const result = await verify({ ...request, logKeys, revoked, sealKey: seals })
        if (result.valid) return result
        await refresh()
        if (memory.signingKeys === signingKeys && sealKey()?.id === seals?.id) return result
      }
    },
    /** Refusal of a commit while they are suspended. */
    refusal: ({ entries }: Submission): GateError | undefined =>
      suspended && new GateError('audit_unavailable', suspended(entries.map(({ chain }) => chain))),
  }
}

export type Held = ReturnType<typeof held>
