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
  return destination === undefined ? pino(options) : pino(options, destination)
}
