import type { Command } from 'commander'
import { visibleLines } from '../base/visible.ts'
import { failureOf } from './failure.ts'
import type { Io, Output } from './io.ts'
import { allCommands, type Commands, createProgram } from './program.ts'

const USUAL_COLUMNS = 80

/** Runs the command that the arguments name. The exit code is in `io.exitCode`, which stays unset for 0. */
export async function runProgram(commands: Commands, args: readonly string[], io: Io): Promise<void> {
  const program = await createProgram(commands, args[0])
  for (const command of allCommands(program)) {
    command
      .exitOverride()
      .showSuggestionAfterError()
      .configureOutput({
        writeOut: (text) => io.stdout.write(text),
        writeErr: (text) => io.stderr.write(text),
        outputError: (text) => tell(io, usageMessage(text, command)),
        getOutHelpWidth: () => widthOf(io.stdout),
        getErrHelpWidth: () => widthOf(io.stderr),
      })
  }
  // Each command finds its process among its options.
  program.hook('preAction', (_, command) => void command.setOptionValue('io', io))
  try {
    await program.parseAsync(untilUnknown(program, args), { from: 'user' })
  } catch (error) {
    const { exitCode, message } = failureOf(error)
    io.exitCode = exitCode
    if (message !== undefined) tell(io, message)
  }
}

/** Commander's message as one of ours, on one line. */
function usageMessage(text: string, command: Command): string {
  const message = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  return `${message}. See \`${pathOf(command)} --help\`.`
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

/** The arguments up to an unknown command: Commander would show the help of its group, as if it had been asked for. */
function untilUnknown(group: Command, args: readonly string[], at = 0): readonly string[] {
  const name = args[at]
  if (group.commands.length === 0 || name === undefined || name.startsWith('-') || name === 'help') return args
  const next = group.commands.find((command) => command.name() === name)
  return next === undefined ? args.slice(0, at + 1) : untilUnknown(next, args, at + 1)
}

/** Help is as wide as the terminal; elsewhere as wide as Commander's default. */
function widthOf({ isTTY, columns = USUAL_COLUMNS }: Output): number {
  return isTTY ? columns : USUAL_COLUMNS
}

/** Messages may quote stored text, such as the reason of a stop. Some span several lines, which stay. */
export function tell({ stderr }: Pick<Io, 'stderr'>, message: string): void {
  stderr.write(`gate-sidecar: ${visibleLines(message)}\n`)
}
