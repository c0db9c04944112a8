/** Formats a count, as in `1 file`, `2 files`, for nouns with a plural in -s. */
export function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}
