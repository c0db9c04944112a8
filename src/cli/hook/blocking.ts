import { sentence } from '../../gate/claude-code.ts'
import type { Io } from '../io.ts'

/** The one code by which a hook of Claude Code blocks a tool call, on every version of it. With any other the tool runs. */
const BLOCKED = 2

/** Signals that ask a process to stop; without a listener, each would end it with a code that does not block. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * From now on this process blocks, however it ends: by an error that nothing expected, a signal, a missing answer, or an exit code of other
 * commands. Only `allow` ends it otherwise.
 */
export function blockUnlessAllowed(): void {
  process.exitCode = BLOCKED
  process.on('exit', onlyBlocking)
  process.on('uncaughtException', blockByError)
  for (const signal of SIGNALS) process.on(signal, blockBySignal)
}

/** For what is no answer to a hook: it ends as other commands do. */
export function endAsOthers(io: Io): void {
  io.exitCode = 0
  process.off('exit', onlyBlocking)
  process.off('uncaughtException', blockByError)
  for (const signal of SIGNALS) process.off(signal, blockBySignal)
}

/** Ends the process, so that the call does not run; the model is told why. */
export function block(io: Io, reason: string): void {
  // A reader that is gone must not keep the process from ending.
  io.stderr.write(`gate-sidecar: ${sentence(reason)}\n`, () => io.exit(BLOCKED))
}

/** Ends the process, so that the call goes on, once `output` has been written. */
export function allow(io: Io, output: string): void {
  io.stdout.write(output, (error) => {
    if (error) block(io, `The answer could not be written: ${error.message}.`)
    else io.exit(0)
  })
}

function onlyBlocking(code: number): void {
  if (code !== 0) process.exitCode = BLOCKED
}

function blockByError(error: unknown): void {
  try {
    block(process, `The hook failed: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    process.exit(BLOCKED)
  }
}

function blockBySignal(signal: NodeJS.Signals): void {
  block(process, `The hook was stopped by ${signal} before there was an answer.`)
}
