import { lineOf } from '../../actions/anchors/compare.ts'
import { restoreTrail } from '../../actions/audit/restore.ts'
import { tailLine } from '../../actions/audit/unsigned-tails.ts'
import { anchorFile } from '../../anchors/file.ts'
import { addCommonOptions, addSettingOption, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, configOf, EXIT, hostActor, UsageError } from '../context.ts'
import { withStore } from '../data-file.ts'
import { withKeyring } from '../evidence/keyring.ts'
import { print } from '../output.ts'

export function addAuditRestoreCommand(audit: GateCommand): void {
  const command = addCommonOptions(audit.command('restore'), 'data')
  addSettingOption(command, 'anchorFile')
  addSettingOption(command, 'signingKey')
  command
    .description(
      'take up the trail as it is, though the anchor file says otherwise or checkpoints are missing, and record that',
    )
    .requiredOption('--reason <text>', 'why it is taken up as it is; recorded for good')
    .example(
      `audit restore --anchor-file /mnt/anchors/gate.jsonl --reason 'backup of 1 May put back after the disk failed'`,
    )
    .action(restore)
}

async function restore(options: CommonOptions & { reason: string }): Promise<void> {
  const config = configOf(options)
  const { reason } = options
  if (reason.trim() === '') throw new UsageError('--reason: say why the trail is taken up as it is.')
  const file = config.anchorFile === null ? undefined : anchorFile(config.anchorFile)
  if ((await file?.version()) === 'none') throw new CannotRun(`There is no anchor file ${config.anchorFile}.`)
  const { discrepancies, unsigned, unsealed, left, refused } = await withStore(
    options,
    (deps) =>
      restoreTrail(deps, () => withKeyring(deps, config, () => undefined), file, { reason, actor: hostActor() }),
    { unsealed: 'accepted' },
  )
  const isRestored = discrepancies.length + unsigned.length + unsealed.length > 0
  print(options, { restored: isRestored, discrepancies, unsigned, unsealed, left, refused }, () =>
    isRestored
      ? [
          ...discrepancies.map(lineOf),
          ...unsigned.map(tailLine),
          ...unsealed,
          'The trail goes on as it is. That is recorded as audit.restored, and a running service writes again within seconds.',
        ]
      : [
          file === undefined
            ? 'All is signed that must be; nothing was written. To compare with an anchor file, give --anchor-file.'
            : 'The trail agrees with its anchors, and all is signed that must be; nothing was written.',
        ],
  )
  if (left.length > 0) throw new CannotRun(`The anchors are still contradicted:\n${left.map(lineOf).join('\n')}`)
  if (refused.length > 0) throw new CannotRun(`Not taken up, restore a backup of it:\n${refused.join('\n')}`)
  if (!isRestored) options.io.exitCode = EXIT.negative
}
