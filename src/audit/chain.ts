import { digestOf } from '../base/digest.ts'
import { ENVIRONMENTS, type Environment } from '../base/environment.ts'

/** Label of the bytes that a genesis hashes; docs/format.md is the specification. */
const GENESIS_LABEL = 'gate-sidecar/genesis/v1\n'

/** The chain of the service itself: tenants, admin keys, L4 stops. */
export const SYSTEM_CHAIN = '_system'

/** `<tenant>/<live|test>`: live and test never share a chain. */
export function chainOf(tenantId: string, environment: Environment): string {
  return `${tenantId}/${environment}`
}

/** The tenant and environment of a chain. @throws TypeError for the chain of the service itself */
export function ownerOf(chain: string): { tenantId: string; environment: Environment } {
  const [tenantId, name] = chain.split('/')
  const environment = ENVIRONMENTS.find((one) => one === name)
  if (tenantId !== undefined && environment !== undefined) return { tenantId, environment }
  throw new TypeError(`${chain} is not the chain of a tenant`)
}

/** The newest entry of a chain, or the state before the first. */
export interface Head {
  seq: number
  hash: string
  /** Milliseconds; 0 before the first entry. */
  tsMs: number
}

/** The head before the first entry: its hash binds the instance and the chain, so no chain can be moved elsewhere. */
export function genesisHead(origin: string, chain: string): Head {
  return { seq: -1, hash: digestOf(`${GENESIS_LABEL}${origin}\n${chain}\n`), tsMs: 0 }
}
