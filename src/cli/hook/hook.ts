import { InvalidArgumentError, Option } from 'commander'
import { DAY_MS, parseDuration } from '../../base/time.ts'
import { ON_ALLOW } from '../../gate/claude-code.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { addGateOptions } from '../gate-client.ts'
import { SCOPES } from '../hook-scopes.ts'
import { endAsOthers } from './blocking.ts'
import type { InstallOptions } from './install.ts'

/** Default wait for people: with the other steps, less than Claude Code's ten minutes for a hook. */
const USUAL_WAIT = '9m'

export function addHookCommands(program: GateCommand): void {
  const group = program.command('hook').description('answer the hooks of an agent')
  addCommonOptions(addGateOptions(group.command('claude-code')))
    .description('decide a tool call of Claude Code: its hook on standard input, exit 2 unless the call is allowed')
    .addOption(
      new Option('--approval-timeout <duration>', 'how long people are waited for')
        .argParser(durationOf)
        .default(USUAL_WAIT),
    )
    .addOption(
      new Option('--on-allow <what>', 'pass: the permissions of Claude Code go on; grant: the user is not asked')
        .choices(ON_ALLOW)
        .default('pass'),
    )
    .option('--outcomes', 'tell the sidecar what becomes of each call, by the hooks after it')
    .option('--install', 'write the hook, with these options, into the settings of Claude Code, and show what changes')
    .addOption(new Option('--scope <scope>', 'whose settings --install writes').choices(SCOPES).default('project'))
    .option('--yes', 'with --install: do not ask')
    .addHelpText(
      'after',
      `
The key comes from GATE_SIDECAR_KEY. All that is no allow blocks the call: a deny, a sidecar that is down, a missing key.

Example:
  gate-sidecar hook claude-code --tenant acme --install
  gate-sidecar hook claude-code --tenant acme < hook.json`,
    )
    .action(hookCommand)
}

async function hookCommand(options: InstallOptions & { install?: boolean }): Promise<void> {
  if (!options.install) return (await import('./answer.ts')).answerHook(options)
  endAsOthers(options.io)
  const { installHook } = await import('./install.ts')
  await installHook(options)
}

function durationOf(text: string): string {
  if ((parseDuration(text) ?? Number.POSITIVE_INFINITY) <= DAY_MS) return text
  throw new InvalidArgumentError('A duration such as 30s or 9m is expected, at most 24h.')
}
