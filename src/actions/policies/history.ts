import type { PolicySource } from '../../authoring/load/files.ts'
import { boundedCache } from '../../base/bounded-cache.ts'
import { limitConcurrency } from '../../base/concurrency.ts'
import { GateError } from '../../base/errors.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { PoliciesInForce } from '../deps.ts'
import { type StoredDeps, storedSource } from './stored.ts'

/** Reasons why a recorded decision cannot be explained. */
export const UNEXPLAINED = {
  redacted: 'the request, or an earlier one that it counted, has been erased or pruned',
  policy_not_kept: 'the policies that decided are not kept: the newest 100 sets of a tenant are, up to 64 MiB',
  policy_altered: 'the stored policies do not match the audit chain',
  policy_unloadable: 'the policies that decided cannot be loaded',
} as const

export interface Unexplained {
  code: keyof typeof UNEXPLAINED
  message: string
}

/** The policies of one digest, or the reason why they are not available. */
type FoundSet = { set: PolicySet } | Unexplained

/** Finds policies that were once in force. */
export type FindSet = (tenantId: string, digest: string) => Promise<FoundSet>

export interface StoredSet {
  set: PolicySet
  source: PolicySource
}
export type FindStored = (tenantId: string, digest: string) => Promise<StoredSet | Unexplained>

/** Limit of cached sets: people look at several decisions of one. */
const READY_SETS = 2
/** Limit of sets waiting to be compiled, each of which takes up to ten seconds of processor time. */
const MAX_WAITING = 8

export function policyHistory(findStored: FindStored, inForce: PoliciesInForce): FindSet {
  return async (tenantId, digest) => {
    const set = inForce.get(tenantId)
    return set?.digest === digest ? { set } : findStored(tenantId, digest)
  }
}

/** Finds stored policies, which are compiled one after the other. */
export function storedSets(deps: StoredDeps): FindStored {
  const ready = boundedCache<StoredSet>(READY_SETS)
  const loading = new Map<string, ReturnType<FindStored>>()
  const serial = limitConcurrency(1)
  return async (tenantId, digest) => {
    const name = `${tenantId} ${digest}`
    const known = ready.get(name) ?? loading.get(name)
    if (known !== undefined) return known
    if (loading.size >= MAX_WAITING)
      throw new GateError('overloaded', 'Too many earlier policies are being looked up; try again.')
    const load = async (): ReturnType<FindStored> => {
      const found = await storedSet(deps, tenantId, digest)
      if ('set' in found) ready.put(name, found)
      return found
    }
    const found = serial(load).finally(() => loading.delete(name))
    loading.set(name, found)
    return found
  }
}

/** The set that the stored texts compile to, if it has the digest: the file may have been edited. */
export async function storedSet(deps: StoredDeps, tenantId: string, digest: string): Promise<StoredSet | Unexplained> {
  const found = await storedSource(deps, tenantId, digest)
  return found.set === undefined ? unexplained(found.code, digest, found.faults[0]) : found
}

export function unexplained(code: Unexplained['code'], digest: string | null, detail?: string): Unexplained {
  const of = digest === null ? '' : ` (${digest})`
  const more = detail === undefined ? '' : `: ${detail}`
  return { code, message: `It cannot be explained: ${UNEXPLAINED[code]}${of}${more}${more.endsWith('.') ? '' : '.'}` }
}
