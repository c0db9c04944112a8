import { addCommonOptions, type GateCommand } from '../command.ts'
import { environmentOption, limitOption } from '../context.ts'
import { history } from './loads.ts'
import { override } from './override.ts'
import { promote } from './promote.ts'
import { push, rollback } from './push.ts'
import { shadow } from './shadow.ts'

export function addPolicyCommands(program: GateCommand): void {
  const policies = program
    .command('policies')
    .description('put policy sets in force: from the store, for every sidecar that uses it, or out of shadow')
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
  addPushOptions(policies.command('shadow'), 'data', 'policies')
    .addOption(environmentOption())
    .description('show what the set in shadow would have decided otherwise, and since when it is in shadow')
    .notes(`
A set is in shadow in the folder TENANT.shadow beside that of the tenant, or as rules with \`mode: shadow\`. It is asked at
each check, and decides nothing.`)
    .example('policies shadow --tenant acme')
    .action(shadow)
  addPushOptions(policies.command('promote'), 'data', 'policies')
    .addOption(environmentOption())
    .description('put the set in shadow in force, and record what it had said; exit 1 for an error or a failing test')
    .notes(`
The folders TENANT and TENANT.shadow are exchanged, so that the set before is in shadow then: the same command takes a
promotion back. Without TENANT.shadow, rules with \`mode: shadow\` get \`mode: enforce\`.`)
    .example('policies promote --tenant acme')
    .action(promote)
  addPushOptions(policies.command('override [set]'), 'data', 'policies')
    .requiredOption('--reason <text>', 'why it may; it is recorded')
    .description('let a set come into force without the replay that the setting requireReplay asks for')
    .notes(`
The set is a folder or a file, as for push, or a digest; without it, the tenant's folder in --policies. It may come into
force in place of the set that is in force now, once.`)
    .example('policies override ./policies/acme --tenant acme --reason "INC-311: refunds are blocked"')
    .action(override)
  addPushOptions(policies.command('history'), 'data')
    .description('list the sets of a tenant that came into force, the newest first')
    .addOption(limitOption(20, 1000))
    .example('policies history --tenant acme')
    .action(history)
}

function addPushOptions(command: GateCommand, ...settings: readonly ('data' | 'policies')[]): GateCommand {
  return addCommonOptions(command, ...settings).requiredOption('--tenant <id>', 'the tenant')
}
