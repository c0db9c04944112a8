import { relative, sep } from 'node:path'
import { Option } from 'commander'
import { compareDiagnostics, type Diagnostic } from '../../authoring/diagnostics/diagnostics.ts'
import { FORMATS, type Format, formatDiagnostics, isValid } from '../../authoring/diagnostics/formats.ts'
import { linesIn } from '../../authoring/diagnostics/quote.ts'
import { type LinesOf, type Look, PLAIN } from '../../authoring/diagnostics/text.ts'
import { shownPath, type TenantFolder } from '../../authoring/load/files.ts'
import { counted } from '../../base/counted.ts'
import { VERSION } from '../../version.ts'
import { type CommonOptions, EXIT, UsageError } from '../context.ts'
import type { Output } from '../io.ts'
import { coloured } from '../output.ts'

/** Options of a command that reports faults of policies. */
export interface ReportOptions extends CommonOptions {
  format: Format
}

export function formatOption(): Option {
  return new Option('--format <format>', 'output format').choices(FORMATS).default('text')
}

/** Prints diagnostics of the folders under `root`; exits with 1 when there is an error. */
export function printReport(
  options: ReportOptions,
  root: string,
  folders: readonly TenantFolder[],
  found: readonly Diagnostic[],
): void {
  const diagnostics = found.toSorted(compareDiagnostics)
  const findings = { diagnostics, linesOf: linesOfAll(folders), summary: summaryOf(folders, diagnostics) }
  const { stdout } = options.io
  const setting = { look: lookOf(stdout), folder: folderPath(root), version: VERSION }
  stdout.write(formatDiagnostics(formatOf(options), findings, setting))
  if (!isValid(diagnostics)) options.io.exitCode = EXIT.negative
}

function formatOf({ format, json = false }: ReportOptions): Format {
  if (!json) return format
  if (format === 'text' || format === 'json') return 'json'
  throw new UsageError(`--json means --format json; leave out --json or --format ${format}.`)
}

/** Terminals wrap longer lines, which would misplace the carets. */
function lookOf(output: Output): Look {
  // Some terminals report 0 columns.
  return { paint: (style, text) => coloured(style, text, output), columns: output.columns || PLAIN.columns }
}

/** The path from the working folder, usually the root of a repository, as GitHub and other readers expect. */
function folderPath(root: string): string {
  const path = relative(process.cwd(), root)
  const isInside = path !== '..' && !path.startsWith(`..${sep}`)
  return (isInside ? path : root).replaceAll(sep, '/')
}

function summaryOf(folders: readonly TenantFolder[], diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const counts = [counted(errors, 'error'), counted(diagnostics.length - errors, 'warning')]
  return `${counted(folders.length, 'policy set')}: ${counts.join(', ')}.`
}

/** Source lines of the loaded folders. */
export function linesOfAll(folders: readonly TenantFolder[]): LinesOf {
  const sources = folders.flatMap(({ source }) =>
    'files' in source ? [[shownPath(source), linesIn(source)] as const] : [],
  )
  const byFolder = new Map(sources)
  return (file) => byFolder.get(file.slice(0, file.indexOf('/')))?.(file) ?? []
}
