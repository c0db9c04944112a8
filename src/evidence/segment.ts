import type { Head } from '../audit/chain.ts'
import { commitment, type Entry, hashHeader } from '../audit/entry.ts'
import { entryFault, genesisOr, headOf } from '../audit/verify.ts'
import { decodeBase64 } from '../base/bytes.ts'
import { canonicalJson } from '../base/canonical.ts'
import type { HeaderShape } from './fields.ts'

type Shown = Pick<Entry, 'header' | 'hash'>

/**
 * The check `segment`, entry by entry: entries of one chain, without gaps.
 *
 * @returns the fault of the next entry, as a sentence; undefined when it follows
 */
export function segmentCheck(origin: string, chain: string, first: number): (entry: Shown) => string | undefined {
  let previous: Head | undefined
  return ({ header, hash }) => {
    const entry = { header, hash, headerText: canonicalJson(header), sections: [] }
    const fault = entryFault(chain, previous ?? genesisOr(origin, chain, first, header), entry, { sections: false })
    if (fault !== undefined) return `Entry ${fault.seq}: ${fault.what}.`
    // Entry 0 binds the chain to its place.
    if (header.seq === 0 && header.type !== 'audit.genesis') return `Entry 0 is of the type ${header.type}.`
    previous = headOf(entry)
    return undefined
  }
}

/** True when the entry committed to this content of the section. @param salt in base64 */
export function opens({ commits }: HeaderShape, name: string, salt: string, value: unknown): boolean {
  const bytes = decodeBase64(salt)
  return bytes !== undefined && commitment({ name, salt: bytes, json: canonicalJson(value) }) === commits[name]
}

/** The `entryHash` of a header. */
export function entryHash(header: HeaderShape): string {
  return hashHeader(canonicalJson(header))
}
