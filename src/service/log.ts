import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './config.ts'

export type { Logger }

/** Logs one JSON object a line to standard output. Headers and bodies are never logged, so no secret can be. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date(Date.now()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: ['key', 'secret', 'apiKey', 'headers'],
  }
  return pino(options, destination ?? standardOutput())
}

/**
 * Standard output that may close: after its terminal is closed, the service runs on and its log is lost.
 * Left alone, pino would end the process for that, and wait forever to write its last lines.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false })
  output.on('error', () => {
    output.write = () => true
    output.destroy()
  })
  return output
}
