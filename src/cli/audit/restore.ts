import { lineOf } from '../../actions/anchors/compare.ts'
import { restoreTrail } from '../../actions/audit/restore.ts'
import { tailLine } from '../../actions/audit/unsigned-tails.ts'
import { anchorFile } from '../../anchors/file.ts'
import { logKeyFileOf } from '../../service/store.ts'
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
      'adopt the trail as it is, despite a contradicting anchor file or missing checkpoints, and record that',
    )
    .requiredOption('--reason <text>', 'why the trail is adopted; recorded permanently')
    .example(
      `audit restore --anchor-file /mnt/anchors/gate.jsonl --reason 'backup of 1 May put back after the disk failed'`,
    )
    .action(restore)
}

async function restore(options: CommonOptions & { reason: string }): Promise<void> {
  const config = configOf(options)
  const { reason } = options
  if (reason.trim() === '') throw new UsageError('--reason: say why the trail is adopted as it is.')
  // The trail is sealed anew before it is signed.
  logKeyFileOf(config)
  const file = config.anchorFile === null ? undefined : anchorFile(config.anchorFile)
  if ((await file?.version()) === 'none')
    throw new CannotRun(`There is no anchor file ${config.anchorFile}; check --anchor-file.`)
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
          'The trail is adopted as it is, and audit.restored records that. A running service writes again within seconds.',
        ]
      : [
          file === undefined
            ? 'No checkpoint is missing; nothing was written. To compare with an anchor file, give --anchor-file.'
            : 'The trail agrees with its anchors, and no checkpoint is missing; nothing was written.',
        ],
  )
  if (left.length > 0) throw new CannotRun(`The trail still contradicts its anchors:\n${left.map(lineOf).join('\n')}`)
  if (refused.length > 0)
    throw new CannotRun(`These chains cannot be adopted; restore a backup:\n${refused.join('\n')}`)
  if (!isRestored) options.io.exitCode = EXIT.negative
}
