import type { Diagnostic } from '../diagnostics/diagnostics.ts'
import { createReport } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { decodeText } from '../yaml/encoding.ts'
import { memberOf, type Node, textOf } from '../yaml/node.ts'
import { readDocument } from '../yaml/read-document.ts'
import { jsonText } from './json.ts'
import { layoutOf } from './layout.ts'
import { yamlText } from './yaml.ts'

/**
 * A formatted file, with its format version. `diagnostics` are faults that keep it from being read as a document;
 * `fault` is a predicate that says why a readable file stays as it is.
 */
export type Formatted =
  | { text: string; apiVersion: string | undefined }
  | { diagnostics: readonly Diagnostic[] }
  | { fault: string }

interface Read {
  root: Node
  /** Comments of a YAML text, in their order. */
  comments: readonly string[]
}

/**
 * Formats a policy or test file. The result is the same document, with the same order of keys and comments, and
 * formats to itself; it is withheld when that cannot be proved.
 *
 * @param file Name in diagnostics; a file that ends in `.json` must be strict JSON.
 */
export function formatDocument(file: string, bytes: Uint8Array): Formatted {
  const report = createReport()
  const root = readDocument(file, bytes, report)
  if (root === undefined || report.failed()) return { diagnostics: report.diagnostics() }
  const before = read(file, decodeText(bytes).text.replaceAll('\r\n', '\n'))
  if (before === undefined) return unproved('document')
  const text = printed(file, before)
  if (encoded(text).byteLength > LIMITS.fileBytes) {
    return { fault: `would have more than ${LIMITS.fileBytes} bytes after it was formatted` }
  }
  const after = read(file, text)
  if (after === undefined || JSON.stringify(after.root.value) !== JSON.stringify(root.value))
    return unproved('document')
  if (JSON.stringify(after.comments) !== JSON.stringify(before.comments)) return unproved('comments')
  if (printed(file, after) !== text) return { fault: 'would be formatted otherwise a second time' }
  return { text, apiVersion: textOf(memberOf(root, 'apiVersion')) }
}

function unproved(what: 'document' | 'comments'): Formatted {
  return { fault: `would not have the same ${what} after it was formatted` }
}

function read(file: string, text: string): Read | undefined {
  const report = createReport()
  const root = readDocument(file, encoded(text), report)
  if (root === undefined || report.failed()) return undefined
  return { root, comments: isJson(file) ? [] : layoutOf(root.source).comments.map((comment) => comment.text) }
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function printed(file: string, { root }: Read): string {
  return isJson(file) ? jsonText(root) : yamlText(root.source, root)
}

function isJson(file: string): boolean {
  return file.endsWith('.json')
}
