import type { Checkpointer } from '../actions/evidence/checkpoints.ts'
import { counted } from '../base/counted.ts'
import type { Services, Unready } from '../http/services.ts'
import type { Store } from '../store/store.ts'
import type { Verification } from './verification.ts'
import type { Writing } from './writing.ts'

export interface Judged extends Pick<Services, 'store' | 'policies' | 'anchors' | 'stopping'> {
  checkpoints: Pick<Checkpointer, 'faults'>
  verification: Verification
  writing: Pick<Writing, 'failingSince'>
}

/** Chains whose newest verification failed, that are signed no more, or whose end is not what was written. */
export function faultyChains({
  checkpoints,
  verification,
  store,
}: Pick<Judged, 'checkpoints' | 'verification' | 'store'>): Set<string> {
  return new Set([...checkpoints.faults(), ...verification.faults(), ...store.alteredChains()].map(([chain]) => chain))
}

/** Number of records that were altered in the store: not those of a rotation whose key is awaited. */
export function alteredRecords(store: Pick<Store, 'altered'>): number {
  return store.altered().filter(({ awaitsKey }) => !awaitsKey).length
}

/** Reasons why requests should go elsewhere; empty while the service is ready. None names a tenant. */
export function reasonsOf(judged: Judged): Unready[] {
  const { store, policies, anchors, stopping, writing } = judged
  const fault = anchors.fault()
  const failingSince = writing.failingSince()
  const chains = faultyChains(judged).size
  const rotation = store.altered().find(({ awaitsKey }) => awaitsKey)
  const rows = alteredRecords(store)
  const withoutPolicy = policies.faults().filter(({ tenantId }) => policies.get(tenantId) === undefined).length
  const reasons: [reason: Unready['reason'], message: string | false][] = [
    ['stopping', stopping.aborted && 'The service is stopping.'],
    ['anchors', fault ?? false],
    ['stops', store.imposed().length > 0 && 'A kill switch is in force but not in the store yet.'],
    [
      'writes',
      failingSince !== null && `The store cannot be written since ${failingSince}; the service retries each second.`,
    ],
    ['stale', store.isStale() && 'The store has not answered for longer than maxStaleness; nothing is decided.'],
    ['chains', chains > 0 && `${counted(chains, 'altered audit chain')}; see \`gate-sidecar audit verify\`.`],
    ['logKey', rotation?.message ?? false],
    ['rows', rows > 0 && `${counted(rows, 'stored record')} not matching the audit chains; see the log.`],
    [
      'policies',
      withoutPolicy > 0 && `${counted(withoutPolicy, 'policy set')} with faults, and no earlier version in force.`,
    ],
  ]
  return reasons.flatMap(([reason, message]) => (message === false ? [] : { reason, message }))
}
