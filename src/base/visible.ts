/** Control characters and those that change the direction of text: what an agent sends must not steer a terminal or a reader. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The text with every character that a terminal would not show as `\u{…}`. Line breaks are escaped too: a line stays one. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/** The same of a text of several lines, which stay. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}

/** One line of JSON. What would steer a terminal is escaped as JSON escapes it, so that the value stays the same. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Whether every character is one that a reader sees. */
export function isVisible(text: string): boolean {
  return visible(text) === text
}

/** Foreign text as one line of at most `max` characters, all of them visible. */
export function oneLine(text: string, max: number): string {
  const line = Array.from(visible(text.replace(/\s+/g, ' ').trim()))
  return line.length > max ? `${line.slice(0, max - 1).join('')}…` : line.join('')
}

/** The first character of a text as Unicode names it: `U+00A0`. */
export function codePointOf(text: string): string {
  return `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
