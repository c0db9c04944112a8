import { sentence } from '../../gate/claude-code.ts'
import type { Io } from '../io.ts'

/** The only exit code that makes every version of Claude Code block a tool call. With any other the tool runs. */
const BLOCKED = 2

/** Signals that request a stop; without a listener, each ends the process with a code that does not block. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Makes this process block from now on, however it ends: by an unexpected error, a signal, a missing answer,
 * or an exit code of other commands. Only `allow` ends it otherwise.
 */
export function blockUnlessAllowed(): void {
  process.exitCode = BLOCKED
  process.on('exit', onlyBlocking)
  process.on('uncaughtException', blockByError)
  for (const signal of SIGNALS) process.on(signal, blockBySignal)
}

/** Restores the usual exit codes, for runs that do not answer a hook. */
export function endAsOthers(io: Io): void {
  io.exitCode = 0
  process.off('exit', onlyBlocking)
  process.off('uncaughtException', blockByError)
  for (const signal of SIGNALS) process.off(signal, blockBySignal)
}

/** Ends the process and blocks the call; the model sees the reason. */
export function block(io: Io, reason: string): void {
  // A closed reader must not keep the process from ending.
  io.stderr.write(`gate-sidecar: ${sentence(reason)}\n`, () => io.exit(BLOCKED))
}

/** Ends the process once `output` is written, so that the call goes on. */
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
  block(process, `The hook was stopped by ${signal} before it had an answer.`)
}
