import { DIAGNOSTICS, type DiagnosticCode } from './codes.ts'
import { compareDiagnostics, type Diagnostic } from './diagnostics.ts'
import { LIMITS } from './limits.ts'
import { type Place, positionOf } from './node.ts'

/** Collects the faults of one load. */
export interface Report {
  add(code: DiagnosticCode, place: Place, message: string, suggestion?: string | undefined): void
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
    add(code, place, message, suggestion) {
      const { severity } = DIAGNOSTICS[code]
      if (counts[severity] > LIMITS.diagnostics) return
      const spot = `${place.source.file}\0${place.start}`
      if (code.startsWith('GATE10')) unreadable.add(spot)
      else if (unreadable.has(spot)) return
      if (counts[severity] < LIMITS.diagnostics) return keep(diagnosticAt(code, place, message, suggestion))
      const more = severity === 'error' ? 'GATE1019' : 'GATE2010'
      keep(diagnosticAt(more, place, `More than ${LIMITS.diagnostics} ${severity}s; the rest is left out.`, undefined))
    },
    failed: () => counts.error > 0,
    diagnostics: () => [...byIdentity.values()].sort(compareDiagnostics),
  }
}

function diagnosticAt(code: DiagnosticCode, place: Place, message: string, suggestion: string | undefined): Diagnostic {
  const { line, column } = positionOf(place.source, place.start)
  const endColumn = column + extentOf(place)
  return {
    file: place.source.file,
    line,
    column,
    ...(endColumn > column ? { endColumn } : {}),
    severity: DIAGNOSTICS[code].severity,
    code,
    message,
    path: place.path,
    suggestion: suggestion ?? null,
  }
}

/** How much of a place is on the line where it begins, spaces behind it aside. */
function extentOf({ source, start, end }: Place): number {
  const lineEnd = source.text.indexOf('\n', start)
  const text = source.text.slice(start, lineEnd < 0 ? end : Math.min(end, lineEnd))
  return text.trim() === '' ? text.length : text.trimEnd().length
}
