/** Parts of a pattern that mean something only as a whole: escapes, classes in brackets, and single signs. */
const PART = /\\Q.*?\\E|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?[A-Za-z-]*[:)]|\(\?P?<\w+>|./gs

/** The reason why a pattern matches nothing, or hardly what it seems to; undefined for any other. */
export function patternDoubt(pattern: string): string | undefined {
  if (/\(\?[a-zA-Z]*m/.test(pattern)) return undefined
  const parts = pattern.match(PART) ?? []
  for (const [i, part] of parts.entries()) {
    const [before, next] = [parts[i - 1], parts[i + 1]]
    if (part === '$' && isText(next)) return 'Nothing follows $, the end of the text. Write \\$ for a dollar sign.'
    if (part === '^' && isText(before))
      return 'Nothing comes before ^, the beginning of the text. Write \\^ for a caret.'
    if (part === '\\\\' && /^[dws]$/.test(next ?? '') && /^[+*?{]$/.test(parts[i + 2] ?? ''))
      return `\\\\${next} is a backslash and the letter ${next}. In single quotes and without quotes, write one backslash.`
  }
  return undefined
}

/** True for a part that stands for a character of the text. */
function isText(part: string | undefined): boolean {
  return part !== undefined && /^(?:[^|()^$*+?{}[\]\\]|\\[^bBAz]|\[.+\])$/s.test(part)
}
