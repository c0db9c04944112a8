import type { Checkpoint } from '../audit/checkpoint.ts'
import { isIncluded, leafHash } from '../audit/merkle.ts'
import { decodeBase64 } from '../base/bytes.ts'
import { parseDigest } from '../base/digest.ts'
import type { ProvenEntry } from './bundle.ts'
import type { HeaderShape } from './fields.ts'
import { entryHash, opens } from './segment.ts'

/** The fault in the inclusion: the entry's leaf must lead to the root of the checkpoint. */
export function inclusionFault(
  header: HeaderShape,
  inclusion: readonly string[],
  checkpoint: Checkpoint,
): string | undefined {
  const proof = inclusion.flatMap((hash) => decodeBase64(hash) ?? [])
  const leaf = leafHash(parseDigest(entryHash(header)))
  const isProven = proof.length === inclusion.length && isIncluded(leaf, header.seq, checkpoint, proof)
  return isProven ? undefined : `Entry ${header.seq} is not shown to be in the tree of the checkpoint.`
}

/** The fault in an entry that is shown with its data and its own place in the tree. */
export function provenFault(
  { header, data, salt, inclusion }: ProvenEntry,
  checkpoint: Checkpoint,
): string | undefined {
  const fault = inclusionFault(header, inclusion, checkpoint)
  if (fault !== undefined) return fault
  return opens(header, 'data', salt, data) ? undefined : `Entry ${header.seq} did not commit to what is shown of it.`
}
