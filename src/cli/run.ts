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
        getOutHelpWidth: () => widthOf(io.stdout),
        getErrHelpWidth: () => widthOf(io.stderr),
      })
  }
  // Each command finds its process among its options.
  program.hook('preAction', (_, command) => void command.setOptionValue('io', io))
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const { exitCode, message } = failureOf(error)
    io.exitCode = exitCode
    if (message !== undefined) tell(io, message)
  }
}

/** Help is as wide as the terminal; elsewhere as wide as Commander's default. */
function widthOf({ isTTY, columns = USUAL_COLUMNS }: Output): number {
  return isTTY ? columns : USUAL_COLUMNS
}

/** Messages may quote stored text, such as the reason of a stop. Some span several lines, which stay. */
export function tell({ stderr }: Pick<Io, 'stderr'>, message: string): void {
  stderr.write(`gate-sidecar: ${visibleLines(message)}\n`)
}
