import { visibleLines } from '../base/visible.ts'
import { EXIT } from './context.ts'
import { failureOf } from './failure.ts'
import { blockUnlessAllowed } from './hook/blocking.ts'
import { allCommands, createProgram } from './program.ts'

if (process.argv[2] === 'hook') blockUnlessAllowed()

const program = await createProgram(process.argv[2])
for (const command of allCommands(program)) command.exitOverride().showSuggestionAfterError()

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Who reads only the beginning, such as `head`, has what it wanted.
  if (error.code === 'EPIPE') process.exit()
  // Not 1, which would be read as an answer.
  tell(`Standard output cannot be written: ${error.message}. What the command was to do may be done.`)
  process.exit(EXIT.failed)
})

try {
  await program.parseAsync()
} catch (error) {
  const { exitCode, message } = failureOf(error)
  process.exitCode = exitCode
  if (message !== undefined) tell(message)
}

/** A message may quote what was stored, such as the reason of a stop. Some have several lines, so those stay. */
function tell(message: string): void {
  process.stderr.write(`gate-sidecar: ${visibleLines(message)}\n`)
}
