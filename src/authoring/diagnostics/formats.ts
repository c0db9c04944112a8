import { visible, visibleJson } from '../../base/visible.ts'
import { pageOf } from './codes.ts'
import type { Diagnostic } from './diagnostics.ts'
import { sarifLog } from './sarif.ts'
import { type LinesOf, type Look, textReport } from './text.ts'

/** Output formats of faults. */
export const FORMATS = ['text', 'json', 'github', 'sarif'] as const
export type Format = (typeof FORMATS)[number]

/** The findings of a run. */
export interface Findings {
  /** In the order in which they are reported: compareDiagnostics. */
  diagnostics: readonly Diagnostic[]
  linesOf: LinesOf
  /** One line that sums up the findings, for people. */
  summary: string
}

/** Settings that a format needs. */
export interface Setting {
  look: Look
  /** The policies folder as a path from the root of the repository, with `/` and none at its end; or absolute. */
  folder: string
  /** Version of the program. */
  version: string
}

/** The whole report, with the line break at its end. */
export function formatDiagnostics(format: Format, findings: Findings, setting: Setting): string {
  const { diagnostics, summary } = findings
  const fileOf = (file: string): string => (setting.folder === '' ? file : `${setting.folder}/${file}`)
  switch (format) {
    case 'text':
      return textOf(findings, setting.look)
    case 'json':
      return `${visibleJson({ valid: isValid(diagnostics), diagnostics: diagnostics.map(shown) })}\n`
    case 'github': {
      const commands = diagnostics.map((diagnostic) => githubCommand(diagnostic, fileOf(diagnostic.file)))
      return `${[...commands, summary].join('\n')}\n`
    }
    case 'sarif':
      return `${visibleJson(sarifLog(diagnostics, fileOf, setting.version))}\n`
  }
}

function textOf({ diagnostics, linesOf, summary }: Findings, look: Look): string {
  const example = diagnostics.find(({ severity }) => severity === 'error') ?? diagnostics[0]
  if (example === undefined) return `${summary}\n`
  const pages = `For the cause and the fix of a code, run \`gate-sidecar explain ${example.code}\`.`
  return `${textReport(diagnostics, linesOf, look)}\n\n${look.paint('dim', pages)}\n${summary}\n`
}

/** True when the set can come into force: warnings do not prevent that. */
export function isValid(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.every(({ severity }) => severity !== 'error')
}

/** Members that scripts and editors rely on, in this order. */
export function shown({ file, line, column, severity, code, message, path, suggestion }: Diagnostic) {
  return { file, line, column, severity, code, message, path, suggestion }
}

/**
 * The fault as a workflow command, which GitHub Actions shows beside the line.
 *
 * @param file Relative to the root of the repository
 */
export function githubCommand(diagnostic: Diagnostic, file: string): string {
  const { severity, code, line, column, endColumn, message, suggestion } = diagnostic
  const properties = { file, line, col: column, ...(endColumn !== undefined && { endColumn }), title: code }
  const list = Object.entries(properties).map(([name, value]) => `${name}=${property(String(value))}`)
  const meant = suggestion === null ? '' : ` Did you mean \`${suggestion}\`?`
  return `::${severity} ${list.join(',')}::${data(`${message}${meant} See ${pageOf(code)}.`)}`
}

// A line that begins with :: is a command: untrusted text must stay on its line, and within its part of it.
function data(text: string): string {
  return visible(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
