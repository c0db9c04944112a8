import type { YAMLError } from 'yaml'
import type { Source } from './node.ts'
import type { Parsed } from './parse.ts'

/** Faults after which the rest is readable all the same. */
const HARMLESS = new Set(['BAD_DQ_ESCAPE', 'BAD_SCALAR_START'])

export function isHarmless({ code }: YAMLError): boolean {
  return HARMLESS.has(code)
}

/** Offset of the first bracket or quote that is not closed: nothing after it is certain. */
export function unclosedAt(
  { faults, inspection }: Pick<Parsed, 'faults' | 'inspection'>,
  source: Source,
): number | undefined {
  const first = faults.find((fault) => !isHarmless(fault))
  if (first === undefined) return undefined
  const { openBracket, openQuote, longQuotes } = inspection
  const open = openQuote ?? openBracket
  // A quote that swallows apparent keys is the one that is not closed.
  const swallowing = longQuotes.find(({ start, end }) => {
    const isBefore = open !== undefined || start <= first.pos[1]
    return isBefore && /\n\s*(?:- |[\w.-]+:\s)/.test(source.text.slice(start, end))
  })
  return (
    swallowing?.start ??
    (isOnLineOf(openBracket, openQuote, source)
      ? openQuote
      : least(openBracket === undefined ? undefined : mismatched(openBracket, source), openQuote))
  )
}

/** True when the open quote is on the bracket's line, and so swallows the closing bracket. */
function isOnLineOf(bracket: number | undefined, quote: number | undefined, { text }: Source): boolean {
  return bracket !== undefined && quote !== undefined && !text.slice(bracket, quote).includes('\n')
}

/** The bracket opened on a line that one of another kind closes; the first bracket when there is none. */
function mismatched(first: number, { text }: Source): number {
  const open: number[] = []
  const line = text.slice(first).split('\n', 1)[0] ?? ''
  for (const { 0: mark, index } of line.matchAll(/"(?:[^"\\]|\\.)*"|'[^']*'|[[\]{}]/g)) {
    if (mark === '[' || mark === '{') open.push(index)
    if (mark !== ']' && mark !== '}') continue
    const top = open.pop()
    if (top !== undefined && line[top] !== (mark === ']' ? '[' : '{')) return first + top
  }
  return first
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}
