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

/** Separates a lane's number from its trail's name. */
const LANE_SIGN = '~'

/** `<trail>~<number>`: the chain of a trail to which one sidecar of a fleet appends. */
export function laneOf(trail: string, number: number): string {
  return `${trail}${LANE_SIGN}${number}`
}

/** The texts between which the names of a trail's lanes sort, byte by byte. */
export function laneNames(trail: string): [after: string, before: string] {
  return [`${trail}${LANE_SIGN}`, `${trail}${LANE_SIGN}:`]
}

/** Name of the trail of a chain, and the texts between which the names of its lanes sort. */
export function trailNames(chain: string): [trail: string, after: string, before: string] {
  const trail = trailOf(chain)
  return [trail, ...laneNames(trail)]
}

export function isLane(chain: string): boolean {
  return chain.includes(LANE_SIGN)
}

/** The trail of a chain: the chain itself, or the one that it is a lane of. */
export function trailOf(chain: string): string {
  return chain.split(LANE_SIGN, 1)[0] ?? chain
}

/**
 * The order in which the entries of a trail are listed: by time, and within a chain by seq. Between two lanes it is as
 * exact as the clock; what counts between them has places that no clock decides.
 */
export function inTrailOrder(a: TrailPlace, b: TrailPlace): number {
  if (a.ts !== b.ts) return a.ts < b.ts ? -1 : 1
  return laneNumber(a.chain) - laneNumber(b.chain) || a.seq - b.seq
}

/** Place of an entry among those of its trail. */
export interface TrailPlace {
  chain: string
  seq: number
  ts: string
}

/** 0 for the trail's own chain. */
export function laneNumber(chain: string): number {
  return Number(chain.split(LANE_SIGN)[1] ?? 0)
}

/** The tenant and environment of a chain. @throws TypeError for the chain of the service itself */
export function ownerOf(chain: string): { tenantId: string; environment: Environment } {
  const [tenantId, name] = trailOf(chain).split('/')
  const environment = ENVIRONMENTS.find((one) => one === name)
  if (tenantId !== undefined && environment !== undefined) return { tenantId, environment }
  throw new TypeError(`${chain} is not the chain of a tenant`)
}

/** The tenant of a chain; empty for the chain of the service itself. */
export function tenantOf(chain: string): string {
  return chain === SYSTEM_CHAIN ? '' : ownerOf(chain).tenantId
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
