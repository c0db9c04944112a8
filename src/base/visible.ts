/** Control and format characters and line separators: an agent's text must not steer a terminal or mislead a reader. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes as `\u{…}` each character that a terminal would not show, line breaks too: a line stays one. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/** Escapes like `visible`, but keeps line breaks. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}

/** Prints JSON on one line. Characters that would steer a terminal become JSON escapes, so the value stays the same. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** True when a reader sees every character. */
export function isVisible(text: string): boolean {
  return visible(text) === text
}

/** Makes foreign text one line of at most `max` visible characters. */
export function oneLine(text: string, max: number): string {
  const line = Array.from(visible(text.replace(/\s+/g, ' ').trim()))
  return line.length > max ? `${line.slice(0, max - 1).join('')}…` : line.join('')
}

/** The first character of a text as Unicode names it: `U+00A0`. */
export function codePointOf(text: string): string {
  return `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
