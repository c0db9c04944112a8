/** Characters that combine with the one before and take no column. */
const NO_COLUMN = /[\p{M}\u1160-\u11ff]/gu

/** Characters that take two columns in a terminal. Each of the two letters of a flag counts as one. */
const TWO_COLUMNS =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/gu

/** Counts the terminal columns of a text without control characters. */
export function columnsOf(text: string): number {
  return Array.from(text.replace(NO_COLUMN, '').replace(TWO_COLUMNS, '  ')).length
}
