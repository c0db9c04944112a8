import { codePointOf } from '../../base/visible.ts'

/** Parts of a pattern that mean something only as a whole: escapes, classes in brackets, and single signs. */
const PART = /\\Q.*?\\E|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?[A-Za-z-]*[:)]|\(\?P?<\w+>|./gs

/** The reason why a constant is probably not the one meant, and the one that is. */
export interface Doubt {
  readonly message: string
  readonly meant?: string | boolean | undefined
}

/**
 * The reason why a pattern matches nothing, or hardly what it seems to; undefined for any other.
 *
 * @param restrains true if requests are restrained that it matches
 */
export function patternDoubt(pattern: string, restrains: boolean): Doubt | undefined {
  return foreignDoubt(pattern) ?? signDoubt(pattern) ?? (restrains ? lineDoubt(pattern) : undefined)
}

/** Control characters of which double quotes make an escape, by the letter after its backslash. */
const ESCAPES: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\v': 'v', '\u0007': 'a' }
const CONTROL = /(?![\t\n\r])\p{Cc}/u
/** A literal of JavaScript, with flags that no path ends with. */
const LITERAL = /^\/(.+)\/(i|g|gi|ig|im|mi|is|si|gm|mg|gim|igm)$/s

/** Signs of the notation around the pattern, which became part of it. */
function foreignDoubt(pattern: string): Doubt | undefined {
  const [control] = CONTROL.exec(pattern) ?? []
  if (control !== undefined) {
    const letter = ESCAPES[control]
    const meant = letter === undefined ? undefined : pattern.replaceAll(control, `\\${letter}`)
    const how = letter === undefined ? '' : ` In double quotes, write \\\\${letter}.`
    return { message: `The pattern has the control character ${codePointOf(control)} in it.${how}`, meant }
  }
  if (/(?<!\\)\n$/.test(pattern)) {
    const message =
      'The line break at the end is part of the pattern. End the block with |- or >-, or use single quotes.'
    return { message, meant: pattern.trimEnd() }
  }
  const [, inside, flags = ''] = LITERAL.exec(pattern) ?? []
  if (inside === undefined) return undefined
  const kept = flags.replace('g', '')
  const message = 'The slashes and the flags after them are part of the pattern. Flags stand before it, as in (?i).'
  return { message, meant: kept === '' ? inside : `(?${kept})${inside}` }
}

/** Anchored signs of any kind, which end at a line break. */
const LINE = /^((?:\(\?[a-zA-Z]+\))?)(?:(?:\^|\\A)\.\*\??)?(.*?)(?:(?<!\\)\.\*\??(?:\$|\\z))?$/s

/** `^.*drop.*$`, which does not match a text with a line break before or after the word. */
function lineDoubt(pattern: string): Doubt | undefined {
  const [, flags = '', middle = ''] = LINE.exec(pattern) ?? []
  if (/[sm]/.test(flags) || middle === '' || flags + middle === pattern) return undefined
  const message = 'The . matches no line break, so one in the text evades the pattern. Leave .* and its anchor out.'
  return { message, meant: flags + middle }
}

/** Signs that mean something else where they stand. */
function signDoubt(pattern: string): Doubt | undefined {
  if (/\(\?[a-zA-Z]*m/.test(pattern)) return undefined
  const parts = pattern.match(PART) ?? []
  for (const [i, part] of parts.entries()) {
    const [before, next] = [parts[i - 1], parts[i + 1]]
    if (part === '$' && isText(next))
      return { message: 'Nothing follows $, the end of the text. Write \\$ for a dollar sign.' }
    if (part === '^' && isText(before))
      return { message: 'Nothing comes before ^, the beginning of the text. Write \\^ for a caret.' }
    if (part === '\\\\' && /^[dws]$/.test(next ?? '') && /^[+*?{]$/.test(parts[i + 2] ?? '')) {
      const how = 'In single quotes and without quotes, write one backslash.'
      return { message: `\\\\${next} is a backslash and the letter ${next}. ${how}` }
    }
  }
  return undefined
}

/** True for a part that stands for a character of the text. */
function isText(part: string | undefined): boolean {
  return part !== undefined && /^(?:[^|()^$*+?{}[\]\\]|\\[^bBAz]|\[.+\])$/s.test(part)
}
