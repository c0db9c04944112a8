import { lintWithTests } from '../../authoring/cases/untested.ts'
import { readPolicyFolders } from '../../files/read-folders.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { EXIT } from '../context.ts'
import { findingsIn, policiesRoot, wantedFolders } from '../tenant-folders.ts'
import { formatOption, printReport, type ReportOptions } from './report.ts'

export function addLintCommand(program: GateCommand): void {
  addCommonOptions(program.command('lint'), 'policies')
    .description(
      'report what validate reports, advice on style and safety, and rules that match in no test; exit 1 on any finding',
    )
    .option('--tenant <id>', 'only the policies of this tenant')
    .addOption(formatOption())
    .notes(`
To silence a warning, give the reason in a comment on its line or above its rule:
  # lint-ignore GATE2007: the caller always sends it`)
    .example('lint --policies ./policies --tenant acme')
    .action(lint)
}

async function lint(options: ReportOptions & { tenant?: string }): Promise<void> {
  const root = policiesRoot(options)
  const folders = wantedFolders(readPolicyFolders(root), root, options.tenant)
  const found = (await Promise.all(folders.map((folder) => findingsIn(folder, lintWithTests)))).flat()
  printReport(options, root, folders, found)
  if (found.length > 0) options.io.exitCode = EXIT.negative
}
