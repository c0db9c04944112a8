import { DIAGNOSTICS, type Diagnostic } from '../../authoring/diagnostics/diagnostics.ts'
import type { PolicySource } from '../../authoring/load/files.ts'
import { loadPolicySet } from '../../authoring/load/load.ts'
import { strayNames } from '../../files/policies.ts'
import { readPolicyFolders } from '../../files/read-folders.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { findingsIn, policiesRoot, wantedFolders } from '../tenant-folders.ts'
import { formatOption, printReport, type ReportOptions } from './report.ts'

export function addValidateCommand(program: GateCommand): void {
  addCommonOptions(program.command('validate'), 'policies')
    .description('check all policies and print every fault; exit 1 on an error')
    .addOption(formatOption())
    .notes(`
Formats: text for people, json for scripts, github for annotations in GitHub Actions, sarif (2.1.0) for code scanning.
Paths in github and sarif are relative to the working folder: run the command in the root of the repository.`)
    .example('validate --policies ./policies')
    .action(validate)
}

async function validate(options: ReportOptions): Promise<void> {
  const root = policiesRoot(options)
  const folders = wantedFolders(readPolicyFolders(root), root)
  const find = (source: PolicySource): readonly Diagnostic[] => loadPolicySet(source).diagnostics
  const found = (await Promise.all(folders.map((folder) => findingsIn(folder, find)))).flat()
  printReport(options, root, folders, [...strayNames(root).map(strayWarning), ...found])
}

/** Policies beside the tenants' folders look as if they were in force. */
function strayWarning(name: string): Diagnostic {
  const code = 'GATE2001'
  const message =
    'Only tenant folders are read. Their names have letters, digits, _ and -, at most 63, first a letter or digit.'
  const { severity } = DIAGNOSTICS[code]
  return { file: name, line: 1, column: 1, severity, code, message, path: '', suggestion: null }
}
