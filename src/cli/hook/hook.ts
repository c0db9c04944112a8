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
    .description('decide a tool call of Claude Code, read from stdin; exit 2 unless it is allowed')
    .addOption(
      new Option('--approval-timeout <duration>', 'how long to wait for people')
        .argParser(durationOf)
        .default(USUAL_WAIT),
    )
    .addOption(
      new Option(
        '--on-allow <what>',
        'pass: Claude Code applies its own permissions; grant: Claude Code does not ask the user',
      )
        .choices(ON_ALLOW)
        .default('pass'),
    )
    .option('--outcomes', 'report the outcome of each call to the sidecar, from the hooks after it')
    .option('--install', 'add the hook, with these options, to the settings of Claude Code, and show the changes')
    .addOption(new Option('--scope <scope>', 'settings that --install changes').choices(SCOPES).default('project'))
    .option('--yes', 'with --install: do not ask for confirmation')
    .notes(`
The key comes from GATE_SIDECAR_KEY. Anything but an allow blocks the call: a deny, an unreachable sidecar, a missing key.`)
    .example('hook claude-code --tenant acme --install', 'hook claude-code --tenant acme < hook.json')
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
