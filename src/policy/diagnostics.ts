import { visible } from '../base/visible.ts'
import type { DiagnosticCode, Severity } from './codes.ts'

export { DIAGNOSTICS, type DiagnosticCode } from './codes.ts'

/** One fault of a policy set. Lines and columns count from 1, columns in UTF-16 units; a BOM is not counted. */
export interface Diagnostic {
  /** Relative to the policies folder: `acme/main.yaml`. */
  file: string
  line: number
  column: number
  /** The column after the last character, when the fault ends on the line where it begins. */
  endColumn?: number
  severity: Severity
  code: DiagnosticCode
  message: string
  /** Where in the document: `$.rules[0].when.fact`; empty when it is about the whole file. */
  path: string
  /** What was probably meant, to be written in place of the text at fault. */
  suggestion: string | null
}

/** The order of reports: file, line, column, then code. File names compare by UTF-16 unit, so everywhere alike. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  if (a.line !== b.line) return a.line - b.line
  if (a.column !== b.column) return a.column - b.column
  if (a.code !== b.code) return a.code < b.code ? -1 : 1
  return a.message === b.message ? 0 : a.message < b.message ? -1 : 1
}

/** Characters of a source line that are shown at most. */
const MAX_SHOWN = 160

/**
 * The fault as a terminal shows it: position, code and sentence, then the line with carets under the
 * fault, then the suggestion. Without `sourceLine` the first line and the suggestion only.
 */
export function formatDiagnostic(diagnostic: Diagnostic, sourceLine: string | undefined): string {
  const { file, line, column, severity, code, message, suggestion } = diagnostic
  const meant = suggestion === null ? '' : visible(`did you mean \`${suggestion}\`?`)
  const head = visible(`${file}:${line}:${column} ${severity} ${code} ${message}`)
  if (sourceLine === undefined) return meant === '' ? head : `${head} (${meant})`
  const gutter = ` ${line} | `
  // A policy may be one line of a megabyte; what is shown is what stands around the fault.
  const cut = column > MAX_SHOWN / 2 && sourceLine.length > MAX_SHOWN ? column - 1 - MAX_SHOWN / 2 : 0
  const shown = sourceLine.slice(cut, cut + MAX_SHOWN)
  const start = column - 1 - cut
  const width = Math.max(1, Math.min((diagnostic.endColumn ?? column + 1) - column, shown.length - start))
  // Tabs stay tabs, so that the carets stand under the text however wide a terminal shows them.
  const indent = shown.slice(0, start).replace(/[^\t]/g, ' ')
  const pointer = `${' '.repeat(gutter.length - 2)}| ${indent}${'^'.repeat(width)}${meant && ` ${meant}`}`
  return `${head}\n${gutter}${replaced(shown)}\n${pointer}`
}

/** A policy file is not trusted to drive the reader's terminal. As many columns as before, for the carets. */
function replaced(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (mark) => (mark === '\t' ? mark : '�'))
}
