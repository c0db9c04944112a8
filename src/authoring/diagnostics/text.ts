import { columnsOf } from '../../base/columns.ts'
import { shortened } from '../../base/shortened.ts'
import { visible } from '../../base/visible.ts'
import type { DiagnosticCode } from './codes.ts'
import type { Diagnostic } from './diagnostics.ts'
import { excerptOf } from './excerpt.ts'

/** Appearance of a report in its medium. */
export interface Look {
  /** The text in a colour, or as it is where colours are not shown. */
  paint(style: 'bold' | 'dim' | 'red' | 'yellow' | 'cyan', text: string): string
  /** Columns for a source line, that of its number included. */
  columns: number
}

/** For files, pipes and tests. */
export const PLAIN: Look = { paint: (_style, text) => text, columns: 170 }

/** Lines of a source file, by its name in diagnostics; none when it was not read. */
export type LinesOf = (file: string) => readonly string[]

const COLOURS = { error: 'red', warning: 'yellow' } as const

/** Faults of a file as a whole, which its first line would not explain. */
const ABOUT_FILES: ReadonlySet<DiagnosticCode> = new Set([
  'GATE1001',
  'GATE1002',
  'GATE1005',
  'GATE1018',
  'GATE1022',
  'GATE1023',
  'GATE2001',
])

/** Longest sentence: quoted text may be as long as a file, and a sentence must stay readable. */
const MAX_SENTENCE = 400
const MAX_PATH = 160

/** Every fault with its line, a blank line between two. */
export function textReport(diagnostics: readonly Diagnostic[], linesOf: LinesOf, look: Look = PLAIN): string {
  return diagnostics
    .map((diagnostic) => formatDiagnostic(diagnostic, linesOf(diagnostic.file)[diagnostic.line - 1], look))
    .join('\n\n')
}

/**
 * The fault as a terminal shows it: position, code and sentence; the line with carets under the fault and the
 * suggestion; the path. Without `sourceLine`, one line with position, sentence and suggestion.
 */
export function formatDiagnostic(diagnostic: Diagnostic, sourceLine: string | undefined, look: Look = PLAIN): string {
  const { file, line, column, severity, code, message, suggestion } = diagnostic
  const meant = suggestion === null ? '' : `did you mean \`${shortened(visible(suggestion), MAX_PATH)}\`?`
  const kind = look.paint(COLOURS[severity], `${severity} ${code}`)
  const head = `${visible(file)}:${line}:${column} ${kind} ${shortened(visible(message), MAX_SENTENCE)}`
  if (sourceLine === undefined || isAboutFile(diagnostic)) return meant === '' ? head : `${head} (${meant})`
  return [head, ...pointer(diagnostic, sourceLine, meant, look), ...pathLine(diagnostic, look)].join('\n')
}

/** True for a fault that no line explains. */
export function isAboutFile({ code, line, column }: Diagnostic): boolean {
  return ABOUT_FILES.has(code) && line === 1 && column === 1
}

function pointer(diagnostic: Diagnostic, sourceLine: string, meant: string, look: Look): string[] {
  const { line, column, endColumn = column + 1, severity } = diagnostic
  const gutter = gutterOf(line)
  const room = Math.max(40, look.columns - columnsOf(gutter))
  const { text, indent, width } = excerptOf(sourceLine, column - 1, endColumn - 1, room)
  const carets = look.paint(COLOURS[severity], '^'.repeat(width))
  const below = look.paint('dim', `${' '.repeat(gutter.length - 2)}|`)
  const numbered = `${look.paint('dim', gutter.trimEnd())} ${text}`.trimEnd()
  return [numbered, `${below} ${' '.repeat(indent)}${carets}${meant && ` ${look.paint('cyan', meant)}`}`]
}

function pathLine({ line, path }: Diagnostic, { paint }: Look): string[] {
  if (path === '' || path === '$') return []
  return [paint('dim', `${' '.repeat(gutterOf(line).length - 2)}= at ${shortened(visible(path), MAX_PATH)}`)]
}

function gutterOf(line: number): string {
  return ` ${line} | `
}
