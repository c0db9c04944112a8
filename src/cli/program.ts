import { type Command, Help, type Option } from 'commander'
import { VERSION } from '../version.ts'
import { GateCommand } from './command.ts'

/** Commands and groups of commands, each with the function that adds it to the program. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: GateCommand) => void>>> = {
  serve: async () => (await import('./serve/serve.ts')).addServeCommand,
  backup: async () => (await import('./backup.ts')).addBackupCommand,
  keys: async () => (await import('./keys.ts')).addKeyCommands,
  tenants: async () => (await import('./tenants.ts')).addTenantCommands,
  validate: async () => (await import('./policies/validate.ts')).addValidateCommand,
  lint: async () => (await import('./policies/lint.ts')).addLintCommand,
  test: async () => (await import('./test/test.ts')).addTestCommand,
  fmt: async () => (await import('./policies/fmt.ts')).addFormatCommand,
  check: async () => (await import('./gate/check.ts')).addCheckCommand,
  risk: async () => (await import('./gate/check.ts')).addRiskCommand,
  approvals: async () => (await import('./approvals/approvals.ts')).addApprovalCommands,
  explain: async () => (await import('./decisions/explain.ts')).addExplainCommand,
  decisions: async () => (await import('./decisions/decisions.ts')).addDecisionCommands,
  audit: async () => (await import('./audit/audit.ts')).addAuditCommands,
  evidence: async () => (await import('./evidence/evidence.ts')).addEvidenceCommands,
  'signing-keys': async () => (await import('./evidence/signing-keys.ts')).addSigningKeyCommands,
  killswitch: async () => (await import('./killswitch.ts')).addKillSwitchCommands,
  mcp: async () => (await import('./mcp.ts')).addMcpCommand,
  hook: async () => (await import('./hook/hook.ts')).addHookCommands,
  console: async () => (await import('./console.ts')).addConsoleCommand,
  health: async () => (await import('./health.ts')).addHealthCommand,
  openapi: async () => (await import('./openapi.ts')).addOpenApiCommand,
  init: async () => (await import('./policies/init.ts')).addInitCommand,
  schema: async () => (await import('./policies/schema.ts')).addSchemaCommands,
  config: async () => (await import('./config.ts')).addConfigCommands,
  completion: async () => (await import('./completion/completion.ts')).addCompletionCommand,
}

/**
 * The command line with its options and help. Nothing runs before it is parsed.
 *
 * @param wanted the only command needed, if known; loading all of them takes half a second
 */
export async function createProgram(wanted?: string): Promise<GateCommand> {
  const program = new GateCommand('gate-sidecar')
    .description('Decides, before an AI agent acts, whether the action may run.')
    .version(VERSION)
    .configureHelp({ optionDescription })
    .notes('\nExit codes: 0 ok, 1 negative result, 2 usage, 3 could not run.')
  // Completion covers all commands.
  const isAlone = wanted !== undefined && wanted !== 'completion' && Object.hasOwn(COMMANDS, wanted)
  for (const [name, load] of Object.entries(COMMANDS)) {
    if (isAlone && name !== wanted) continue
    const add = await load()
    add(program)
  }
  return program
}

/** Commander reports a required option only once it is missing, so its description says so. */
function optionDescription(option: Option): string {
  const text = new Help().optionDescription(option)
  return option.mandatory ? `${text} (required)` : text
}

/** The command and all its descendants. */
export function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}
