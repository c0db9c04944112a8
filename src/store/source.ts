import type { Head } from '../audit/chain.ts'
import type { StoredEntry } from '../audit/entry.ts'
import type { Hash, Range } from '../audit/merkle.ts'
import type { Committed } from '../audit/verify.ts'
import type { Prune } from '../evidence/prune.ts'
import type { SeqRange } from './queries.ts'
import type { RecordedHead, RecordKind, RecordRow, Records } from './records.ts'
import type { Awaitable } from './steps.ts'
import type { Placed, StoredCheckpoint, TreeNode } from './submission.ts'

/** Stored seal of a chain. */
export interface SealRow {
  size: number
  /** Id of the log key. */
  key: string
  mac: Uint8Array
}

/** Tally of the entries of one type. */
export interface OfType {
  count: number
  /** Sum of their seqs, modulo `SUMS`. */
  sum: number
}

/** Sums of seqs are taken modulo this number. */
export const SUMS = 2 ** 32

export function tallied({ count, sum }: OfType = { count: 0, sum: 0 }, seq: number): OfType {
  return { count: count + 1, sum: (sum + seq) % SUMS }
}

export interface RowOptions {
  /** False skips the sections of entries, which is three times as fast. */
  sections: boolean
}

/** Stored entry, with the commitments of its sections. */
export interface Row {
  entry: StoredEntry
  committed: readonly Committed[]
  /** Length of the texts of its sections. */
  characters: number
  /** Text of a section; undefined without one. */
  text(name: string): string | undefined
}

/** One table of records. */
interface RecordReads<K extends RecordKind> {
  get(id: string): Awaitable<Records[K] | undefined>
  /** Canonical text by id. */
  bodies(): Awaitable<ReadonlyMap<string, string>>
  /** The row with the next id. */
  after(id: string): Awaitable<RecordRow | undefined>
  count(): Awaitable<number>
  all(): Awaitable<Records[K][]>
  /** Rows written since that version, and those of these ids. */
  rowsSince(version: number, ids: readonly string[]): Awaitable<RecordRow[]>
}

/** Reads of a store by which its records and chains are checked, of one state of it. */
export interface Source {
  instance: { stateVersion(): Awaitable<number> }
  entries: {
    chains(): Awaitable<string[]>
    /** Chains of a trail that have entries: its own, and its lanes. */
    lanes(trail: string): Awaitable<string[]>
    /** @throws GateError naming the entry when it is damaged beyond reading */
    head(chain: string): Awaitable<Head | undefined>
    /** Oldest seq; 0 for a chain without entries. */
    first(chain: string): Awaitable<number>
    length(chain: string): Awaitable<number>
    bySeq(chain: string, seq: number): Awaitable<StoredEntry | undefined>
    withoutSections(chain: string, seq: number): Awaitable<StoredEntry | undefined>
    seqsOfTypes(chain: string, types: readonly string[], range?: SeqRange): Awaitable<number[]>
    seqNotBefore(chain: string, ts: string): Awaitable<number>
    /** Entries of a range that the index of types has, which lacks decisions. */
    typesIndexed(chain: string, range: SeqRange): Awaitable<ReadonlyMap<string, OfType>>
  }
  records: { [K in RecordKind]: RecordReads<K> } & {
    /**
     * Finds the entries that changed a record. Excludes entries of callers, whatever their data looks like.
     *
     * @param chain that of the record; others may name it, and change nothing. Undefined for any
     */
    entriesOf(kind: RecordKind, id: string, chain?: string): Awaitable<Pick<Placed, 'chain' | 'seq'>[]>
  }
  rows: {
    /** Entries first <= seq < end, as they are stored. One damaged beyond reading comes as one with a wrong hash. */
    read(chain: string, range: SeqRange, options?: RowOptions): Awaitable<Iterable<Row>>
    /** Section `data` of an entry that is intact, as far as the entry alone shows. */
    wholeData(chain: string, seq: number): Awaitable<string | undefined>
  }
  pruned: {
    /** First seq of the chain: the entries before it were pruned. */
    size(chain: string): Awaitable<number>
    /** Newest record of a pruning, when its entry is intact; the caller checks whether it is signed. */
    record(chain: string): Awaitable<{ seq: number; prune: Prune } | undefined>
  }
  seals: { get(chain: string): Awaitable<SealRow | undefined> }
  systemHeads: {
    /** The newest head, and the newest before `end`: later ones are unsigned, and anybody may have written them. */
    of(chain: string, end: number): Awaitable<RecordedHead[]>
    /** Newest head of each chain from an entry before `end`, or from a pruned one. */
    before(end: number): Awaitable<Omit<RecordedHead, 'seq'>[]>
  }
  checkpoints: {
    lastSize(chain: string): Awaitable<number>
    /** Checkpoints with first <= size, up to the first one with size >= end. */
    around(chain: string, first: number, end: number): Awaitable<StoredCheckpoint[]>
    /** Stored nodes of the tree whose last entry is one of these. */
    nodesIn(chain: string, range: SeqRange): Awaitable<TreeNode[]>
    /** @throws MissingEntry */
    hashes(chain: string, ranges: readonly Range[]): Awaitable<Hash[]>
  }
  /** Translates errors that show damage, found at `where`; returns other errors unchanged. */
  asUnusable(error: unknown, where: string): unknown
}
