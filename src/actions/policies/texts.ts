import { decodeText } from '../../policy/encoding.ts'
import { isPolicyFile, type PolicySource } from '../../policy/files.ts'
import type { QuotedDiagnostic } from '../../policy/output/quote.ts'
import type { PolicySet } from '../../policy/set.ts'
import { PAGE_BYTES } from '../page.ts'

/** What a set was read from, without its tests. */
export type Texts = Pick<PolicySource, 'files' | 'lists'>

export function textsIn({ files, lists }: PolicySource): Texts {
  return {
    files: files.filter(({ name }) => isPolicyFile(name)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    lists,
  }
}

/** `data` of GET /policies/source. */
export type ShownTexts = ReturnType<typeof shownTexts>

interface InForce {
  readonly set: PolicySet | undefined
  readonly texts: Texts | undefined
  readonly diagnostics: readonly QuotedDiagnostic[]
}

/** What the set in force was read from, as far as it is shown at once, of list files how large they are, and the faults of the newest files. */
export function shownTexts({ set, texts, diagnostics = [] }: Partial<InForce>) {
  let left = PAGE_BYTES
  const files = (texts?.files ?? []).map(({ name, bytes }) => {
    left -= bytes.byteLength
    // As lines and columns count, so without a byte order mark.
    return { name, bytes: bytes.byteLength, text: left < 0 ? null : decodeText(bytes).text }
  })
  const lists = Array.from(texts?.lists ?? [], ([path, content]) => ({
    path,
    bytes: content instanceof Uint8Array ? content.byteLength : 0,
  }))
  return { digest: set?.digest ?? null, files, lists, diagnostics }
}
