import { chainOf, SYSTEM_CHAIN } from '../audit/chain.ts'
import type { Environment } from '../base/environment.ts'
import { isAdmin, type Role } from './roles.ts'

/** A stored key. The secret itself is shown once at creation and never stored. */
export type ApiKey = {
  id: string
  revision: number
  /** SHA-256 of the secret's text. The secret has 256 random bits, so the hash needs no salt. */
  hash: string
  /** null for admin keys, which name a tenant on each request. */
  tenantId: string | null
  environment: Environment
  roles: readonly Role[]
  /** Holder of the key; approvals by keys of one identity count once. */
  identity: string | null
  groups: readonly string[]
  name: string | null
  createdAt: string
  /**
   * `host:<uid>` for the command line, else the id of the creating key. A replacement keeps its predecessor's value.
   */
  createdBy: string
  expiresAt: string | null
  revokedAt: string | null
  /** The first key of the line, of which this key is a later secret. Only replacements have it. */
  rotatedFrom?: string
  /**
   * The key of another line that had this secret made over HTTP, and so knows it as a creator does. Replacements keep
   * it, unless yet another key had them made.
   */
  rotatedBy?: string
  /** The replacement of this key. Only rotated keys have it. */
  replacedBy?: string
}

export function isActive(key: ApiKey, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || nowMs < Date.parse(key.expiresAt))
}

/** The first key of the line: approvals treat a rotated key and its replacements as one key. */
export function lineOf(key: ApiKey): string {
  return key.rotatedFrom ?? key.id
}

/** The principal of this key in approvals: its identity, else its line, which rotation does not change. */
export function principalOf(key: ApiKey): string {
  return key.identity ?? lineOf(key)
}

/** The chain that records changes of a key. */
export function chainOfKey({ roles, tenantId, environment }: ApiKey): string {
  return isAdmin(roles) || tenantId === null ? SYSTEM_CHAIN : chainOf(tenantId, environment)
}
