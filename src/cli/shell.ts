/** The text as a shell takes it for one word: as it is when it cannot mean anything else. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:-]+$/.test(text) ? text : singleQuoted(text)
}

/** In single quotes, between which bash and zsh read everything but the quote itself as it is. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
