import type { Head } from '../audit/chain.ts'
import type { SealKey } from '../audit/seal.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import type { Memory } from './memory.ts'
import type { Tables } from './tables.ts'

/** A counter that the transaction holds. */
export interface HeldCounter {
  floorMs: number
  /** Only a decision with this reservation may use it; null for any. */
  reservation: string | null
  /** True once a decision of this group is counted by it, or has read it. */
  isUsed: boolean
}

/** State that a group of submissions sees and changes, until its COMMIT or ROLLBACK. */
export interface Group {
  /** Name of the instance. */
  origin: string
  /** Fresh random bytes. */
  random(bytes: number): Uint8Array
  tables: Tables
  memory: Memory
  imposed: readonly KillSwitch[]
  /** Newest entry of each chain that the group touched. */
  heads: Map<string, Head>
  /** Key of the seals; undefined for a store without them. */
  seal: SealKey | undefined
  /** Newest entries that this process has written before, of the chains of the group. */
  known: ReadonlyMap<string, Head>
  /** Counters that the transaction holds; undefined for a file, whose group is the only one. */
  counters?: ReadonlyMap<string, HeldCounter> | undefined
  /** Time by which a chain may be ahead of the clock without an entry about it. */
  slackMs: number
  /** Chains whose newest entry is ahead of the clock, where an entry records that, with the clock when it was seen last. */
  regressed: Map<string, number>
  nowMs: number
}
