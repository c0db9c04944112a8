import { DIAGNOSTICS, type DiagnosticCode } from './codes.ts'
import { compareDiagnostics, type Diagnostic } from './diagnostics.ts'
import { LIMITS } from './limits.ts'
import { type Place, positionOf } from './node.ts'
import { type Suggestion, written } from './written.ts'

/** Collects the faults of one load. */
export interface Report {
  /** @param suggestion What was probably meant in place of the text at `place`. */
  add(code: DiagnosticCode, place: Place, message: string, suggestion?: Suggestion | undefined): void
  /** Nothing more is said about this place: whatever is wrong there follows from a fault that is reported elsewhere. */
  silence(place: Place): void
  /** How many errors were added. */
  count(): number
  /** True when an error was added. */
  failed(): boolean
  /** In the order of compareDiagnostics, none twice. */
  diagnostics(): readonly Diagnostic[]
}

export function createReport(): Report {
  const byIdentity = new Map<string, Diagnostic>()
  const counts = { error: 0, warning: 0 }
  // Where a text could not be taken as it stands: what else would be said there follows from that.
  const unreadable = new Set<string>()
  const keep = (diagnostic: Diagnostic): void => {
    const { file, line, column, code, message, severity } = diagnostic
    const identity = `${file}\0${line}\0${column}\0${code}\0${message}`
    if (!byIdentity.has(identity)) counts[severity] += 1
    byIdentity.set(identity, diagnostic)
  }
  return {
    silence: (place) => void unreadable.add(spotOf(place)),
    add(code, place, message, suggestion) {
      const { severity } = DIAGNOSTICS[code]
      if (counts[severity] > LIMITS.diagnostics) return
      const spot = spotOf(place)
      if (code.startsWith('GATE10')) unreadable.add(spot)
      else if (unreadable.has(spot) || isGuess(place)) return
      if (counts[severity] < LIMITS.diagnostics) return keep(diagnosticAt(code, place, message, suggestion))
      const more = severity === 'error' ? 'GATE1019' : 'GATE2010'
      keep(diagnosticAt(more, place, `More than ${LIMITS.diagnostics} ${severity}s; the rest is left out.`, undefined))
    },
    count: () => counts.error,
    failed: () => counts.error > 0,
    diagnostics: () => [...byIdentity.values()].sort(compareDiagnostics),
  }
}

/** True for a text of one line of which some character is not certain. */
function isGuess({ source, start, end }: Place): boolean {
  const isInside = source.guessed?.some((at) => start <= at && at < end) === true
  return isInside && !source.text.slice(start, end).includes('\n')
}

function spotOf({ source, start }: Place): string {
  return `${source.file}\0${start}`
}

function diagnosticAt(
  code: DiagnosticCode,
  place: Place,
  message: string,
  suggestion: Suggestion | undefined,
): Diagnostic {
  const { source, start } = place
  const { line, column } = positionOf(source, start)
  const end = positionOf(source, endOf(place))
  const marked = end.line === line && end.column > column
  return {
    file: source.file,
    line,
    column,
    ...(marked ? { endColumn: end.column } : {}),
    severity: DIAGNOSTICS[code].severity,
    code,
    message,
    path: place.path,
    // Without an end on its line there is no text that it could be written in place of.
    suggestion: (marked && suggestion !== undefined ? written(suggestion, source.file) : undefined) ?? null,
  }
}

/** A block of YAML ends where the next begins; what is marked ends with its last character. */
function endOf({ source, start, end }: Place): number {
  let last = Math.min(end, source.text.length)
  while (last > start && /[ \t\r\n]/.test(source.text[last - 1] ?? '')) last -= 1
  return Math.max(start, last)
}
