import { codePointOf } from '../../base/visible.ts'

/** Letters of other alphabets, and signs of word processors, by what they look like. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'аα',
  c: 'с',
  d: 'ԁ',
  e: 'е',
  h: 'һ',
  i: 'іιı',
  j: 'ј',
  k: 'кκ',
  l: 'ӏ',
  o: 'оο',
  p: 'рρ',
  q: 'ԛ',
  s: 'ѕ',
  u: 'υ',
  v: 'ν',
  w: 'ԝ',
  x: 'х',
  y: 'у',
  A: 'АΑ',
  B: 'ВΒ',
  C: 'С',
  E: 'ЕΕ',
  H: 'НΗ',
  I: 'ІΙ',
  J: 'Ј',
  K: 'КΚ',
  M: 'МΜ',
  N: 'Ν',
  O: 'ОΟ',
  P: 'РΡ',
  S: 'Ѕ',
  T: 'ТΤ',
  X: 'ХΧ',
  Y: 'УΥ',
  Z: 'Ζ',
  '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
  '*': '\u2217\u204e',
  '"': '“”„‟',
  "'": '‘’‚‛',
}

const MEANT: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([sign, others]) => [...others].map((other): [string, string] => [other, sign])),
)

// Marks where a word may be broken, of no width, and of the direction of writing.
const INVISIBLE = /^[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]$/
const ASCII = /^[ -~]*$/
const WORDS: Readonly<Record<string, string>> = { ' ': 'a space', '"': 'a straight quote', "'": 'a straight quote' }
const MAX_TEXT = 200
const MAX_NAMED = 3

/** The text in ASCII, when all that keeps it from that are signs that look like others or cannot be seen; else as it is. */
export function inAscii(text: string): string {
  if (text.length > MAX_TEXT || ASCII.test(text)) return text
  const meant = [...text].map(meantSign).join('')
  return ASCII.test(meant) ? meant : text
}

/** Signs that are as wide as Chinese ones, or of another style, are what Unicode makes of them. */
function meantSign(sign: string): string {
  if (INVISIBLE.test(sign)) return ''
  return MEANT.get(sign) ?? sign.normalize('NFKC')
}

/** A sentence that names the signs of a text that look like others or cannot be seen; empty when there is none. */
export function lookAlikeHint(text: string): string {
  if (inAscii(text) === text) return ''
  const named = [...new Set(text)].filter((sign) => !ASCII.test(sign)).slice(0, MAX_NAMED)
  return ` In this text, ${named.map(lookOf).join(', and ')}.`
}

function lookOf(sign: string): string {
  const code = codePointOf(sign)
  const meant = meantSign(sign)
  if (meant === '') return `${code} cannot be seen`
  return `${code} only looks like ${WORDS[meant] ?? `"${meant}"`}`
}
