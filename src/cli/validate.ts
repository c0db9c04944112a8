import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { readPolicyFolders, type TenantFolder } from '../files/policies.ts'
import { type Diagnostic, formatDiagnostic } from '../policy/diagnostics.ts'
import { loadPolicySet } from '../policy/load.ts'
import { addCommonOptions, type CommonOptions, configOf, EXIT, UsageError } from './context.ts'

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
  if (!existsSync(root)) throw new UsageError(`There is no folder ${root}.`)
  const folders = readPolicyFolders(root)
  const diagnostics = folders.flatMap(diagnose)
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const json = options.json || options.format === 'json'
  process.stdout.write(
    json ? `${JSON.stringify({ valid: errors === 0, diagnostics })}\n` : report(folders, diagnostics, errors),
  )
  if (errors > 0) process.exitCode = EXIT.negative
}

function diagnose({ tenant, source }: TenantFolder): readonly Diagnostic[] {
  if ('problem' in source) throw new UsageError(`The folder of ${tenant} ${source.problem}.`)
  return loadPolicySet(source).diagnostics
}

function report(folders: readonly TenantFolder[], diagnostics: readonly Diagnostic[], errors: number): string {
  const lines = diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, sourceLine(folders, diagnostic)))
  const warnings = diagnostics.length - errors
  return `${[...lines, `${folders.length} policy sets: ${errors} errors, ${warnings} warnings.`].join('\n')}\n`
}

function sourceLine(folders: readonly TenantFolder[], { file, line }: Diagnostic): string | undefined {
  const [tenant, name] = file.split('/', 2)
  const source = folders.find((folder) => folder.tenant === tenant)?.source
  if (source === undefined || 'problem' in source) return undefined
  const bytes = source.files.find((candidate) => candidate.name === name)?.bytes
  return (
    bytes &&
    Buffer.from(bytes)
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .split(/\r\n|\r|\n/)[line - 1]
  )
}
