import { EXIT } from './context.ts'
import { blockUnlessAllowed } from './hook/blocking.ts'
import { runProgram, tell } from './run.ts'

const args = process.argv.slice(2)
if (args[0] === 'hook') blockUnlessAllowed()

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Who reads only the beginning, such as `head`, has what it wanted.
  if (error.code === 'EPIPE') process.exit()
  // Not 1, which would be read as an answer.
  tell(process, `Standard output cannot be written: ${error.message}. What the command was to do may be done.`)
  process.exit(EXIT.failed)
})

await runProgram(args, process)
