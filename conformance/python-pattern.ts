/**
 * Patterns as Python's `re` reads them (3.11, texts and not bytes), in parts that a writer for another engine can go through.
 */
export type Pattern =
  | { readonly kind: 'any' | 'all'; readonly of: readonly Pattern[] }
  | { readonly kind: 'group'; readonly of: Pattern; readonly caseless: boolean }
  | { readonly kind: 'repeat'; readonly of: Pattern; readonly min: number; readonly max: number | undefined }
  | { readonly kind: 'set'; readonly negated: boolean; readonly items: readonly SetItem[]; readonly flags: Flags }
  | { readonly kind: 'dot'; readonly flags: Flags }
  | { readonly kind: 'edge'; readonly edge: Edge; readonly flags: Flags }

/** Code points from one to another, or a class: d, w or s, or the opposite D, W or S. */
export type SetItem = { readonly from: number; readonly to: number } | { readonly class: string }

/** `b` and `B` are word boundaries, the others the ends of a text, or of a line where `multiline` is set. */
export type Edge = '^' | '$' | 'A' | 'Z' | 'b' | 'B'

export interface Flags {
  readonly caseless: boolean
  readonly multiline: boolean
  readonly dotAll: boolean
  readonly verbose: boolean
  readonly ascii: boolean
}

/** What Python does not compile: using the pattern raises an error there. */
export class NotPython extends Error {}
/** What Python has and RE2 does not. */
export class NotRe2 extends Error {}

const NO_FLAGS: Flags = { caseless: false, multiline: false, dotAll: false, verbose: false, ascii: false }
const FLAG: Readonly<Record<string, keyof Flags | undefined>> = {
  i: 'caseless',
  m: 'multiline',
  s: 'dotAll',
  x: 'verbose',
  a: 'ascii',
}
const CONTROL: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }
const MAX_CODE = 0x10ffff

/** @throws NotPython, NotRe2 */
export function parsePython(pattern: string): Pattern {
  return new Parser(pattern).whole()
}

class Parser {
  private readonly text: readonly string[]
  private at = 0
  private groups = 0
  private readonly names = new Set<string>()

  constructor(pattern: string) {
    this.text = Array.from(pattern)
  }

  whole(): Pattern {
    const flags = this.globalFlags()
    const of = this.alternatives(flags)
    if (this.at < this.text.length) throw new NotPython('a parenthesis is closed that was not opened')
    return { kind: 'group', of, caseless: flags.caseless }
  }

  private peek(text: string): boolean {
    return Array.from(text).every((character, i) => this.text[this.at + i] === character)
  }

  private take(text: string): boolean {
    if (!this.peek(text)) return false
    this.at += Array.from(text).length
    return true
  }

  /** The characters up to an end, which is passed. */
  private until(end: string): string {
    const found = this.text.indexOf(end, this.at)
    if (found < 0) throw new NotPython(`${end} is missing`)
    const text = this.text.slice(this.at, found).join('')
    this.at = found + 1
    return text
  }

  /** The flags of `(?ims)`, which may only stand first. */
  private globalFlags(): Flags {
    let flags = NO_FLAGS
    for (;;) {
      const found = /^\(\?([aiLmsux]+)\)/.exec(this.text.slice(this.at, this.at + 20).join(''))
      if (found === null) return flags
      this.at += found[0].length
      flags = withFlags(flags, found[1] ?? '', true)
    }
  }

  private alternatives(flags: Flags): Pattern {
    const branches = [this.sequence(flags)]
    while (this.take('|')) branches.push(this.sequence(flags))
    const [only] = branches
    return branches.length === 1 && only !== undefined ? only : { kind: 'any', of: branches }
  }

  private sequence(flags: Flags): Pattern {
    const parts: Pattern[] = []
    while (this.at < this.text.length && !this.peek('|') && !this.peek(')')) {
      if (flags.verbose && this.skipVerbose()) continue
      if (this.take('(?#')) {
        this.until(')')
        continue
      }
      const repeated = this.quantifier()
      if (repeated === undefined) parts.push(this.atom(flags))
      else parts.push(repeat(parts.pop(), repeated))
    }
    return { kind: 'all', of: parts }
  }

  private skipVerbose(): boolean {
    if (this.take('#')) {
      const end = this.text.indexOf('\n', this.at)
      this.at = end < 0 ? this.text.length : end + 1
      return true
    }
    if (!/^[ \t\n\r\v\f]$/.test(this.text[this.at] ?? '')) return false
    this.at++
    return true
  }

  private quantifier(): { min: number; max: number | undefined } | undefined {
    const bounds = this.bounds()
    if (bounds === undefined) return undefined
    if (this.take('+')) throw new NotRe2('RE2 has no possessive repetition')
    // The shortest match is a match.
    this.take('?')
    return bounds
  }

  private bounds(): { min: number; max: number | undefined } | undefined {
    if (this.take('*')) return { min: 0, max: undefined }
    if (this.take('+')) return { min: 1, max: undefined }
    if (this.take('?')) return { min: 0, max: 1 }
    // What is not of this form is plain text.
    const counted = /^\{(?!\})(\d*)(,?)(\d*)\}/.exec(this.text.slice(this.at, this.at + 30).join(''))
    if (counted === null) return undefined
    const [written, from = '', comma, to = ''] = counted
    this.at += written.length
    const min = Number(from)
    const max = comma === '' ? min : to === '' ? undefined : Number(to)
    if (max !== undefined && max < min) throw new NotPython('a repetition has its bounds in the wrong order')
    return { min, max }
  }

  private atom(flags: Flags): Pattern {
    if (this.take('(')) return this.group(flags)
    if (this.take('[')) return this.set(flags)
    if (this.take('\\')) return this.escape(flags)
    const character = this.text[this.at++] ?? ''
    if (character === '.') return { kind: 'dot', flags }
    if (character === '^' || character === '$') return { kind: 'edge', edge: character, flags }
    return literal(character.codePointAt(0) ?? 0, flags)
  }

  private group(flags: Flags): Pattern {
    const inner = this.groupFlags(flags)
    const of = this.alternatives(inner)
    if (!this.take(')')) throw new NotPython('a parenthesis is not closed')
    return { kind: 'group', of, caseless: inner.caseless }
  }

  /** Passes what stands after the opening parenthesis. */
  private groupFlags(flags: Flags): Flags {
    if (!this.take('?')) {
      this.groups++
      return flags
    }
    if (this.take(':')) return flags
    if (this.take('P<')) {
      this.groups++
      const name = this.until('>')
      if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) || this.names.has(name))
        throw new NotPython(`a group is called ${name}`)
      this.names.add(name)
      return flags
    }
    if (this.peek('P=')) throw new NotRe2('RE2 has no references to earlier groups')
    if (['=', '!', '<=', '<!'].some((sign) => this.peek(sign))) throw new NotRe2('RE2 does not look ahead or behind')
    if (this.peek('>')) throw new NotRe2('RE2 has no atomic groups')
    if (this.peek('(')) throw new NotRe2('RE2 has no conditional groups')
    const found = /^([aiLmsux]*)(?:-([imsx]+))?:/.exec(this.text.slice(this.at, this.at + 20).join(''))
    if (found === null || found[0] === ':')
      throw new NotPython('a group begins with an unknown sign, or flags stand after the start')
    this.at += found[0].length
    return withFlags(withFlags(flags, found[1] ?? '', true), found[2] ?? '', false)
  }

  private escape(flags: Flags): Pattern {
    const letter = this.text[this.at]
    if (letter === undefined) throw new NotPython('the pattern ends with a backslash')
    if (letter === 'A' || letter === 'Z' || letter === 'b' || letter === 'B') {
      this.at++
      return { kind: 'edge', edge: letter, flags }
    }
    if (/^[1-9]$/.test(letter) && !/^[1-3][0-7][0-7]$/.test(this.text.slice(this.at, this.at + 3).join(''))) {
      const number = Number(/^\d\d?/.exec(this.text.slice(this.at, this.at + 2).join(''))?.[0])
      if (number > this.groups) throw new NotPython(`there is no group ${number}`)
      throw new NotRe2('RE2 has no references to earlier groups')
    }
    return { kind: 'set', negated: false, items: [this.escaped()], flags }
  }

  /** What a backslash and the next characters stand for, in a set or outside. */
  private escaped(): SetItem {
    const letter = this.text[this.at++] ?? ''
    if (/^[dDsSwW]$/.test(letter)) return { class: letter }
    const digits = HEX_DIGITS[letter]
    if (digits !== undefined) return this.hexadecimal(digits)
    if (/^[0-7]$/.test(letter)) return this.octal()
    if (letter === 'N') throw new NotRe2('names of characters are not translated')
    const code = CONTROL[letter] ?? (/^[A-Za-z0-9]?$/.test(letter) ? undefined : letter.codePointAt(0))
    if (code === undefined) throw new NotPython(`there is no escape \\${letter}`)
    return { from: code, to: code }
  }

  private hexadecimal(digits: number): SetItem {
    const text = this.text.slice(this.at, this.at + digits).join('')
    const code = /^[0-9A-Fa-f]+$/.test(text) && text.length === digits ? Number.parseInt(text, 16) : Number.NaN
    if (!(code <= MAX_CODE)) throw new NotPython('an escape by number is malformed')
    this.at += digits
    return { from: code, to: code }
  }

  private octal(): SetItem {
    const text = /^[0-7]{1,3}/.exec(this.text.slice(this.at - 1, this.at + 2).join(''))?.[0] ?? ''
    const code = Number.parseInt(text, 8)
    if (code > 0o377) throw new NotPython('an octal escape is beyond \\377')
    this.at += text.length - 1
    return { from: code, to: code }
  }

  private set(flags: Flags): Pattern {
    const negated = this.take('^')
    const items: SetItem[] = []
    while (items.length === 0 || !this.take(']')) items.push(this.setRange())
    return { kind: 'set', negated, items, flags }
  }

  private setRange(): SetItem {
    const first = this.setItem()
    if (!this.peek('-') || this.text[this.at + 1] === ']') return first
    this.at++
    const last = this.setItem()
    if ('class' in first || 'class' in last || last.from < first.from)
      throw new NotPython('a range of characters is malformed')
    return { from: first.from, to: last.from }
  }

  private setItem(): SetItem {
    const character = this.text[this.at++]
    if (character === undefined) throw new NotPython('a set of characters is not closed')
    if (character === '\\') return this.escaped()
    const code = character.codePointAt(0) ?? 0
    return { from: code, to: code }
  }
}

function withFlags(flags: Flags, letters: string, value: boolean): Flags {
  if (letters.includes('L') || (letters.includes('a') && letters.includes('u'))) {
    throw new NotPython('the flag L is for bytes, and a and u exclude each other')
  }
  const changed = Array.from(letters).flatMap((letter) => FLAG[letter] ?? [])
  const set = { ...flags, ...Object.fromEntries(changed.map((name) => [name, value])) }
  return letters.includes('u') ? { ...set, ascii: false } : set
}

function literal(code: number, flags: Flags): Pattern {
  return { kind: 'set', negated: false, items: [{ from: code, to: code }], flags }
}

function repeat(of: Pattern | undefined, bounds: { min: number; max: number | undefined }): Pattern {
  if (of === undefined || of.kind === 'edge') throw new NotPython('there is nothing to repeat')
  if (of.kind === 'repeat') throw new NotPython('a repetition is repeated')
  return { kind: 'repeat', of, ...bounds }
}
