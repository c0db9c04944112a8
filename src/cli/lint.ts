import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { lintWithTests } from '../cases/untested.ts'
import { readPolicyFolders, readTenantFolder } from '../files/policies.ts'
import { isTenantId } from '../keys/tenant.ts'
import type { Diagnostic } from '../policy/diagnostics.ts'
import type { TenantFolder } from '../policy/load.ts'
import { addCommonOptions, CannotRun, type CommonOptions, configOf, EXIT } from './context.ts'
import { noFolderOf } from './no-folder.ts'
import { formatOption, printReport, type ReportOptions } from './report.ts'

interface LintOptions extends CommonOptions, ReportOptions {
  tenant?: string
}

export function addLintCommand(program: Command): void {
  addCommonOptions(program.command('lint'), { policies: true })
    .description(
      'what validate prints, advice on style and safety, and rules that no test makes match; exit 1 when there is anything',
    )
    .option('--tenant <id>', 'whose policies; all without it')
    .addOption(formatOption())
    .addHelpText(
      'after',
      `
A comment on the line, or above the rule, says why a warning is meant: # lint-ignore GATE2007: the caller always sends it

Example:
  gate-sidecar lint --policies ./policies --tenant acme`,
    )
    .action(lint)
}

async function lint(options: LintOptions): Promise<void> {
  const root = resolve(configOf(options).policies)
  if (!existsSync(root)) throw new CannotRun(`There is no folder ${root}; name another with --policies.`)
  const folders = foldersOf(root, options.tenant)
  const found = (await Promise.all(folders.map(diagnose))).flat()
  printReport(options, root, folders, found)
  if (found.length > 0) process.exitCode = EXIT.negative
}

function foldersOf(root: string, tenant: string | undefined): TenantFolder[] {
  if (tenant !== undefined) {
    if (isTenantId(tenant) && existsSync(join(root, tenant))) return [readTenantFolder(root, tenant)]
    throw noFolderOf(tenant, root)
  }
  const folders = readPolicyFolders(root)
  if (folders.length > 0) return folders
  throw new CannotRun(`${root} holds no tenant's folder; --policies names the folder above those of the tenants.`)
}

async function diagnose({ tenant, source }: TenantFolder): Promise<readonly Diagnostic[]> {
  if ('problem' in source) throw new CannotRun(`The folder of ${tenant} ${source.problem}.`)
  return lintWithTests(source)
}
