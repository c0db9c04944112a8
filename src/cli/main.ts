import { failureOf } from './failure.ts'
import { allCommands, createProgram } from './program.ts'

const program = createProgram()
for (const command of allCommands(program)) command.exitOverride().showSuggestionAfterError()

// Who reads only the beginning, such as `head`, has what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  await program.parseAsync()
} catch (error) {
  const { exitCode, message } = failureOf(error)
  process.exitCode = exitCode
  if (message !== undefined) process.stderr.write(`gate-sidecar: ${message}\n`)
}
