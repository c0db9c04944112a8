import { type Head, hashHeader } from '../audit/chain.ts'
import { entryFault, genesisOr, headOf } from '../audit/verify.ts'
import { canonicalJson } from '../base/canonical.ts'
import type { HeaderShape } from './fields.ts'

/** Entry 0 of every chain, which binds the chain to its place. */
const GENESIS_TYPE = 'audit.genesis'

/** An entry as evidence shows it. */
export interface ShownEntry {
  header: HeaderShape
  hash: string
}

/**
 * The check `segment`, entry by entry: entries of one chain, without gaps.
 *
 * @returns the fault of the next entry, as a sentence; undefined when it follows
 */
export function segmentCheck(origin: string, chain: string, first: number): (entry: ShownEntry) => string | undefined {
  let previous: Head | undefined
  return ({ header, hash }) => {
    const entry = { header, hash, headerText: canonicalJson(header), sections: [] }
    const fault = entryFault(chain, previous ?? genesisOr(origin, chain, first, header), entry, { sections: false })
    if (fault !== undefined) return `Entry ${fault.seq}: ${fault.what}.`
    if (header.seq === 0 && header.type !== GENESIS_TYPE) return `Entry 0 is of the type ${header.type}.`
    previous = headOf(entry)
    return undefined
  }
}

/** The `entryHash` of a header. */
export function entryHash(header: HeaderShape): string {
  return hashHeader(canonicalJson(header))
}
