import { readHeader } from '../../audit/entry.ts'
import { unsignedTail } from '../../audit/unsigned.ts'
import type { Store } from '../../store/store.ts'
import { unsignedChains } from '../evidence/due.ts'

/** Entries of a chain that a running service must have signed, and no checkpoint covers: first <= seq < end. */
export interface UnsignedTail {
  chain: string
  first: number
  end: number
}

const HEADERS_AT_ONCE = 500

export async function unsignedTails(store: Store): Promise<UnsignedTail[]> {
  const tails: UnsignedTail[] = []
  for (const { chain, length } of await unsignedChains(store)) {
    // The heads are read before the checkpoint written with them, since others sign meanwhile.
    const heads = await store.recordedHeads(chain)
    const first = (await store.lastCheckpoint(chain))?.size ?? 0
    const isTakenAway = heads.some(({ size }) => size > first)
    if (isTakenAway || (await isTooLong(store, chain, first))) tails.push({ chain, first, end: length })
  }
  return tails
}

async function isTooLong(store: Store, chain: string, first: number): Promise<boolean> {
  const isTooMany = unsignedTail()
  for (let seq = first; ; seq += HEADERS_AT_ONCE) {
    const texts = await store.headersFrom(chain, seq, HEADERS_AT_ONCE)
    // An unreadable header shows when the chain is signed.
    if (texts.map(readHeader).some((header) => header !== undefined && isTooMany(header))) return true
    if (texts.length < HEADERS_AT_ONCE) return false
  }
}

export function tailLine({ chain, first, end }: UnsignedTail): string {
  return `UNSIGNED: audit chain ${chain} has ${end} entries, and those from ${first} on have no checkpoint, though a service must have signed them`
}
