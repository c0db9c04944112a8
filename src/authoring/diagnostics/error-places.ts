import { partitionPoint } from '../../base/partition-point.ts'
import type { Place } from '../yaml/node.ts'
import type { DiagnosticCode } from './codes.ts'

/** Places of errors, to tell parts that were read without fault from others. */
export interface ErrorPlaces {
  readonly note: (code: DiagnosticCode, place: Place) => void
  /** True when an error begins inside the place, or is about the same part of the document. */
  readonly within: (place: Place) => boolean
  /** True when the text could not be read as it stands, and may say something else than was read. */
  readonly isGuessed: (file: string) => boolean
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

export function createErrorPlaces(): ErrorPlaces {
  const offsets = new Map<string, { sorted: boolean; starts: number[] }>()
  const paths = new Set<string>()
  const guessed = new Set<string>()
  const startsIn = (file: string): readonly number[] => {
    const known = offsets.get(file)
    if (known === undefined) return []
    if (!known.sorted) known.starts.sort((a, b) => a - b)
    known.sorted = true
    return known.starts
  }
  return {
    note(code, { source: { file }, path, start }) {
      if (OF_TEXT.has(code)) guessed.add(file)
      if (path !== '') paths.add(`${file}\0${path}`)
      const known = offsets.get(file)
      if (known === undefined) offsets.set(file, { sorted: true, starts: [start] })
      else {
        known.starts.push(start)
        known.sorted = false
      }
    },
    within({ source: { file }, path, start, end }) {
      if (paths.has(`${file}\0${path}`)) return true
      const starts = startsIn(file)
      const next = starts[partitionPoint(starts.length, (i) => (starts[i] ?? 0) < start)]
      return next !== undefined && next < end
    },
    isGuessed: (file) => guessed.has(file),
  }
}
