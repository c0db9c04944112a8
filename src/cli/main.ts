import { EXIT } from './context.ts'
import { blockUnlessAllowed } from './hook/blocking.ts'
import { runProgram, tell } from './run.ts'

const args = process.argv.slice(2)
if (args[0] === 'hook') blockUnlessAllowed()

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes early, such as `head`, has all it needs.
  if (error.code === 'EPIPE') process.exit()
  // Never 1, which means a negative result.
  tell(process, `Standard output cannot be written: ${error.message}. What the command was to do may be done.`)
  process.exit(EXIT.failed)
})

/** Settles when the command has ended. The hook's file is CommonJS, which has no top-level await. */
export const finished = runProgram(args, process)
