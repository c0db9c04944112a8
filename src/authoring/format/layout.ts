import { Lexer } from 'yaml'
import { partitionPoint } from '../../base/partition-point.ts'
import { positionOf, type Source } from '../yaml/node.ts'

/** A comment of a YAML text, from its `#` to the end of its line without the spaces there. */
export interface Comment {
  readonly start: number
  readonly text: string
  /** True when nothing stands before it on its line. */
  readonly ownLine: boolean
  /** Characters before it on its line. */
  readonly column: number
}

/** Positions that the nodes of a document lack: those of comments, dashes of lists and empty lines. */
export interface Layout {
  readonly source: Source
  /** In the order of the text. */
  readonly comments: readonly Comment[]
  /** Offsets of the dashes that begin the items of lists, in the order of the text. */
  readonly dashes: readonly number[]
  /** Offset of the first character of each line that is not a space. */
  readonly firsts: readonly number[]
}

/** Marks of the lexer itself, which are not part of the text. */
const SCALAR_FOLLOWS = '\x1f'
const NO_TEXT = ['\x02', '\x18', SCALAR_FOLLOWS]

export function layoutOf(source: Source): Layout {
  const firsts = source.lineStarts.map((start) => firstAfter(source.text, start))
  const comments: Comment[] = []
  const dashes: number[] = []
  for (const { start, lexeme } of lexemesOf(source.text)) {
    if (lexeme === '-') dashes.push(start)
    if (!lexeme.startsWith('#')) continue
    const { line, column } = positionOf(source, start)
    comments.push({ start, text: lexeme.trimEnd(), ownLine: firsts[line - 1] === start, column: column - 1 })
  }
  return { source, comments, dashes, firsts }
}

/** The pieces of a YAML text other than scalars, such as comments and dashes, in order. */
export function* lexemesOf(text: string): Generator<{ start: number; lexeme: string }> {
  let start = 0
  let isScalar = false
  for (const lexeme of new Lexer().lex(text)) {
    if (!isScalar && NO_TEXT.includes(lexeme)) {
      isScalar = lexeme === SCALAR_FOLLOWS
      continue
    }
    if (!isScalar) yield { start, lexeme }
    isScalar = false
    start += lexeme.length
  }
}

function firstAfter(text: string, start: number): number {
  let at = start
  while (text[at] === ' ' || text[at] === '\t') at += 1
  return at
}

/** Characters before an offset on its line. */
export function columnOf({ source }: Layout, offset: number): number {
  return positionOf(source, offset).column - 1
}

/** True when the text at the offset begins a line, and the line before is empty. */
export function hasBlankBefore({ source, firsts }: Layout, offset: number): boolean {
  const line = positionOf(source, offset).line - 1
  const before = firsts[line - 1]
  return firsts[line] === offset && before !== undefined && source.text[before] === '\n'
}

/** The first dash at or after an offset; the offset itself when there is none. */
export function dashFrom({ dashes }: Layout, offset: number): number {
  return dashes[partitionPoint(dashes.length, (i) => (dashes[i] ?? 0) < offset)] ?? offset
}
