/** True when the typed text is the phrase. Phones capitalize the first letter and append a space. */
export function isPhrase(typed: string, phrase: string): boolean {
  return plain(typed) === plain(phrase)
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase()
}
