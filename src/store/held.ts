import type { SealKey } from '../audit/seal.ts'
import { GateError } from '../base/errors.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import type { Memory } from './memory.ts'
import { logKeyInUse } from './records.ts'
import type { SealKeys, Store } from './store.ts'
import type { Submission } from './submission.ts'

type Members = Pick<Store, 'suspend' | 'resume' | 'impose' | 'imposed' | 'state' | 'altered'>

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
    imposed: () => [...imposed.values()],
    state: () => (imposed.size === 0 ? memory : { ...memory, switches: [...memory.switches, ...imposed.values()] }),
    altered: () => [...memory.altered.values()],
  }
  return {
    members,
    memory: () => memory,
    /** Takes in the records of a refresh, with the stops that are durable by now. */
    take(refreshed: Memory): void {
      memory = refreshed
      for (const id of imposed.keys()) if (memory.onDisk.has(id)) imposed.delete(id)
    },
    /** Key of the seals; undefined for a store without them, and when it is not at hand. */
    sealKey: (): SealKey | undefined => sealKeys?.(logKeyInUse(memory.signingKeys.values())?.id),
    /** Key of the seals to be made; undefined for a store without them. @throws GateError when it is not at hand */
    sealKeyInUse(): SealKey | undefined {
      if (sealKeys === undefined) return undefined
      const inUse = logKeyInUse(memory.signingKeys.values())
      const key = sealKeys(inUse?.id)
      if (key === undefined)
        throw new GateError('audit_unavailable', `The log key ${inUse?.id ?? ''} is not available.`)
      return key
    },
    /** Refusal of a commit while they are suspended. */
    refusal: ({ entries }: Submission): GateError | undefined =>
      suspended && new GateError('audit_unavailable', suspended(entries.map(({ chain }) => chain))),
  }
}
