import { COMMANDS } from './commands.ts'
import { startProgram } from './start.ts'

/** Settles when the command has ended. The hook's file is CommonJS, which has no top-level await. */
export const finished = startProgram(COMMANDS)
