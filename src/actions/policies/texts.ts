import type { QuotedDiagnostic } from '../../authoring/diagnostics/quote.ts'
import { isPolicyFile, type PolicySource } from '../../authoring/load/files.ts'
import { decodeText } from '../../authoring/yaml/encoding.ts'
import type { PolicySet } from '../../policies/set.ts'
import { PAGE_BYTES } from '../page.ts'

/** The sources of a set, without its tests. */
export type Texts = Pick<PolicySource, 'files' | 'lists'>

export function textsIn({ files, lists }: PolicySource): Texts {
  return {
    files: files.filter(({ name }) => isPolicyFile(name)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    lists,
  }
}

interface InForce {
  readonly set: PolicySet | undefined
  readonly texts: Texts | undefined
  readonly diagnostics: readonly QuotedDiagnostic[]
}

/**
 * The sources of the set in force, as far as one answer shows them, the sizes of list files, and the faults of the
 * newest files.
 */
export function shownTexts({ set, texts, diagnostics = [] }: Partial<InForce>) {
  let left = PAGE_BYTES
  const files = (texts?.files ?? []).map(({ name, bytes }) => {
    left -= bytes.byteLength
    // Decoded without a byte order mark, as lines and columns count.
    return { name, bytes: bytes.byteLength, text: left < 0 ? null : decodeText(bytes).text }
  })
  const lists = Array.from(texts?.lists ?? [], ([path, content]) => ({
    path,
    bytes: content instanceof Uint8Array ? content.byteLength : 0,
  }))
  return { digest: set?.digest ?? null, files, lists, diagnostics }
}
