import { Option } from 'commander'
import { memo } from '../base/memo.ts'
import { visibleJson } from '../base/visible.ts'
import { compareDiagnostics, type Diagnostic, formatDiagnostic } from '../policy/diagnostics.ts'
import type { TenantFolder } from '../policy/load.ts'
import { EXIT } from './context.ts'

/** Options of a command that reports faults of policies. */
export interface ReportOptions {
  format: 'text' | 'json'
  json?: boolean
}

export function formatOption(): Option {
  return new Option('--format <format>', 'how faults are printed').choices(['text', 'json']).default('text')
}

/** Prints what a command found in the folders under `root`; ends with 1 when there is an error. */
export function printReport(
  options: ReportOptions,
  _root: string,
  folders: readonly TenantFolder[],
  found: readonly Diagnostic[],
): void {
  const diagnostics = found.toSorted(compareDiagnostics)
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const json = options.json || options.format === 'json'
  process.stdout.write(
    json
      ? `${visibleJson({ valid: errors === 0, diagnostics: diagnostics.map(shown) })}\n`
      : report(folders, diagnostics, errors),
  )
  if (errors > 0) process.exitCode = EXIT.negative
}

/** The members that scripts and editors rely on, in this order. */
function shown({ file, line, column, severity, code, message, path, suggestion }: Diagnostic) {
  return { file, line, column, severity, code, message, path, suggestion }
}

function report(folders: readonly TenantFolder[], diagnostics: readonly Diagnostic[], errors: number): string {
  const linesOf = memo((file: string) => sourceLines(folders, file))
  const lines = diagnostics.map((diagnostic) =>
    formatDiagnostic(diagnostic, linesOf(diagnostic.file)[diagnostic.line - 1]),
  )
  const counts = [count(folders.length, 'policy set'), count(errors, 'error')]
  return `${[...lines, `${counts.join(': ')}, ${count(diagnostics.length - errors, 'warning')}.`].join('\n')}\n`
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

/** None when the file was not read. */
function sourceLines(folders: readonly TenantFolder[], file: string): readonly string[] {
  const [tenant, name] = file.split('/', 2)
  const source = folders.find((folder) => folder.tenant === tenant)?.source
  const bytes = source && 'files' in source && source.files.find((candidate) => candidate.name === name)?.bytes
  if (!bytes) return []
  return Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
}
