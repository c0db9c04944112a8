import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './config.ts'

export type { Logger }

/** One JSON object a line on standard output. Headers and bodies are never logged, so no secret can be. */
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
 * Standard output, for as long as somebody has it. A terminal can be closed while the service runs; it then serves on and is heard no
 * more. Left alone, pino would end the process for that, and wait forever to write its last lines.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false })
  output.on('error', () => {
    output.write = () => true
    output.destroy()
  })
  return output
}
