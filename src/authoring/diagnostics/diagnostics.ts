import type { Json } from '../../base/json.ts'
import type { DiagnosticCode, Severity } from './codes.ts'

export { DIAGNOSTICS, type DiagnosticCode } from './codes.ts'

/** One fault of a policy set. Lines and columns count from 1, columns in UTF-16 units; a BOM is not counted. */
export interface Diagnostic {
  /** Relative to the policies folder: `acme/main.yaml`. */
  file: string
  line: number
  column: number
  /** The column after its last character on that line; absent for a fault that is a point. */
  endColumn?: number
  severity: Severity
  code: DiagnosticCode
  message: string
  /** Path in the document: `$.rules[0].when.fact`; empty when the fault is about the whole file. */
  path: string
  /** Text that was probably meant, to replace the text at fault. */
  suggestion: string | null
}

/** Fault of a constant that does not suit its operator. `item` is the position in a list, when one item is at fault. */
export interface ValueFault {
  code: DiagnosticCode
  message: string
  item?: number | undefined
  suggestion?: Json | undefined
}

/** The order of reports: file, line, column, then code. File names compare by UTF-16 unit, so everywhere alike. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  if (a.line !== b.line) return a.line - b.line
  if (a.column !== b.column) return a.column - b.column
  if (a.code !== b.code) return a.code < b.code ? -1 : 1
  return a.message === b.message ? 0 : a.message < b.message ? -1 : 1
}
