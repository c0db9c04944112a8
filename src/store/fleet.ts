/** Description of a sidecar for the others, told once. */
export interface About {
  /** Name of its host or pod: text of others. */
  name: string
  version: string
  startedMs: number
}

/** Longest name and version of a sidecar that the store takes. */
export const MAX_NAME = 100

/** A sidecar as others see it. Times and life are those of the server's clock. */
export interface Sidecar {
  lane: number
  name: string
  version: string
  startedMs: number
  heardMs: number
  /** False once its lease is over. */
  isLive: boolean
  isSelf: boolean
  /** Digest of the set in force there for the tenant that was asked about; null without one. */
  policyDigest: string | null
}

/** Live sidecars that have this set in force. */
export interface DigestCount {
  digest: string
  sidecars: number
}

/** The sidecars of one store. */
export interface Fleet {
  /** Live ones and those that died within the hour, by lane. @throws GateError `audit_unavailable` */
  sidecars(tenantId: string): Promise<Sidecar[]>
  /**
   * Digests of tenants for which live sidecars have different policies, at most so many.
   *
   * @throws GateError `audit_unavailable`
   */
  divided(limit: number): Promise<DigestCount[]>
  /** Number of live ones as the server said last, at least this one: of those that serve the tenant, or of all. */
  live(tenantId?: string): number
  /** Number of those that sign checkpoints. */
  signers(): number
  /** Tells others, at the next renewal, of the digests in force here by tenant. */
  tell(policies: ReadonlyMap<string, string>): void
}
