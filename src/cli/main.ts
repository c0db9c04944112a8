import { Command } from 'commander'
import { addAuditCommands } from './audit.ts'
import { addCheckCommand } from './check.ts'
import { addEvidenceCommands } from './evidence.ts'
import { failureOf } from './failure.ts'
import { addHealthCommand } from './health.ts'
import { addKeyCommands } from './keys.ts'
import { addKillSwitchCommands } from './killswitch.ts'
import { addServeCommand } from './serve.ts'
import { addTenantCommands } from './tenants.ts'
import { addValidateCommand } from './validate.ts'
import { VERSION } from './version.ts'

const program = new Command('gate-sidecar')
  .description('Decides, before an AI agent acts, whether the action may run.')
  .version(VERSION)
  .addHelpText('after', '\nExit codes: 0 ok, 1 negative result, 2 usage, 3 could not run.')

addServeCommand(program)
addKeyCommands(program)
addTenantCommands(program)
addValidateCommand(program)
addCheckCommand(program)
addAuditCommands(program)
addEvidenceCommands(program)
addKillSwitchCommands(program)
addHealthCommand(program)
for (const command of allCommands(program)) command.exitOverride().showSuggestionAfterError()

// Who reads only the beginning, such as `head`, has what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  await program.parseAsync()
} catch (error) {
  const { exitCode, message } = failureOf(error)
  process.exitCode = exitCode
  if (message !== undefined) process.stderr.write(`gate-sidecar: ${message}\n`)
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}
