import { type DestinationStream, type LoggerOptions, type Logger as PinoLogger, pino } from 'pino'
import { limitRepeats } from './log-limit.ts'
import type { LogLevel } from './settings.ts'

/** Receives each line of the log, as JSON. */
export type LogOutput = DestinationStream

export interface Logger extends Pick<PinoLogger, 'info' | 'warn' | 'error'> {
  /** Writes how often repeated lines were left out; for a process that ends. */
  tellLeftOut(): void
}

const WARN = 40

/**
 * Logs one JSON object a line to stdout. Headers and bodies are never logged, so no secret can be.
 * A warning or error that repeats is written once a minute.
 */
export function createLogger(level: LogLevel, destination?: LogOutput): Logger {
  const repeats = limitRepeats()
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date(Date.now()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: ['key', 'secret', 'apiKey', 'headers'],
    hooks: {
      logMethod([fields, message], write, levelNumber) {
        if (levelNumber < WARN) return write.call(this, fields, message)
        repeats.write(levelNumber, Object(fields), String(message), (shown, text) => write.call(this, shown, text))
      },
    },
  } satisfies LoggerOptions
  const logger = pino(options, destination ?? standardOutput())
  return Object.assign(logger, { tellLeftOut: () => repeats.flush() })
}

/**
 * Standard output that may close: after its terminal is closed, the service runs on and its log is lost.
 * Left alone, pino would end the process for that, and wait forever to write its last lines.
 */
export function standardOutput(): LogOutput {
  const output = pino.destination({ dest: 1, sync: false })
  output.on('error', () => {
    output.write = () => true
    output.destroy()
  })
  return output
}
