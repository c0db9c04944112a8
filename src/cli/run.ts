import { visibleLines } from '../base/visible.ts'
import { failureOf } from './failure.ts'
import type { Io, Output } from './io.ts'
import { allCommands, createProgram } from './program.ts'

const USUAL_COLUMNS = 80

/** Runs the command that the arguments name. How it ended is in `io.exitCode`, which stays unset for 0. */
export async function runProgram(args: readonly string[], io: Io): Promise<void> {
  const program = await createProgram(args[0])
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
  // Each command finds the process that it runs in among its options.
  program.hook('preAction', (_, command) => void command.setOptionValue('io', io))
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const { exitCode, message } = failureOf(error)
    io.exitCode = exitCode
    if (message !== undefined) tell(io, message)
  }
}

/** Help is as wide as a terminal; elsewhere as Commander has it. */
function widthOf({ isTTY, columns = USUAL_COLUMNS }: Output): number {
  return isTTY ? columns : USUAL_COLUMNS
}

/** A message may quote what was stored, such as the reason of a stop. Some have several lines, so those stay. */
export function tell({ stderr }: Pick<Io, 'stderr'>, message: string): void {
  stderr.write(`gate-sidecar: ${visibleLines(message)}\n`)
}
