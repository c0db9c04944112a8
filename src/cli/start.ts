import { EXIT } from './context.ts'
import { blockUnlessAllowed } from './hook/blocking.ts'
import type { Commands } from './program.ts'
import { runProgram, tell } from './run.ts'

/** Runs the command of this process. @returns a promise that settles when the command has ended */
export function startProgram(commands: Commands): Promise<void> {
  const args = process.argv.slice(2)
  if (args[0] === 'hook') blockUnlessAllowed()

  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that closes early, such as `head`, has all it needs.
    if (error.code === 'EPIPE') process.exit()
    // Never 1, which means a negative result.
    tell(process, `stdout cannot be written: ${error.message}. The command may have taken effect.`)
    process.exit(EXIT.failed)
  })
  return runProgram(commands, args, process)
}
