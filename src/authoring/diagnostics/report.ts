import { partitionPoint } from '../../base/partition-point.ts'
import { shortened } from '../../base/shortened.ts'
import { LIMITS } from '../load/limits.ts'
import { firstOf } from '../suggest/closest.ts'
import { lookAlikeHint } from '../suggest/look-alikes.ts'
import { type Suggestion, written } from '../suggest/written.ts'
import { lineEndOf, originOf, type Place, positionOf } from '../yaml/node.ts'
import { DIAGNOSTICS, type DiagnosticCode } from './codes.ts'
import { compareDiagnostics, type Diagnostic } from './diagnostics.ts'

/** Collects the faults of one load. */
export interface Report {
  /**
   * Adds a fault. Returns undefined, which is what a reader answers that can read no further.
   *
   * @param suggestion the replacement that was probably meant for the text at `place`
   */
  add(code: DiagnosticCode, place: Place, message: string, suggestion?: Suggestion | undefined): undefined
  /** Suppresses further faults at this place: they follow from a fault that is reported elsewhere. */
  silence(place: Place): void
  /**
   * Result of `find` among names that the set declares, such as the one that a misspelt word means. The author
   * decides how many names and searches there are, so undefined once LIMITS.namesSearched were searched.
   */
  search<T>(names: Iterable<string>, find: (names: readonly string[]) => T): T | undefined
  /** Number of errors added. */
  count(): number
  /** True when an error was added. */
  failed(): boolean
  /** Places of the errors added, those too that are not shown: they tell parts that were read without fault from others. */
  readonly errors: {
    /** True when an error begins inside the place, or is about the same part of the document. */
    within(place: Place): boolean
    /** True when the text could not be read as it stands, and may say something else than was read. */
    isGuessed(file: string): boolean
  }
  /** In the order of compareDiagnostics, none twice. */
  diagnostics(): readonly Diagnostic[]
}

export function createReport(): Report {
  const byIdentity = new Map<string, Diagnostic>()
  const counts = { error: 0, warning: 0 }
  const errors = createErrorPlaces()
  // Places whose text could not be read as it stands: further faults there would follow from that.
  const unreadable = new Set<string>()
  const keep = (diagnostic: Diagnostic): undefined => {
    const { file, line, column, code, message, severity } = diagnostic
    const identity = `${file}\0${line}\0${column}\0${code}\0${message}`
    if (!byIdentity.has(identity)) counts[severity] += 1
    byIdentity.set(identity, diagnostic)
  }
  let searched = 0
  return {
    search(names, find) {
      const first = firstOf(names)
      searched += first.length
      return searched > LIMITS.namesSearched ? undefined : find(first)
    },
    silence: (place) => void unreadable.add(spotOf(place)),
    add(code, place, message, suggestion) {
      const { severity } = DIAGNOSTICS[code]
      if (severity === 'error') errors.note(code, place)
      if (counts[severity] > LIMITS.diagnostics) return
      const spot = spotOf(place)
      if (code.startsWith('GATE10')) unreadable.add(spot)
      else if (unreadable.has(spot) || isGuess(place)) return
      // Faults of the syntax name the characters themselves.
      const hint = code.startsWith('GATE10') ? '' : lookAlikeHint(wordAt(place))
      if (counts[severity] < LIMITS.diagnostics) return keep(diagnosticAt(code, place, message + hint, suggestion))
      const more = severity === 'error' ? 'GATE1019' : 'GATE2010'
      keep(diagnosticAt(more, place, `More than ${LIMITS.diagnostics} ${severity}s; the rest is left out.`, undefined))
    },
    count: () => counts.error,
    failed: () => counts.error > 0,
    errors,
    diagnostics: () => [...byIdentity.values()].sort(compareDiagnostics),
  }
}

/** True for a text of one line in which some character is a guess. */
function isGuess({ source, start, end }: Place): boolean {
  const isInside = source.guessed?.some((at) => start <= at && at < end) === true
  return isInside && !source.text.slice(start, end).includes('\n')
}

/** The text at a place, when it is one word. */
function wordAt({ source, start, end }: Place): string {
  const text = source.text.slice(start, Math.min(end, start + 200))
  return /[ \n{}[\]]/.test(text) ? '' : text
}

function spotOf({ source, start }: Place): string {
  return `${source.file}\0${originOf(source, start)}`
}

function diagnosticAt(
  code: DiagnosticCode,
  place: Place,
  message: string,
  suggestion: Suggestion | undefined,
): Diagnostic {
  const { source, start } = place
  const { line, column } = positionOf(source, start)
  const end = start + extentOf(place)
  const last = positionOf(source, end)
  // Where lines were left out, one line of the text may be several of the file.
  const endColumn = last.line === line ? last.column : column
  // A suggestion replaces the marked text only; it cannot replace text that goes on beyond the line.
  const isWhole = endColumn > column && /^[ \t\r\n]*$/.test(source.text.slice(end, place.end))
  return {
    file: source.file,
    line,
    column,
    ...(endColumn > column ? { endColumn } : {}),
    severity: DIAGNOSTICS[code].severity,
    code,
    message: shortened(message, LIMITS.message),
    path: shortened(place.path, LIMITS.path),
    suggestion: (isWhole && suggestion !== undefined ? written(suggestion, source.file) : undefined) ?? null,
  }
}

/** Length of a place on its first line, without trailing spaces. */
function extentOf({ source, start, end }: Place): number {
  const text = source.text.slice(start, Math.min(end, lineEndOf(source.text, start)))
  // Other spaces are letters to YAML.
  return text.trim() === '' ? text.length : text.replace(/[ \t\r]+$/, '').length
}

/** Faults of the text itself, after which its parts may not be what they seem. */
const OF_TEXT: ReadonlySet<DiagnosticCode> = new Set([
  'GATE1001',
  'GATE1002',
  'GATE1003',
  'GATE1004',
  'GATE1005',
  'GATE1006',
  'GATE1014',
])

function createErrorPlaces() {
  const starts = new Map<string, number[]>()
  const unsorted = new Set<string>()
  const paths = new Set<string>()
  const guessed = new Set<string>()
  return {
    note(code: DiagnosticCode, { source: { file }, path, start }: Place): void {
      if (OF_TEXT.has(code)) guessed.add(file)
      if (path !== '') paths.add(`${file}\0${path}`)
      const known = starts.get(file)
      if (known === undefined) starts.set(file, [start])
      else known.push(start)
      unsorted.add(file)
    },
    within({ source: { file }, path, start, end }: Place): boolean {
      if (paths.has(`${file}\0${path}`)) return true
      const known = starts.get(file) ?? []
      if (unsorted.delete(file)) known.sort((a, b) => a - b)
      const next = known[partitionPoint(known.length, (i) => (known[i] ?? 0) < start)]
      return next !== undefined && next < end
    },
    isGuessed: (file: string): boolean => guessed.has(file),
  }
}
