import { codePointOf } from '../../base/visible.ts'

/** Letters of other alphabets, and signs of word processors, by the ASCII sign that they resemble. */
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

// Invisible marks: soft hyphens, marks of no width, and of the direction of writing.
const INVISIBLE = /^[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]$/
const ASCII = /^[ -~]*$/
const WORDS: Readonly<Record<string, string>> = { ' ': 'a space', '"': 'a straight quote', "'": 'a straight quote' }
const MAX_TEXT = 200
const MAX_NAMED = 3

/** The text in ASCII, when its other signs are all look-alikes or invisible; otherwise unchanged. */
export function inAscii(text: string): string {
  if (text.length > MAX_TEXT || ASCII.test(text)) return text
  const meant = [...text].map(meantSign).join('')
  return ASCII.test(meant) ? meant : text
}

/** Unicode normalization gives the plain form of full-width and styled signs. */
function meantSign(sign: string): string {
  if (INVISIBLE.test(sign)) return ''
  return MEANT.get(sign) ?? sign.normalize('NFKC')
}

/** A sentence that names the look-alikes and invisible signs of a text; empty when there are none. */
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
