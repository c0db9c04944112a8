import { Command, Help, type Option } from 'commander'
import { VERSION } from '../version.ts'
import { addApprovalCommands } from './approvals.ts'
import { addAuditCommands } from './audit.ts'
import { addCheckCommand } from './check.ts'
import { addCompletionCommand } from './completion.ts'
import { addConfigCommands } from './config.ts'
import { addDecisionCommands } from './decisions.ts'
import { addEvidenceCommands } from './evidence.ts'
import { addHealthCommand } from './health.ts'
import { addInitCommand } from './init.ts'
import { addKeyCommands } from './keys.ts'
import { addKillSwitchCommands } from './killswitch.ts'
import { addOpenApiCommand } from './openapi.ts'
import { addRiskCommand } from './risk.ts'
import { addSchemaCommands } from './schema.ts'
import { addServeCommand } from './serve.ts'
import { addTenantCommands } from './tenants.ts'
import { addValidateCommand } from './validate.ts'

/** The whole command line: every command with its options and help. Nothing runs before it is parsed. */
export function createProgram(): Command {
  const program = new Command('gate-sidecar')
    .description('Decides, before an AI agent acts, whether the action may run.')
    .version(VERSION)
    .configureHelp({ optionDescription })
    .addHelpText('after', '\nExit codes: 0 ok, 1 negative result, 2 usage, 3 could not run.')

  addServeCommand(program)
  addKeyCommands(program)
  addTenantCommands(program)
  addValidateCommand(program)
  addCheckCommand(program)
  addRiskCommand(program)
  addApprovalCommands(program)
  addDecisionCommands(program)
  addAuditCommands(program)
  addEvidenceCommands(program)
  addKillSwitchCommands(program)
  addHealthCommand(program)
  addOpenApiCommand(program)
  addInitCommand(program)
  addSchemaCommands(program)
  addConfigCommands(program)
  addCompletionCommand(program)
  return program
}

/** Commander tells which options a command cannot do without only when one is missing. */
function optionDescription(option: Option): string {
  const text = new Help().optionDescription(option)
  return option.mandatory ? `${text} (required)` : text
}

/** The command and all below it. */
export function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}
