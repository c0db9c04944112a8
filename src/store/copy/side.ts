import type { EntryRow } from '../entry-row.ts'
import type { Fence } from '../fence.ts'
import type { Awaitable } from '../steps.ts'
import type { SealKeys } from '../store.ts'
import type { Tables } from '../tables.ts'
import type { CopiedRow, CopiedTable } from './copied-tables.ts'

/** Result of a statement that gives nothing. */
type Done = Awaitable<unknown>

/** A chain and its ends, in a form that both engines give alike. */
export interface ChainEnds {
  name: string
  /** Seq of the oldest entry. */
  first: number
  length: number
  /** Digits of the hash of the newest entry; null for a chain without entries. */
  hash: string | null
  /** The entries before this one were pruned. */
  pruned: number
  /** The digits of its bytes last. */
  seal: readonly [size: number, key: string, mac: string] | null
}

/** A row of audit_entry with its seq in place of `at`, and with the texts themselves in place of numbers. */
export type CopiedEntry = EntryRow

export interface Instance {
  origin: string
  /** Version of the records. */
  version: number
}

/** One side of a copy: a store that nobody else appends to while it is open. */
export interface Side {
  /** Folder, or URL without a password. */
  name: string
  /** Reads by which it is verified. */
  tables: Tables
  fence(): Awaitable<Fence | undefined>
  /** Undefined for a store without anything in it. */
  instance(): Awaitable<Instance | undefined>
  /** Chains with entries, or with what is left of them, in the order of their names. */
  ends(): Awaitable<ChainEnds[]>
  /** The ends as any other process sees them at this moment. */
  endsNow(): Awaitable<ChainEnds[]>
  /** Entries from this seq on. @throws AlteredFile for one that has lost a text or its references */
  entries(chain: string, seq: number, limit: number): Awaitable<CopiedEntry[]>
  rows(table: CopiedTable, after: CopiedRow | undefined, limit: number): Awaitable<CopiedRow[]>
  /** Requires records, heads and seals to follow from the chains, as a start does. @throws AlteredFile */
  assertFollows(origin: string, sealKeys: SealKeys | undefined): Done
  /** Marks a store without anything as a copy. */
  begin(instance: Instance, fence: Fence): Done
  append(chain: string, entries: readonly CopiedEntry[]): Done
  /** Removes what an earlier run has put into a table. */
  clear(table: CopiedTable): Done
  put(table: CopiedTable, rows: readonly CopiedRow[]): Done
  putEnds(instance: Instance, ends: readonly ChainEnds[]): Done
  /** Takes the mark from a finished copy. */
  finish(): Done
  /** Marks the store as one that was moved, so that nothing opens it. */
  retire(fence: Fence): Done
  close(): Done
}

/** Tells of long work: what, and how much of it. */
export type Watch = (what: string, total: number) => { at(done: number): void; end(): void }
