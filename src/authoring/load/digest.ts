import { canonicalJson } from '../../base/canonical.ts'
import { digestOf } from '../../base/digest.ts'
import type { Json } from '../../base/json.ts'

/**
 * The digest of a set: SHA-256 over the canonical JSON of its parsed documents, in file-name order,
 * and the values of its list files by path. White space, comments, quotes and key order do not count.
 */
export function setDigest(documents: readonly Json[], listFiles: ReadonlyMap<string, readonly Json[]>): string {
  const lists = Object.create(null)
  for (const [file, values] of listFiles) lists[file] = values
  return digestOf(canonicalJson({ documents, lists }))
}
