/** `1 file`, `2 files`: for nouns whose plural ends so. */
export function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}
