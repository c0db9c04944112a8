// Crockford base32, lower case: sorts like the bytes, no look-alike letters.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
export const ID_RANDOM_BYTES = 10

/** Prefix of each kind of id; it tells a reader what the id names. */
export const ID_PREFIX = {
  decision: 'dec',
  approval: 'apr',
  entry: 'aud',
  bundle: 'bun',
  key: 'key',
  killSwitch: 'ksw',
  request: 'req',
  session: 'ses',
  replay: 'rpl',
} as const

export type IdKind = keyof typeof ID_PREFIX

/** Makes ids; composed once with the process's clock and randomness. */
export type NewId = (kind: IdKind) => string

/** Table of the two digits for each ten bits: every request makes ids, and shifting digit by digit costs more. */
const DIGIT_PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`)

/**
 * A time-ordered id: prefix, `_`, then 26 base32 digits of 48 bits of time and 80 random bits (the
 * layout of a ULID). Ids of later milliseconds sort after earlier ones.
 */
export function makeId(kind: IdKind, timeMs: number, random: Uint8Array): string {
  if (random.byteLength !== ID_RANDOM_BYTES) throw new TypeError(`an id needs ${ID_RANDOM_BYTES} random bytes`)
  let text = `${ID_PREFIX[kind]}_`
  for (let shift = 40; shift >= 0; shift -= 10) text += DIGIT_PAIRS[Math.floor(timeMs / 2 ** shift) % 1024]
  for (let bits = 0, held = 0, i = 0; i < ID_RANDOM_BYTES; i += 1) {
    bits = ((bits << 8) | (random[i] ?? 0)) & 0x3ffff
    held += 8
    if (held < 10) continue
    held -= 10
    text += DIGIT_PAIRS[(bits >> held) & 1023]
  }
  return text
}

const TIME_BYTES = 6
export const ID_BYTES = TIME_BYTES + ID_RANDOM_BYTES

/** The id of these bytes. @param bytes 16: time in ms, big endian, then the random ones */
export function idOf(kind: IdKind, bytes: Uint8Array): string {
  let timeMs = 0
  for (let i = 0; i < TIME_BYTES; i += 1) timeMs = timeMs * 256 + (bytes[i] ?? 0)
  return makeId(kind, timeMs, bytes.subarray(TIME_BYTES))
}

/** The 16 bytes of an id; undefined for a text that `idOf` makes of no bytes. */
export function idBytes(text: string, kind: IdKind): Uint8Array | undefined {
  // Digits are 130 bits, of which the first two are zero.
  if (!isId(text, kind) || text.charAt(4) > '7') return undefined
  const bytes = new Uint8Array(ID_BYTES)
  for (let bits = 0, held = -2, at = 0, i = 4; i < text.length; i += 1) {
    bits = ((bits << 5) | ALPHABET.indexOf(text.charAt(i))) & 0x1fff
    held += 5
    if (held < 8) continue
    held -= 8
    bytes[at++] = bits >> held
  }
  return bytes
}

/** Ids from a clock (ms since 1970) and a source of random bytes. */
export function idMaker(clock: () => number, random: (bytes: number) => Uint8Array): NewId {
  return (kind) => makeId(kind, clock(), random(ID_RANDOM_BYTES))
}

/** The same id under another prefix: the audit entry of decision `dec_X` is `aud_X`. */
export function siblingId(id: string, kind: IdKind): string {
  return `${ID_PREFIX[kind]}${id.slice(id.indexOf('_'))}`
}

/** Creation time of the id, in ms since 1970. @param id an id that isId accepts */
export function idTimeMs(id: string): number {
  const digits = id.slice(id.indexOf('_') + 1)
  // Ten digits are 50 bits, of which the first two are always zero.
  return Array.from(digits.slice(0, 10)).reduce((ms, digit) => ms * 32 + ALPHABET.indexOf(digit), 0)
}

const ID = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/

export function isId(text: string, kind: IdKind): boolean {
  return ID.test(text) && text.startsWith(`${ID_PREFIX[kind]}_`)
}
