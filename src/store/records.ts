import type { Approval } from '../approvals/approval.ts'
import { type StoredEntry, sectionValue } from '../audit/chain.ts'
import type { Json } from '../base/json.ts'
import type { Certificate, LogKey, Rotation } from '../evidence/trust.ts'
import type { ApiKey } from '../keys/apikey.ts'
import type { Tenant } from '../keys/tenant.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'

/** The public half of a key that the service signs with: the log key signs checkpoints and certifies bundle keys. */
export type SigningKey = {
  /** The digest of its 32 bytes. */
  id: string
  revision: number
  purpose: 'log' | 'bundle'
  algorithm: 'ed25519'
  /** Base64 of 32 bytes. */
  publicKey: string
  createdAt: string
  /** From then on a successor is used; of a bundle key, the end of its certificate. Null for the log key in use. */
  retiredAt: string | null
  /** From then on somebody else may hold it. */
  revokedAt: string | null
  /** Of a bundle key. */
  certificate: Certificate | null
  /** Of a log key that followed another. */
  rotation: Rotation | null
}

/** True for the log key with which checkpoints are signed now. */
export function isInUse({ purpose, retiredAt }: SigningKey): boolean {
  return purpose === 'log' && retiredAt === null
}

/** The log keys among them, as whoever verifies holds evidence to them. */
export function logKeysOf(origin: string, keys: Iterable<SigningKey>): LogKey[] {
  return [...keys]
    .filter(({ purpose }) => purpose === 'log')
    .map(({ publicKey, retiredAt }) => ({ name: origin, publicKey, until: retiredAt }))
}

/** The policy set of a tenant that was last in force. */
export type PolicyRecord = {
  /** The tenant. */
  id: string
  revision: number
  digest: string
  loadedAt: string
}

/** What `_system` recorded of a chain when it was signed. */
export interface RecordedHead {
  /** Of the entry that says so. */
  seq: number
  chain: string
  size: number
  /** `sha256:` form. */
  root: string
}

/** State that follows from the chain: each kind of record, by name. */
export type Records = {
  tenant: Tenant
  key: ApiKey
  signingKey: SigningKey
  policy: PolicyRecord
  switch: KillSwitch
  approval: Approval
}
export type RecordKind = keyof Records

export type RecordWrite = { [K in RecordKind]: { kind: K; record: Records[K] } }[RecordKind]

/** What an entry that changes a record holds in `data`, beside whatever else it tells. */
export type ChangeData = {
  record: RecordKind
  id: string
  /** All members at creation, the changed ones after; `revision` always. */
  changes: { [member: string]: Json }
}

/** What an entry of a state event recorded; undefined where that has been erased. */
export function changeIn(entry: Pick<StoredEntry, 'sections'>): ChangeData | undefined {
  // The section has the committed text, which was written as a change.
  return sectionValue(entry, 'data') as unknown as ChangeData | undefined
}

export interface Change<K extends RecordKind> {
  /** The record as it will be. */
  record: Records[K]
  write: RecordWrite
  data: ChangeData
}

export function creation<K extends RecordKind>(kind: K, record: Records[K]): Change<K> {
  return changeOf(kind, record, record)
}

/** `changes` over the record, one revision on. */
export function change<K extends RecordKind>(kind: K, record: Records[K], changes: Partial<Records[K]>): Change<K> {
  const revised = { ...changes, revision: record.revision + 1 }
  return changeOf(kind, { ...record, ...revised }, revised)
}

/** The record after one more entry, and before any: this merge, in chain order, is what state means. */
export function applyChange(
  record: { [member: string]: Json } | undefined,
  data: ChangeData,
): { [member: string]: Json } {
  return { ...record, ...data.changes }
}

function changeOf<K extends RecordKind>(kind: K, record: Records[K], changes: object): Change<K> {
  return {
    record,
    // Kind and record correspond, which a union of pairs cannot express for a type parameter.
    write: { kind, record } as RecordWrite,
    data: { record: kind, id: record.id, changes: changes as ChangeData['changes'] },
  }
}
