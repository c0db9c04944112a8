import { decodeUtf8 } from '../../base/json.ts'

const BOM = '\ufeff'
/** More control characters mean a file of another kind, of which nothing is certain. */
export const MAX_CONTROLS = 20
/** Number of bytes that determine an encoding without BOM. */
const SAMPLE = 1000

export interface Decoded {
  /** The text without BOM; lines end with `\n` or `\r\n`. Bytes that are not UTF-8 are read as what they probably mean. */
  readonly text: string
  /** The fault when the bytes are not UTF-8. */
  readonly fault: EncodingFault | undefined
}

interface EncodingFault {
  /** The probable encoding, and advice. */
  readonly reason: string
  /** Place of the first byte that is not UTF-8; undefined when no byte is. */
  readonly place: { readonly offset: number; readonly line: number; readonly column: number } | undefined
  /** Offsets of the first characters that are guesses. */
  readonly guessed: readonly number[]
  /** False when the text means nothing at all. */
  readonly readable: boolean
}

/** Decodes the text of a file that should be UTF-8. */
export function decodeText(bytes: Uint8Array): Decoded {
  const wide = wideEncoding(bytes)
  if (wide !== undefined) return { text: plainLines(new TextDecoder(wide.label).decode(bytes)), fault: wide.fault }
  const text = utf8In(bytes)
  if (text !== undefined) return { text: plainLines(text), fault: undefined }
  const mixed = bytes.subarray(0, SAMPLE).includes(0) ? undefined : mixedText(bytes)
  if (mixed !== undefined && controlCharacters(mixed.text, MAX_CONTROLS + 1).length <= MAX_CONTROLS) return mixed
  return { text: '', fault: { reason: 'it is a binary file', place: undefined, guessed: [], readable: false } }
}

/** The text, with its BOM; undefined when some byte is not part of well-formed UTF-8. */
function utf8In(bytes: Uint8Array): string | undefined {
  try {
    return decodeUtf8(bytes)
  } catch {
    return undefined
  }
}

/** A lone carriage return ends a line too, as it does in YAML and did on the first Macintosh. */
function plainLines(text: string): string {
  const plain = text.startsWith(BOM) ? text.slice(BOM.length) : text
  return plain.replace(/\r(?!\n)/g, '\n')
}

function wideEncoding(bytes: Uint8Array): { label: string; fault: EncodingFault } | undefined {
  const found = (label: string, name: string, readable = true) => {
    const reason = `it is ${name}; save it as UTF-8, which editors offer as "encoding" when a file is saved`
    return { label, fault: { reason, place: undefined, guessed: [], readable } }
  }
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe) {
    return third === 0 && fourth === 0 ? found('utf-16le', 'UTF-32', false) : found('utf-16le', 'UTF-16')
  }
  if (first === 0xfe && second === 0xff) return found('utf-16be', 'UTF-16')
  const sample = bytes.subarray(0, SAMPLE - (SAMPLE % 2))
  if (!sample.includes(0)) return undefined
  const zeros = [0, 0]
  for (const [i, byte] of sample.entries()) if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (sample.length < 4 || Math.max(even, odd) < sample.length / 4 || Math.min(even, odd) > 0) return undefined
  return odd > even ? found('utf-16le', 'UTF-16 without a BOM') : found('utf-16be', 'UTF-16 without a BOM')
}

const MAX_GUESSED = 1000
const FIRST_MARK = /^\xef\xbb\xbf/
/** Well-formed characters of UTF-8, of bytes read as Latin-1 (Unicode 3.9, table 3-7); T is a byte that is not the first. */
const CHARACTERS = [
  '[^\x80-\xff]',
  '[\xc2-\xdf]T',
  '\xe0[\xa0-\xbf]T',
  '[\xe1-\xec\xee\xef]TT',
  '\xed[\x80-\x9f]T',
  '\xf0[\x90-\xbf]TT',
  '[\xf1-\xf3]TTT',
  '\xf4[\x80-\x8f]TT',
]
/** Some of them, as many as the stack of a pattern surely holds, or one byte that is part of none. */
const PIECE = new RegExp(`((?:${CHARACTERS.join('|').replaceAll('T', '[\x80-\xbf]')}){1,1000})|[^]`, 'g')

/** Decodes UTF-8, with every invalid byte read as Windows-1252. */
function mixedText(bytes: Uint8Array): Decoded {
  const windows = new TextDecoder('windows-1252')
  const guessed: number[] = []
  let odd: string | undefined
  let mixed = ''
  for (const [piece, sound] of Buffer.from(bytes).toString('latin1').replace(FIRST_MARK, '').matchAll(PIECE)) {
    const written = Buffer.from(piece, 'latin1')
    if (sound === undefined && guessed.length < MAX_GUESSED) guessed.push(mixed.length)
    if (sound === undefined) odd ??= piece
    mixed += sound === undefined ? windows.decode(written) : decodeUtf8(written)
  }
  const text = plainLines(mixed)
  const [offset = 0] = guessed
  const before = text.slice(0, offset)
  const place = { offset, line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
  const hex = odd?.charCodeAt(0).toString(16).toUpperCase()
  const letter = JSON.stringify(text.charAt(offset))
  const reason = `the byte 0x${hex} is ${letter} in Windows-1252 (Latin-1); save it as UTF-8`
  return { text, fault: { reason, place, guessed, readable: true } }
}

const CONTROL = /\p{Cc}/gu
/**
 * Control characters that a text may hold: tab and line breaks, and those beyond ASCII, which are letters in some old
 * encodings.
 */
const ALLOWED = /[\t\n\v\f\r\u007f-\u009f]/

/** The offsets of the first control characters. */
export function controlCharacters(text: string, limit: number): number[] {
  const found: number[] = []
  for (const { 0: char, index } of text.matchAll(CONTROL)) {
    if (found.length >= limit) break
    if (!ALLOWED.test(char)) found.push(index)
  }
  return found
}

/** The text with a space in place of each control character that it may not hold. */
export function blanked(text: string): string {
  return text.replace(CONTROL, (char) => (ALLOWED.test(char) ? char : ' '))
}
