import type { Command } from 'commander'
import { lineOf } from '../actions/compare-anchors.ts'
import { restoreAnchors } from '../actions/restore-anchors.ts'
import { anchorFile } from '../anchors/file.ts'
import {
  addCommonOptions,
  addSettingOption,
  CannotRun,
  type CommonOptions,
  configOf,
  EXIT,
  hostActor,
  UsageError,
  withStore,
} from './context.ts'
import { withKeyring } from './keyring.ts'
import { print } from './output.ts'

interface RestoreOptions extends CommonOptions {
  reason: string
}

export function addAuditRestoreCommand(audit: Command): void {
  const command = addCommonOptions(audit.command('restore'), { data: true })
  addSettingOption(command, 'anchorFile')
  addSettingOption(command, 'signingKey')
  command
    .description('take up the trail as it is, though the anchor file says otherwise, and record that')
    .requiredOption('--reason <text>', 'why the trail is not what was anchored; recorded for good')
    .addHelpText(
      'after',
      `\nExample:\n  gate-sidecar audit restore --anchor-file /mnt/anchors/gate.jsonl --reason 'backup of 1 May put back after the disk failed'`,
    )
    .action(restore)
}

async function restore(options: RestoreOptions): Promise<void> {
  const config = configOf(options)
  const { reason } = options
  if (config.anchorFile === null)
    throw new UsageError('There is no anchor file to compare with: set anchorFile, or give --anchor-file.')
  if (reason.trim() === '') throw new UsageError('--reason: say why the trail is not what was anchored.')
  const file = anchorFile(config.anchorFile)
  if ((await file.version()) === 'none') throw new CannotRun(`There is no anchor file ${config.anchorFile}.`)
  const { discrepancies, left } = await withStore(config, {}, async (deps) =>
    restoreAnchors(await withKeyring(deps, config), file, { reason, actor: hostActor() }),
  )
  print(options, { restored: discrepancies.length > 0, discrepancies, left }, () =>
    discrepancies.length === 0
      ? ['The trail agrees with its anchors; nothing was written.']
      : [
          ...discrepancies.map(lineOf),
          'The trail goes on as it is. That is recorded as audit.restored, and a running service writes again within seconds.',
        ],
  )
  if (left.length > 0) throw new CannotRun(`The anchors are still contradicted:\n${left.map(lineOf).join('\n')}`)
  if (discrepancies.length === 0) process.exitCode = EXIT.negative
}
