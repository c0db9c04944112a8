import { isExact } from './decimal.ts'
import { GateError } from './errors.ts'

/** Result of strict parsing. Objects have no prototype, so `constructor` and `toJSON` are plain data. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

export interface JsonLimits {
  /** Levels of nesting; a scalar has depth 0. */
  maxDepth: number
  /** Number of values, lists and objects included: each takes memory, however few bytes it is written in. */
  maxValues?: number
  /** Takes a number with more digits than a double keeps for that double, as evidence does (docs/evidence.md, Notation). */
  rounds?: boolean
  /**
   * Accepts values that all readers agree on but that lose precision, in a text that is passed on unchanged: lone
   * surrogates, and numbers as doubles. Called with the text of a number that JavaScript writes differently.
   */
  onInexact?(token: string): void
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const PLAIN = /[ !#-[\]-\uffff]*/y
/** Characters without escapes after which PLAIN is the faster way to the end of their run. */
const SHORT = 32
const HEX4 = /^[0-9a-fA-F]{4}$/
const LITERALS: Record<string, Json> = { true: true, false: false, null: null }
const ESCAPED = '"\\/bfnrt'

/**
 * Parses RFC 8259 JSON, refusing what parsers read differently or lose (RFC 7493, I-JSON): bytes that
 * are not UTF-8, a BOM, duplicate keys, the key `__proto__`, lone surrogates, integers outside
 * ±(2^53−1), numbers that overflow or have more digits than a double keeps, nesting beyond `maxDepth`, more than `maxValues`, anything after the value.
 *
 * @throws GateError `invalid_json`, naming the offset in UTF-16 units.
 */
export function parseJson(input: Uint8Array | string, limits: JsonLimits): Json {
  const parser = new Parser(typeof input === 'string' ? input : decodeUtf8(input), limits)
  return parser.document()
}

/** Parses like parseJson; undefined for input that it refuses. */
export function readJson(input: Uint8Array | string, limits: JsonLimits): Json | undefined {
  try {
    return parseJson(input, limits)
  } catch (error) {
    if (error instanceof GateError) return undefined
    throw error
  }
}

/** Parses text that this service wrote, without the limits on outside input; undefined when it is no longer JSON. */
export function storedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @throws GateError `invalid_json` when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new GateError('invalid_json', 'The text is not valid UTF-8.', { cause })
  }
}

class Parser {
  private at = 0
  private readonly text: string
  private readonly maxDepth: number
  private valuesLeft: number
  private readonly rounds: boolean
  private readonly onInexact: JsonLimits['onInexact']

  constructor(text: string, { maxDepth, maxValues = Number.POSITIVE_INFINITY, rounds = false, onInexact }: JsonLimits) {
    this.text = text
    this.maxDepth = maxDepth
    this.valuesLeft = maxValues
    this.rounds = rounds
    this.onInexact = onInexact
  }

  document(): Json {
    if (this.text.startsWith('\ufeff')) this.fail('The text begins with a byte order mark')
    const value = this.value(0)
    this.space()
    if (this.at < this.text.length) this.fail('Unexpected text after the JSON value')
    return value
  }

  private value(depth: number): Json {
    this.space()
    this.valuesLeft -= 1
    if (this.valuesLeft < 0) this.fail('The text has too many values')
    const first = this.text[this.at]
    if (first === '{') return this.object(depth + 1)
    if (first === '[') return this.array(depth + 1)
    if (first === '"') return this.string()
    if (first === '-' || (first !== undefined && first >= '0' && first <= '9')) return this.number()
    return this.literal()
  }

  private object(depth: number): JsonObject {
    this.enter(depth)
    // V8 keeps objects of Object.create(null) as tables, which cost twice as much.
    const object: JsonObject = Object.setPrototypeOf({}, null)
    if (this.closes('}')) return object
    for (;;) {
      this.space()
      if (this.text[this.at] !== '"') this.fail('Expected a string as key')
      const keyAt = this.at
      const key = this.string()
      if (key === '__proto__') this.fail('The key "__proto__" is not allowed', keyAt)
      if (key in object) this.fail(`Duplicate key ${JSON.stringify(key.slice(0, 64))}`, keyAt)
      this.space()
      if (this.text[this.at++] !== ':') this.fail('Expected ":" after the key', this.at - 1)
      object[key] = this.value(depth)
      if (this.closes('}')) return object
      this.comma()
    }
  }

  private array(depth: number): Json[] {
    this.enter(depth)
    const items: Json[] = []
    if (this.closes(']')) return items
    for (;;) {
      items.push(this.value(depth))
      if (this.closes(']')) return items
      this.comma()
    }
  }

  private string(): string {
    const start = ++this.at
    let escaped = false
    let plain = 0
    for (;;) {
      if (plain === SHORT) {
        PLAIN.lastIndex = this.at
        PLAIN.test(this.text)
        this.at = PLAIN.lastIndex
      }
      const code = this.text.charCodeAt(this.at)
      if (Number.isNaN(code)) this.fail('The string does not end')
      if (code < 0x20) this.fail('Control characters in strings must be escaped')
      if (code === 0x22) break
      if (code === 0x5c) {
        escaped = true
        this.at += 1
        plain = 0
      }
      this.at += 1
      plain += 1
    }
    const raw = this.text.slice(start, this.at)
    this.at += 1
    const value = escaped ? this.unescape(raw, start) : raw
    if (this.onInexact === undefined && !value.isWellFormed()) this.fail('The string has a lone surrogate', start)
    return value
  }

  /** JSON.parse is fast on megabytes of escapes; where it refuses, the fault is looked for. */
  private unescape(raw: string, start: number): string {
    try {
      return JSON.parse(`"${raw}"`)
    } catch {
      return this.failAtEscape(raw, start)
    }
  }

  private failAtEscape(raw: string, start: number): never {
    let at = raw.indexOf('\\')
    for (; at >= 0; at = raw.indexOf('\\', at + 2)) {
      const letter = raw[at + 1] ?? ''
      if (letter === 'u' && !HEX4.test(raw.slice(at + 2, at + 6)))
        this.fail('Expected four hexadecimal digits after \\u', start + at + 1)
      if (letter !== 'u' && !ESCAPED.includes(letter)) break
    }
    return this.fail('Unknown escape sequence', start + at + 1)
  }

  private number(): number {
    const start = this.at
    NUMBER.lastIndex = start
    const token = NUMBER.exec(this.text)?.[0]
    if (token === undefined) this.fail('Malformed number')
    const value = Number(token)
    this.at += token.length
    if (this.onInexact !== undefined) {
      if (String(value) !== token) this.onInexact(token)
      return value
    }
    if (!Number.isFinite(value)) this.fail('The number is too large', start)
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      this.fail('The integer is outside ±(2^53−1) and would lose digits; send it as a string', start)
    }
    if (!this.rounds && !isExact(token)) this.fail('The number would lose digits; send it as a string', start)
    return value
  }

  private literal(): Json {
    for (const [word, value] of Object.entries(LITERALS)) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length
        return value
      }
    }
    return this.fail(this.at < this.text.length ? 'Unexpected character' : 'Unexpected end of the JSON text')
  }

  private enter(depth: number): void {
    if (depth > this.maxDepth) this.fail(`Nesting deeper than ${this.maxDepth} levels`)
    this.at += 1
  }

  private closes(bracket: '}' | ']'): boolean {
    this.space()
    if (this.text[this.at] !== bracket) return false
    this.at += 1
    return true
  }

  private comma(): void {
    if (this.text[this.at] !== ',') this.fail('Expected "," or the closing bracket')
    this.at += 1
  }

  private space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.at += 1
    }
  }

  private fail(what: string, at = this.at): never {
    throw new GateError('invalid_json', `${what} (at offset ${at}).`)
  }
}
