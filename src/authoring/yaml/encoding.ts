import { decodeUtf8 } from '../../base/json.ts'

const BOM = '\ufeff'
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
  const invalid = firstInvalid(bytes)
  if (invalid === undefined) return { text: plainLines(decodeUtf8(bytes)), fault: undefined }
  if (bytes.subarray(0, SAMPLE).includes(0)) {
    return { text: '', fault: { reason: 'it is a binary file', place: undefined, guessed: [], readable: false } }
  }
  const before = plainLines(decodeUtf8(bytes.subarray(0, invalid)))
  const line = before.split('\n').length
  const place = { offset: before.length, line, column: before.length - before.lastIndexOf('\n') }
  const { text, guessed } = mixedText(bytes)
  return { text, fault: { reason: byteReason(bytes, invalid), place, guessed, readable: true } }
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
  const zeros = [0, 0]
  for (const [i, byte] of sample.entries()) if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (sample.length < 4 || Math.max(even, odd) < sample.length / 4) return undefined
  if (Math.min(even, odd) > 0) return undefined
  return odd > even ? found('utf-16le', 'UTF-16 without a BOM') : found('utf-16be', 'UTF-16 without a BOM')
}

/** The offset of the first byte that is not part of well-formed UTF-8. */
function firstInvalid(bytes: Uint8Array): number | undefined {
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return undefined
}

/** Bytes of the character that begins here; 0 when none does (Unicode 3.9, table 3-7). */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4) return 0
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const second = bytes[at + 1] ?? 0
  if (second < low || second > high) return 0
  for (let i = 2; i < length; i += 1) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

const MAX_GUESSED = 1000

/** Decodes UTF-8, with every invalid byte read as Windows-1252. */
function mixedText(bytes: Uint8Array): { text: string; guessed: number[] } {
  const windows = new TextDecoder('windows-1252')
  const parts: string[] = []
  const guessed: number[] = []
  let length = 0
  let from = 0
  for (let at = 0; at < bytes.length; ) {
    const size = sequenceLength(bytes, at)
    if (size === 0) {
      const before = decodeUtf8(bytes.subarray(from, at))
      parts.push(from === 0 ? plainLines(before) : before, windows.decode(bytes.subarray(at, at + 1)))
      length += (parts.at(-2)?.length ?? 0) + 1
      if (guessed.length < MAX_GUESSED) guessed.push(length - 1)
      from = at + 1
    }
    at += size === 0 ? 1 : size
  }
  return { text: plainLines(parts.join('') + decodeUtf8(bytes.subarray(from))), guessed }
}

function byteReason(bytes: Uint8Array, at: number): string {
  const byte = bytes[at] ?? 0
  const letter = new TextDecoder('windows-1252').decode(bytes.subarray(at, at + 1))
  const hex = byte.toString(16).toUpperCase()
  return `the byte 0x${hex} is ${JSON.stringify(letter)} in Windows-1252 (Latin-1); save it as UTF-8`
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
