import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readPolicyFolders, strayNames } from '../files/policies.ts'
import { DIAGNOSTICS, type Diagnostic } from '../policy/diagnostics.ts'
import { loadPolicySet, type TenantFolder } from '../policy/load.ts'
import { addCommonOptions, CannotRun, type CommonOptions, configOf } from './context.ts'
import { formatOption, printReport, type ReportOptions } from './report.ts'

export function addValidateCommand(program: Command): void {
  addCommonOptions(program.command('validate'), { policies: true })
    .description('check all policies and print every fault; exit 1 when there is an error')
    .addOption(formatOption())
    .addHelpText(
      'after',
      `
Formats: text for people, json for scripts, github for annotations in a workflow of GitHub Actions, sarif (2.1.0) for
code scanning. Paths in the last two begin at the working folder; run them in the root of the repository.

Example:
  gate-sidecar validate --policies ./policies`,
    )
    .action(validate)
}

function validate(options: CommonOptions & ReportOptions): void {
  const root = resolve(configOf(options).policies)
  if (!existsSync(root)) throw new CannotRun(`There is no folder ${root}; name another with --policies.`)
  const folders = readPolicyFolders(root)
  if (folders.length === 0)
    throw new CannotRun(`${root} holds no tenant's folder; --policies names the folder above those of the tenants.`)
  printReport(options, root, folders, [...strayNames(root).map(strayWarning), ...folders.flatMap(diagnose)])
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
