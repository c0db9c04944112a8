import { Command, CommanderError } from 'commander'
import { GateError } from '../base/errors.ts'
import { ConfigError } from '../config.ts'
import { addAuditCommands } from './audit.ts'
import { addCheckCommand } from './check.ts'
import { EXIT, UsageError } from './context.ts'
import { addEvidenceCommands } from './evidence.ts'
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
  .showSuggestionAfterError()
  .exitOverride()
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
for (const command of allCommands(program)) command.exitOverride()

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = explain(error)
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}

/** Tells what went wrong on standard error, and picks the exit code. A stack is shown for faults of ours only. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof UsageError || error instanceof ConfigError) return complain(error.message, EXIT.usage)
  if (error instanceof GateError && error.code === 'invalid_request') return complain(error.message, EXIT.usage)
  if (error instanceof Error && error.name !== 'Error' && error.name !== 'TypeError')
    return complain(error.message, EXIT.failed)
  return complain(error instanceof Error ? (error.stack ?? error.message) : String(error), EXIT.failed)
}

function complain(message: string, exitCode: number): number {
  process.stderr.write(`gate-sidecar: ${message}\n`)
  return exitCode
}
