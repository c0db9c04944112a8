import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { memo } from '../base/memo.ts'
import { visibleJson } from '../base/visible.ts'
import { readPolicyFolders, strayNames } from '../files/policies.ts'
import { DIAGNOSTICS, type Diagnostic, formatDiagnostic } from '../policy/diagnostics.ts'
import { loadPolicySet, type TenantFolder } from '../policy/load.ts'
import { addCommonOptions, CannotRun, type CommonOptions, configOf, EXIT } from './context.ts'

interface ValidateOptions extends CommonOptions {
  format: 'text' | 'json'
}

export function addValidateCommand(program: Command): void {
  addCommonOptions(program.command('validate'), { policies: true })
    .description('check all policies and print every fault; exit 1 when there is an error')
    .addOption(new Option('--format <format>', 'how faults are printed').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExample:\n  gate-sidecar validate --policies ./policies')
    .action(validate)
}

function validate(options: ValidateOptions): void {
  const root = resolve(configOf(options).policies)
  if (!existsSync(root)) throw new CannotRun(`There is no folder ${root}; name another with --policies.`)
  const folders = readPolicyFolders(root)
  if (folders.length === 0)
    throw new CannotRun(`${root} holds no tenant's folder; --policies names the folder above those of the tenants.`)
  const diagnostics = [...strayNames(root).map(strayWarning), ...folders.flatMap(diagnose)]
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const json = options.json || options.format === 'json'
  process.stdout.write(
    json
      ? `${visibleJson({ valid: errors === 0, diagnostics: diagnostics.map(shown) })}\n`
      : report(folders, diagnostics, errors),
  )
  if (errors > 0) process.exitCode = EXIT.negative
}

function diagnose({ tenant, source }: TenantFolder): readonly Diagnostic[] {
  if ('problem' in source) throw new CannotRun(`The folder of ${tenant} ${source.problem}.`)
  return loadPolicySet(source).diagnostics
}

/** Policies that lie beside the tenants' folders look as if they were in force. */
function strayWarning(name: string): Diagnostic {
  const code = 'GATE2001'
  const message = "Only the tenants' folders are read: letters, digits, _ and -, at most 63, first a letter or digit."
  const { severity } = DIAGNOSTICS[code]
  return { file: name, line: 1, column: 1, severity, code, message, path: '', suggestion: null }
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
export function sourceLines(folders: readonly TenantFolder[], file: string): readonly string[] {
  const [tenant, name] = file.split('/', 2)
  const source = folders.find((folder) => folder.tenant === tenant)?.source
  const bytes = source && 'files' in source && source.files.find((candidate) => candidate.name === name)?.bytes
  if (!bytes) return []
  return Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
}
