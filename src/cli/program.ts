import { type Command, Help, type Option } from 'commander'
import { VERSION } from '../version.ts'
import { GateCommand } from './command.ts'

/** Functions that add a command, or a group of commands, to the program, by its first word. */
export type Commands = Readonly<Record<string, () => Promise<(program: GateCommand) => void>>>

/**
 * The command line with its options and help. Nothing runs before it is parsed.
 *
 * @param wanted the only command needed, if known; loading all of them takes half a second
 */
export async function createProgram(commands: Commands, wanted?: string): Promise<GateCommand> {
  const program = new GateCommand('gate-sidecar')
    .description('Decides, before an AI agent acts, whether the action may run.')
    .version(VERSION)
    .configureHelp({ optionDescription })
    .notes('\nExit codes: 0 ok, 1 negative result, 2 wrong usage, 3 could not run.')
  // Completion covers all commands.
  const isAlone = wanted !== undefined && wanted !== 'completion' && Object.hasOwn(commands, wanted)
  for (const [name, load] of Object.entries(commands)) {
    if (isAlone && name !== wanted) continue
    const add = await load()
    add(program)
  }
  for (const group of program.commands as GateCommand[]) if (group.examples.length > 0) group.example(...group.examples)
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
