/** A stretch of a text, with what takes its place. */
export interface Splice {
  start: number
  end: number
  text: string
}

/** The text with its splices, which do not overlap. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let from = 0
  let result = ''
  for (const { start, end, text: inPlace } of splices.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(from, start) + inPlace
    from = end
  }
  return result + text.slice(from)
}
