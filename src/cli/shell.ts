/** The text as one shell word, quoted only where needed. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:-]+$/.test(text) ? text : singleQuoted(text)
}

/** The text in single quotes, where bash and zsh take every character but the quote literally. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
