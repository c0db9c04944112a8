import { addCommonOptions, type GateCommand } from '../command.ts'
import { limitOption } from '../context.ts'
import { history } from './loads.ts'
import { push, rollback } from './push.ts'

export function addPolicyCommands(program: GateCommand): void {
  const policies = program
    .command('policies')
    .description('put policy sets in the store, for every sidecar that uses it')
  addPushOptions(policies.command('push [path]'), 'data', 'policies')
    .description(
      'put a set in force on every sidecar that takes its policies from the store; exit 1 for a set with an error or a failing test',
    )
    .notes(`
The path is a folder with the policies, tests and lists of the tenant, or one file of policies, which is pushed with the
tests and lists of its folder. Without it, the tenant's folder in --policies is pushed. Sidecars started with
--policies store: decide by the set within two seconds.`)
    .example('policies push ./policies/acme --tenant acme --store postgres://gate@db.internal/gate')
    .action(push)
  addPushOptions(policies.command('rollback'), 'data')
    .description('put the set before the one in force, or the named one, in force again, after the same tests')
    .option('--to <digest>', 'digest of a set that was in force before')
    .example('policies rollback --tenant acme')
    .action(rollback)
  addPushOptions(policies.command('history'), 'data')
    .description('list the sets of a tenant that came into force, the newest first')
    .addOption(limitOption(20, 1000))
    .example('policies history --tenant acme')
    .action(history)
}

function addPushOptions(command: GateCommand, ...settings: readonly ('data' | 'policies')[]): GateCommand {
  return addCommonOptions(command, ...settings).requiredOption('--tenant <id>', 'the tenant')
}
