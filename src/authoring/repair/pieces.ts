import { type Line, linesOf } from '../yaml/lines.ts'
import { originOf, type Source } from '../yaml/node.ts'

/** A part of a text that can be read alone: a key of the document, or an entry of its list or mapping. */
export interface Piece {
  readonly source: Source
  /** Length of the part of its text that replaces the lines above it. */
  readonly head: number
  /** Number of its characters that are guesses at the meaning of bytes. */
  readonly guesses: number
}

/**
 * Splits a document in block style by its indentation alone, so that a fault in one piece does not reach into the
 * next. One piece when there are several documents.
 */
export function piecesOf(whole: Source): Piece[] {
  if (/^(?:---|\.\.\.|%)/m.test(whole.text)) return [{ source: whole, head: 0, guesses: whole.guessed?.length ?? 0 }]
  const lines = linesOf(whole.text)
  const pieces: Piece[] = []
  let from = 0
  let head = ''
  const end = (to: number): void => {
    if (to > from) pieces.push(pieceOf(whole, from, to, head))
    from = to
  }
  let key: Line | undefined
  let entry: Line | undefined
  for (const line of lines) {
    if (line.isEmpty) continue
    if (isKey(line) && line.indent === 0) {
      end(line.start)
      head = ''
      key = line
      entry = undefined
    } else if (entry === undefined) {
      entry = key !== undefined && key.value === key.end ? line : undefined
      if (entry === undefined) key = undefined
    } else if (
      key !== undefined &&
      line.indent === entry.indent &&
      isItem(line) === isItem(entry) &&
      (isItem(line) || isKey(line))
    ) {
      end(line.start)
      head = `${whole.text.slice(key.start, key.end)}\n${' '.repeat(entry.indent)}${isItem(entry) ? '- ~' : '_: ~'}\n`
    }
  }
  end(whole.text.length)
  return pieces
}

function isItem({ dashes }: Line): boolean {
  return dashes.length > 0
}

function isKey({ key, dashes }: Line): boolean {
  return key !== undefined && !/^["']/.test(key) && dashes.length === 0
}

function pieceOf(whole: Source, from: number, to: number, head: string): Piece {
  const text = head + whole.text.slice(from, to)
  const origin = new Int32Array(text.length + 1)
  for (let i = 0; i <= text.length; i += 1) {
    origin[i] = originOf(whole, from + Math.max(0, i - head.length))
  }
  const inside = (offsets: readonly number[] = []): number[] =>
    offsets.filter((at) => from <= at && at < to).map((at) => at - from + head.length)
  const guessed = inside(whole.guessed)
  return {
    source: { ...whole, text, origin, guessed, gaps: inside(whole.gaps), isPartial: false },
    head: head.length,
    guesses: guessed.length,
  }
}

/** Joins pieces to a text, as they are now. */
export function joined(whole: Source, pieces: readonly Piece[]): Source {
  const texts: string[] = []
  const origins: number[] = []
  const guessed: number[] = []
  const gaps: number[] = []
  for (const { source, head } of pieces) {
    const shift = origins.length - head
    for (const at of source.guessed ?? []) guessed.push(at + shift)
    for (const at of source.gaps ?? []) gaps.push(at + shift)
    texts.push(source.text.slice(head))
    for (let i = head; i < source.text.length; i += 1) origins.push(originOf(source, i))
  }
  origins.push(originOf(whole, whole.text.length))
  // A piece that ends too early lacks content only at the end of the file.
  const isPartial =
    whole.isPartial === true || pieces.some((piece) => isCut(piece)) || pieces.at(-1)?.source.isPartial === true
  return { ...whole, text: texts.join(''), origin: Int32Array.from(origins), guessed, gaps, isPartial }
}

function isCut({ source, guesses }: Piece): boolean {
  return (source.gaps?.length ?? 0) > 0 || (source.guessed?.length ?? 0) > guesses
}
