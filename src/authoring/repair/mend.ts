import { lineEndOf, originOf, type Source } from '../yaml/node.ts'
import { type Parsed, parseYaml } from '../yaml/parse.ts'
import { firstProblem, type Problem } from '../yaml/syntax.ts'
import { bracketRepairs } from './brackets.ts'
import { cuts, textBefore } from './cut.ts'
import { indentRepairs } from './indent.ts'
import { lineRepair } from './lines.ts'
import { joined, piecesOf } from './pieces.ts'
import { quoteRepairs } from './quotes.ts'
import { edited, MAX_LINE, type Mending, type Repair } from './repair.ts'
import { conflictRepair, fenceRepair, fullWidthRepair, oddSpaceRepair, tabRepair, templateRepair } from './text.ts'

interface ReadText {
  readonly source: Source
  readonly parsed: Parsed
}

/** A readable text, and the changes and omissions that made it so. */
export interface Mended extends ReadText {
  readonly mendings: readonly Mending[]
  /** Offset from which the text may be changed. */
  readonly head?: number | undefined
}

/** A text of another kind is not read in part: nothing about it is certain. */
const IS_POLICY = /^(?:apiVersion|tenant|rules|tests)\b/m
/** Reading a text again takes up to a second a megabyte, and much more where faults abound. */
const MAX_LENGTH = 128 * 1024
const MAX_FAULTS = 1000
/** Most text that is read again in all. */
const MAX_READ = 1024 * 1024

/** Most pieces with faults that are repaired. */
const MAX_PIECES = 100

/** The text with plain faults repaired and unreadable parts cut out. */
export function mendYaml(source: Source, parsed: Parsed): Mended {
  const first: Mended = { source, parsed, mendings: [] }
  if (source.text.length > MAX_LENGTH) return first
  const reader = createReader()
  const plain = withPlainText(first, reader)
  const isPolicy = IS_POLICY.test(source.text)
  return mendProblems(mendPieces(plain, reader, isPolicy), reader, isPolicy)
}

/** The text before the first problem, when it can be read. */
export function readBefore({ source, parsed }: ReadText): ReadText | undefined {
  const problem = firstProblem(parsed, source)
  if (problem === undefined || !IS_POLICY.test(source.text)) return undefined
  const before = textBefore(problem, source)
  const read = parseYaml(before)
  return firstProblem(read, before) === undefined && !read.inspection.tooDeep
    ? { source: before, parsed: read }
    : undefined
}

/** Repairs faults of lines and characters, wherever they stand. */
function withPlainText(first: Mended, reader: Reader): Mended {
  let mended = reader.after(first, templateRepair(first.source, first.parsed.inspection.templates)) ?? first
  for (const repair of [fenceRepair, conflictRepair, oddSpaceRepair, fullWidthRepair]) {
    mended = reader.withFewerFaults(mended, [repair(mended.source)]) ?? mended
  }
  const { source, parsed } = mended
  if (parsed.faults.length === 0) return mended
  const tabs = [2, 4, 8].map((width) => tabRepair(source, width))
  return reader.withFewerFaults(mended, tabs) ?? mended
}

/** Repairs each piece of the text by itself, which is less to read than the whole. */
function mendPieces(whole: Mended, reader: Reader, isPolicy: boolean): Mended {
  const problem = firstProblem(whole.parsed, whole.source)
  if (problem === undefined || isInLongLine(problem, whole.source)) return whole
  const mendings: Mending[] = []
  const pieces = piecesOf(whole.source)
  if (pieces.length < 2) return whole
  let count = 0
  const mended = pieces.map((piece) => {
    if (count >= MAX_PIECES) return piece
    const parsed = parseYaml(piece.source)
    const first: Mended = { source: piece.source, parsed, mendings: [], head: piece.head }
    if (parsed.inspection.tooDeep || firstProblem(parsed, piece.source) === undefined) return piece
    count += 1
    const next = mendProblems(first, reader, isPolicy)
    mendings.push(...next.mendings)
    return { ...piece, source: next.source }
  })
  if (mendings.length === 0) return whole
  const source = joined(whole.source, mended)
  const parsed = parseYaml(source)
  const result = { source, parsed, mendings: [...whole.mendings, ...mendings] }
  return parsed.inspection.tooDeep || reachOf(result) <= reachOf(whole) ? whole : result
}

function mendProblems(first: Mended, reader: Reader, isPolicy: boolean): Mended {
  let mended = first
  while (mended.parsed.faults.length <= MAX_FAULTS) {
    const next = nextMending(mended, reader, isPolicy)
    if (next === undefined) break
    mended = next
  }
  return mended
}

function nextMending(mended: Mended, reader: Reader, isPolicy: boolean): Mended | undefined {
  const { source, parsed } = mended
  const problem = firstProblem(parsed, source)
  if (problem === undefined) return undefined
  return (
    reader.withFewerFaults(mended, [lineRepair(mended, false), lineRepair(mended, true)]) ??
    reader.furthest(mended, problem, repairsOf(problem, source)) ??
    (isPolicy ? reader.firstBeyond(mended, problem, cuts(problem, source)) : undefined)
  )
}

function repairsOf(problem: Problem, source: Source): Repair[] {
  if (isInLongLine(problem, source)) return []
  return [...bracketRepairs(problem, source), ...quoteRepairs(problem, source), ...indentRepairs(problem, source)]
}

function isInLongLine({ place: { start } }: Problem, { text }: Source): boolean {
  return lineEndOf(text, start) - text.lastIndexOf('\n', start - 1) > MAX_LINE
}

type Reader = ReturnType<typeof createReader>

function createReader() {
  let read = 0
  /** The text after a repair; undefined when nothing is changed, or too much was read. */
  const after = (mended: Mended, { edits, mendings }: Repair): Mended | undefined => {
    read += mended.source.text.length
    if (edits.length === 0 || edits.some(({ start }) => start < (mended.head ?? 0)) || read > MAX_READ) return undefined
    const source = edited(mended.source, edits)
    const parsed = parseYaml(source)
    return parsed.inspection.tooDeep
      ? undefined
      : { ...mended, source, parsed, mendings: [...mended.mendings, ...mendings] }
  }
  return {
    after,
    /** The text after the repair that leaves the fewest faults of syntax; undefined when none reduces them. */
    withFewerFaults(mended: Mended, repairs: readonly Repair[]): Mended | undefined {
      const weight = ({ parsed }: Mended): number => parsed.faults.length
      const [best] = repairs.flatMap((one) => after(mended, one) ?? []).sort((a, b) => weight(a) - weight(b))
      return best !== undefined && weight(best) < weight(mended) ? best : undefined
    },
    /** The text after the repair that makes the most of it readable, at least beyond the line of the problem. */
    furthest(mended: Mended, problem: Problem, repairs: readonly Repair[]): Mended | undefined {
      const end = originOf(mended.source, lineEndOf(mended.source.text, problem.place.start))
      const [best] = repairs
        .flatMap((one) => after(mended, one) ?? [])
        .map((one) => ({ one, reach: reachOf(one) }))
        .filter(({ reach }) => reach > end)
        .sort((a, b) => compare(b.reach, a.reach) || a.one.mendings.length - b.one.mendings.length)
      return best?.one
    },
    /** The text after the first repair that makes it readable beyond the effect of the problem. */
    firstBeyond(mended: Mended, problem: Problem, repairs: readonly Repair[]): Mended | undefined {
      const end = originOf(mended.source, problem.effectEnd)
      for (const repair of repairs) {
        const next = after(mended, repair)
        if (next !== undefined && reachOf(next) >= end) return next
      }
      return undefined
    },
  }
}

/** Offset in the file up to which the text can be read. */
function reachOf({ source, parsed }: Mended): number {
  const problem = firstProblem(parsed, source)
  return problem === undefined ? Number.POSITIVE_INFINITY : originOf(source, problem.place.start)
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b
}
