/** Parsed JSON from a person: the value, or the first fault and its position. */
export type ReadJson = { value: unknown } | { fault: string; index: number }

/** Depth limit of the service. */
const MAX_DEPTH = 64
const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS = Object.entries({ true: true, false: false, null: null })

class Fault extends Error {
  readonly index: number

  constructor(message: string, index: number) {
    super(message)
    this.index = index
  }
}

/** Parses RFC 8259 as strictly as the service: no repeated name, no number that would lose precision. */
export function readJson(text: string): ReadJson {
  try {
    return { value: new Reader(text).whole() }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { fault: error.message, index: error.index }
  }
}

/** `Line 3, column 5`, both from 1. */
export function placeText(text: string, index: number): string {
  const before = text.slice(0, index)
  return `Line ${before.split('\n').length}, column ${index - before.lastIndexOf('\n')}`
}

class Reader {
  private at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  whole(): unknown {
    const value = this.value(0)
    if (this.peek() !== '') throw new Fault('nothing may follow the value', this.at)
    return value
  }

  private value(depth: number): unknown {
    const first = this.peek()
    if (depth > MAX_DEPTH) throw new Fault(`it is nested deeper than ${MAX_DEPTH}`, this.at)
    if (first === '{') return this.object(depth + 1)
    if (first === '[') return this.list(depth + 1)
    if (first === '"') return this.string()
    const number = this.take(NUMBER)
    if (number !== '') return numberOf(number, this.at - number.length)
    const word = WORDS.find(([name]) => this.text.startsWith(name, this.at))
    if (word === undefined) throw new Fault('a value is expected', this.at)
    this.at += word[0].length
    return word[1]
  }

  private object(depth: number): unknown {
    const members = new Map<string, unknown>()
    this.each('}', () => {
      if (this.peek() !== '"') throw new Fault('a name in double quotes is expected', this.at)
      const start = this.at
      const name = this.string()
      if (members.has(name)) throw new Fault('this name appears twice', start)
      if (this.peek() !== ':') throw new Fault('a colon is expected', this.at)
      this.at += 1
      members.set(name, this.value(depth))
    })
    return Object.fromEntries(members)
  }

  private list(depth: number): unknown {
    const items: unknown[] = []
    this.each(']', () => items.push(this.value(depth)))
    return items
  }

  /** Items up to `end`, separated by commas. */
  private each(end: string, item: () => void): void {
    this.at += 1
    if (this.peek() !== end) item()
    while (this.peek() === ',') {
      this.at += 1
      if (this.peek() === end) throw new Fault('another item is expected after the comma', this.at)
      item()
    }
    if (this.peek() !== end) throw new Fault(`a comma or ${end} is expected`, this.at)
    this.at += 1
  }

  private string(): string {
    const start = this.at
    let end = start + 1
    while (this.text.charAt(end) !== '"') {
      if (end >= this.text.length || this.text.charAt(end) < ' ')
        throw new Fault('this text has no closing quote on its line', start)
      end += this.text.charAt(end) === '\\' ? 2 : 1
    }
    this.at = end + 1
    try {
      return String(JSON.parse(this.text.slice(start, end + 1)))
    } catch {
      throw new Fault('this text has a wrong escape', start)
    }
  }

  /** The next character after white space; empty at the end. */
  private peek(): string {
    this.take(SPACE)
    return this.text.charAt(this.at)
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found = ''] = pattern.exec(this.text) ?? []
    this.at += found.length
    return found
  }
}

/** Rejects numbers that JavaScript would change, so that the written and the sent number agree. */
function numberOf(text: string, index: number): number {
  const number = Number(text)
  if (!Number.isFinite(number)) throw new Fault('this number is too large', index)
  if (Number.isInteger(number) && !Number.isSafeInteger(number))
    throw new Fault('this number is too large to be exact: write it as a string', index)
  return number
}
