/** True when what was typed to confirm is the phrase: phones begin with a capital letter and end with a space of their own. */
export function isPhrase(typed: string, phrase: string): boolean {
  return plain(typed) === plain(phrase)
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase()
}
