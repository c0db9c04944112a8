import { visible } from './visible.ts'

/** Text of others between backticks, which it cannot leave, nor the cell of a table. */
export function codeSpan(text: string): string {
  return `\`${visible(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``
}
