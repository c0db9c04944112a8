import { CST, Lexer } from 'yaml'
import { type Place, placeAt, type Source } from './node.ts'

/** The comments of a YAML text, in order, from `#` to the end of the line. */
export function commentsOf(source: Source): Place[] {
  const comments: Place[] = []
  let at = 0
  let isContent = false
  for (const lexeme of new Lexer().lex(source.text)) {
    // The lexer puts marks between the pieces of the text; what follows the mark of a scalar is its text.
    const kind: ReturnType<typeof CST.tokenType> | 'content' = isContent ? 'content' : CST.tokenType(lexeme)
    isContent = kind === 'scalar'
    if (kind === 'scalar' || kind === 'doc-mode' || kind === 'flow-error-end') continue
    if (kind === 'comment') comments.push(placeAt(source, at, at + lexeme.length))
    at += lexeme.length
  }
  return comments
}
