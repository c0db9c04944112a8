import type { LogOutput } from '../../service/log.ts'
import { paint, rendered } from '../output.ts'

/** Length of `2026-11-27T`, which a terminal need not show. */
const DATE_LENGTH = 11
const STYLES = { warn: 'yellow', error: 'red', fatal: 'red' } as const

/** A log on a terminal, which may wait for what is shown before it. */
export interface TerminalLog extends LogOutput {
  /** Writes the lines that wait, and from now on each line at once. */
  release(): void
}

/** Writes each line of the JSON log for people: time, level, message, then the other fields. */
export function terminalLog(output: LogOutput, isHeld: boolean): TerminalLog {
  let held: string[] | undefined = isHeld ? [] : undefined
  const write = (json: string): void => output.write(`${lineOf(json)}\n`)
  return {
    write: (json) => void (held === undefined ? write(json) : held.push(json)),
    release() {
      const lines = held ?? []
      held = undefined
      lines.forEach(write)
    },
  }
}

function lineOf(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json)
  const style = STYLES[level as keyof typeof STYLES] ?? 'cyan'
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${textOf(value)}`)
  const parts = [paint('dim', time.slice(DATE_LENGTH)), ' ', paint(style, level.padEnd(5)), ` ${msg}`]
  return rendered(shown.length === 0 ? parts : [...parts, '  ', paint('dim', shown.join(' '))], process.stdout)
}

function textOf(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}
