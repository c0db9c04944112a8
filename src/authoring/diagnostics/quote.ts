import { memo } from '../../base/memo.ts'
import { insidePath, type PolicySource, shownPath } from '../load/files.ts'
import { decodeText } from '../yaml/encoding.ts'
import type { Diagnostic } from './diagnostics.ts'
import { isAboutFile, type LinesOf } from './text.ts'

/** Length of a quoted line, and of its part before the fault, in characters. A policy may be one line of a megabyte. */
export const MAX_EXCERPT = 400
const BEFORE = 160

/** A fault with its source line, for readers who do not have the file. */
export interface QuotedDiagnostic extends Diagnostic {
  /** The line of the fault, or the part around it; null for faults of a whole file, which no line would explain. */
  excerpt: string | null
  /** The column of the first character of the excerpt, 1 unless the line was cut before it; null without one. */
  excerptColumn: number | null
}

/** The same faults, each with its line. */
export function quoted(diagnostics: readonly Diagnostic[], source: PolicySource): QuotedDiagnostic[] {
  const linesOf = linesIn(source)
  return diagnostics.map((diagnostic) => {
    const line = isAboutFile(diagnostic) ? undefined : linesOf(diagnostic.file)[diagnostic.line - 1]
    return { ...diagnostic, ...(line === undefined ? NOTHING : partOf(line, diagnostic.column)) }
  })
}

/** The lines of a set's files, as diagnostics name and count them. Each file is split once, whatever the number of its faults. */
export function linesIn(source: PolicySource): LinesOf {
  const { files, lists } = source
  const listFiles = [...lists].flatMap(([path, bytes]) =>
    bytes instanceof Uint8Array ? [{ name: insidePath(path), bytes }] : [],
  )
  return memo((file: string) => {
    const bytes = [...files, ...listFiles].find(
      ({ name }) => name !== undefined && shownPath(source, name) === file,
    )?.bytes
    return bytes === undefined ? [] : decodeText(bytes).text.split(/\r?\n/)
  })
}

/** Excerpt of a fault without a line. */
const NOTHING = { excerpt: null, excerptColumn: null } as const

function partOf(line: string, column: number) {
  const start = Math.max(0, Math.min(column - 1 - BEFORE, line.length - MAX_EXCERPT))
  const from = splitsPair(line, start) ? start + 1 : start
  const end = start + MAX_EXCERPT
  return { excerpt: line.slice(from, splitsPair(line, end) ? end - 1 : end), excerptColumn: from + 1 }
}

/** True between the two units of one character. */
function splitsPair(text: string, at: number): boolean {
  return at > 0 && /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at))
}
