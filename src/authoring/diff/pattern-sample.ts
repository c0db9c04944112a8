/** Most repetitions that a sample writes out. */
const MAX_REPEAT = 64

/**
 * A text that a pattern probably matches, made from its parts: literals, classes, groups, the first of alternatives, and
 * as few repetitions as are allowed. The caller tests it: undefined, or a text that does not match, for other patterns.
 */
export function sampleOf(pattern: string): string | undefined {
  const reader = { text: pattern.replace(/^\(\?[a-z]+\)/, ''), at: 0 }
  const sample = alternatives(reader)
  return reader.at === reader.text.length ? sample : undefined
}

interface Reader {
  readonly text: string
  at: number
}

function alternatives(reader: Reader): string {
  const first = sequence(reader)
  while (reader.text[reader.at] === '|') {
    reader.at += 1
    sequence(reader)
  }
  return first
}

function sequence(reader: Reader): string {
  let sample = ''
  while (reader.at < reader.text.length && !'|)'.includes(reader.text.charAt(reader.at))) {
    const piece = atom(reader)
    sample += piece.repeat(Math.min(MAX_REPEAT, leastOf(reader)))
  }
  return sample
}

/** The least number of repetitions that the quantifier at this place allows. */
function leastOf(reader: Reader): number {
  const [found, sign, least] = /^(?:([*+?])|\{(\d+)(?:,\d*)?\})\??/.exec(reader.text.slice(reader.at)) ?? []
  reader.at += found?.length ?? 0
  if (sign !== undefined) return sign === '+' ? 1 : 0
  return least === undefined ? 1 : Number(least)
}

function atom(reader: Reader): string {
  const rest = reader.text.slice(reader.at)
  const [group] = /^\((?:\?(?:P?<\w+>|[a-z]*:))?/.exec(rest) ?? []
  if (group !== undefined) {
    reader.at += group.length
    const inner = alternatives(reader)
    reader.at += 1
    return inner
  }
  const [set] = /^\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]/.exec(rest) ?? []
  if (set !== undefined) {
    reader.at += set.length
    return ofSet(set.slice(1, -1))
  }
  const [escaped] = /^\\(?:p\{\w+\}|.)/s.exec(rest) ?? []
  reader.at += escaped?.length ?? 1
  if (escaped !== undefined) return ofEscape(escaped)
  const sign = rest.charAt(0)
  if (sign === '^' || sign === '$') return ''
  return sign === '.' ? 'x' : sign
}

function ofEscape(escaped: string): string {
  if (/^\\[dD]/.test(escaped)) return escaped === '\\d' ? '0' : 'x'
  if (/^\\[wp]/.test(escaped)) return 'a'
  if (/^\\[sS]/.test(escaped)) return escaped === '\\s' ? ' ' : 'x'
  if (escaped === '\\W') return '-'
  return /^\\[bBAz]/.test(escaped) ? '' : escaped.slice(1)
}

/** A member of a class; of a negated one, something that it hardly names. */
function ofSet(inside: string): string {
  if (inside.startsWith('^')) return ['x', '0', '-', '~'].find((one) => !inside.includes(one)) ?? '~'
  const [first] = /^(?:\[:(\w+):\]|\\.|.)/s.exec(inside) ?? ['']
  if (first.startsWith('[:')) return first === '[:digit:]' ? '0' : 'a'
  return first.startsWith('\\') ? ofEscape(first) : first
}
