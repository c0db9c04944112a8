import type { Approval } from '../approvals/approval.ts'
import { chainOf, SYSTEM_CHAIN } from '../audit/chain.ts'
import { type StoredEntry, sectionValue } from '../audit/entry.ts'
import { isJsonObject, type Json, storedJson } from '../base/json.ts'
import type { Certificate, LogKey, Rotation } from '../evidence/trust.ts'
import { type ApiKey, chainOfKey } from '../keys/apikey.ts'
import type { Tenant } from '../keys/tenant.ts'
import { GLOBAL, type KillSwitch } from '../killswitch/killswitch.ts'
import { AlteredFile } from './errors.ts'

/** Public half of a key that the service signs with: the log key signs checkpoints and certifies bundle keys. */
export type SigningKey = {
  /** Digest of the 32 bytes of the key. */
  id: string
  revision: number
  purpose: 'log' | 'bundle'
  algorithm: 'ed25519'
  /** Base64 of 32 bytes. */
  publicKey: string
  createdAt: string
  /** Time from which a successor is used; for a bundle key, the end of its certificate. Null for the log key in use. */
  retiredAt: string | null
  /** Time from which somebody else may hold the private key. */
  revokedAt: string | null
  /** Null for a log key. */
  certificate: Certificate | null
  /** Null for all but a log key that followed another. */
  rotation: Rotation | null
}

/** True for the log key with which checkpoints are signed now. */
export function isInUse({ purpose, retiredAt }: SigningKey): boolean {
  return purpose === 'log' && retiredAt === null
}

export function logKeyInUse(keys: Iterable<SigningKey>): SigningKey | undefined {
  return [...keys].find(isInUse)
}

/** Selects the log keys, in the form in which evidence is verified. */
export function logKeysOf(origin: string, keys: Iterable<SigningKey>): LogKey[] {
  return [...keys]
    .filter(({ purpose }) => purpose === 'log')
    .map(({ publicKey, retiredAt }) => ({ name: origin, publicKey, until: retiredAt }))
}

/** Public keys that were revoked: somebody else may hold them. */
export function revokedOf(keys: Iterable<SigningKey>): Set<string> {
  return new Set(Array.from(keys).flatMap(({ publicKey, revokedAt }) => (revokedAt === null ? [] : [publicKey])))
}

/** Policy set of a tenant that was last in force. */
export type PolicyRecord = {
  /** Id of the tenant. */
  id: string
  revision: number
  digest: string
  loadedAt: string
}

/** Head of a chain that `_system` recorded when the chain was signed. */
export interface RecordedHead {
  /** Seq of the recording entry. */
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

/** The one chain that has the changes of a record: entries of other chains that name it change nothing. */
export function chainOfRecord({ kind, record }: RecordWrite): string {
  switch (kind) {
    case 'tenant':
    case 'signingKey':
      return SYSTEM_CHAIN
    case 'policy':
      return chainOf(record.id, 'live')
    case 'key':
      return chainOfKey(record)
    case 'switch':
      return chainOfStop(record)
    case 'approval':
      return record.chain
  }
}

export function chainOfStop({ target }: Pick<KillSwitch, 'target'>): string {
  return target === GLOBAL ? SYSTEM_CHAIN : target
}

/** Stored row of a record. */
export interface RecordRow {
  id: string
  body: string
}

/** @throws AlteredFile for a record that this program cannot have written; only the chain shows whether it is right */
export function recordOf<K extends RecordKind>(kind: K, { id, body }: RecordRow): Records[K] {
  const record = storedJson(body)
  if (!isJsonObject(record) || record.id !== id)
    throw new AlteredFile(
      `The stored ${kind} ${id} is not a record of that id. The store was altered outside gate-sidecar.`,
    )
  return record as Records[RecordKind] as Records[K]
}

/** Members of an entry's `data` that change a record, beside any others. */
export type ChangeData = {
  record: RecordKind
  id: string
  /** All members at creation, changed ones later; `revision` always. */
  changes: { [member: string]: Json }
}

/** Change that a state event recorded; undefined when it was erased. */
export function changeIn(entry: Pick<StoredEntry, 'sections'>): ChangeData | undefined {
  // The section holds the committed text, which was written as a change.
  return sectionValue(entry, 'data') as unknown as ChangeData | undefined
}

export interface Change<K extends RecordKind> {
  /** Record after the change. */
  record: Records[K]
  write: RecordWrite
  data: ChangeData
}

export function creation<K extends RecordKind>(kind: K, record: Records[K]): Change<K> {
  return changeOf(kind, record, record)
}

/** Applies `changes` to the record as its next revision. */
export function change<K extends RecordKind>(kind: K, record: Records[K], changes: Partial<Records[K]>): Change<K> {
  const revised = { ...changes, revision: record.revision + 1 }
  return changeOf(kind, { ...record, ...revised }, revised)
}

/** Merges one more entry into the record, if any. This merge, in chain order, defines the state. */
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
