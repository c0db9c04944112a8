import { isPlainObject } from './objects.ts'
import { occursIn, sizeOf, Texts, unescaped } from './texts.ts'

/** First origin of a value. */
export type Origin = 'user' | 'tool' | 'third_party' | 'model' | 'const'

export interface Observation {
  /** True when only the user and their own systems can have written the result. */
  trusted: boolean
  /** Paths within a trusted result that others may have written, such as `messages.*.body`. */
  untrusted?: readonly string[]
}

/** Limit of the results' text that is kept for the search, in UTF-16 units. */
const MAX_READ = 16 * 1024 * 1024
/** Limit of the user's text, which each request sends whole: 1 MiB is accepted, and a unit can take 6 bytes. */
const MAX_SAID = 128 * 1024
/** Limit of the text searched for one check: more would block the process for too long. */
const MAX_SEARCHED = 64 * 1024 * 1024
/** Separator of the values of one result. */
const SEPARATOR = '\0'
/** Limit of the levels of JSON within JSON that are decoded. */
const MAX_NESTED = 4
/** Limit of a result's nesting. */
const MAX_DEPTH = 256

/**
 * Texts that an agent has read in a session, and their authors.
 *
 * - `isTainted` once others may have written any part of a result.
 * - The origin of a value is where it first occurs verbatim: `user` in the user's words, else `tool` or `third_party`
 *   by the first result that has it, else `model`. True, false, null and the empty text carry no information: `const`.
 *   Numbers are searched for in their written form.
 * - In a list or an object, each inner value counts.
 *
 * In a tainted session a value that is not found is `third_party` when some text that was read is unknown here, or when
 * the search was cut off.
 */
export class Provenance {
  readonly #said = new Texts<'user'>(MAX_SAID)
  readonly #read = new Texts<'tool' | 'third_party'>(MAX_READ)
  #isTainted = false
  /** True when the agent has read more than is kept or can be read here. */
  #isIncomplete = false

  constructor(userRequest: string) {
    this.userSays(userRequest)
  }

  get isTainted(): boolean {
    return this.#isTainted
  }

  get userRequest(): string {
    return Array.from(this.#said, ([text]) => text).join('\n\n')
  }

  /** Repeated text is kept once. */
  userSays(text: string): void {
    if (text !== '') this.#said.add(text, 'user')
  }

  /** Text that is known already changes nothing. */
  observe(result: unknown, { trusted, untrusted = [] }: Observation): void {
    const patterns = untrusted.map((path) => path.split('.'))
    let isTrusted = trusted
    const isOfOthers = (path: readonly string[]): boolean => !isTrusted || patterns.some((one) => covers(one, path))
    const [own, others]: [string[], string[]] = [[], []]
    const known = asRead(result)
    // Values that cannot be read here may still reach the model, and return in its words.
    if ((!trusted || patterns.length > 0) && (known === undefined || !isAllInJson(result))) this.readUnseen()
    try {
      for (const { path, value } of read(known ?? null)) (isOfOthers(path) ? others : own).push(String(value))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      // A result nested too deep to read may hold anything, from anybody.
      own.length = 0
      isTrusted = false
      this.readUnseen()
    }
    // Adds the raw text too, since JSON escapes make it differ from its values.
    if (typeof result === 'string' && known !== result)
      (others.length > 0 || isOfOthers([]) ? others : own).push(result)
    this.#isTainted ||= others.length > 0
    // A text in both is found in the trusted part first.
    this.#keep('tool', own)
    this.#keep('third_party', others)
  }

  /** Marks that the model has read text of others that is unknown here. */
  readUnseen(): void {
    this.#isTainted = this.#isIncomplete = true
  }

  /** Origins of the values of each argument, sorted and distinct. */
  of(args: Readonly<Record<string, unknown>>): Record<string, Origin[]> {
    const originOf = this.#search()
    const origins = (value: unknown): Origin[] => {
      const found = new Set(Array.from(leaves(value), originOf))
      return found.size === 0 ? ['const'] : [...found].sort()
    }
    return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, origins(value)]))
  }

  /** Makes the search for one check, which looks for each value once. */
  #search(): (value: unknown) => Origin {
    const found = new Map<string, Origin>()
    const unknown = this.#isTainted ? 'third_party' : 'model'
    let left = MAX_SEARCHED
    const search = (value: string): Origin => {
      for (const texts of [this.#said, this.#read]) {
        for (const [text, origin] of texts) {
          if (sizeOf(text) > left) return unknown
          left -= sizeOf(text)
          if (occursIn(text, value)) return origin
        }
      }
      return this.#isIncomplete ? unknown : 'model'
    }
    return (value) => {
      if (typeof value === 'boolean' || value === null || value === '') return 'const'
      const text = String(value)
      const origin = found.get(text) ?? search(text)
      found.set(text, origin)
      return origin
    }
  }

  /** Keeps texts as they were read, and decoded: JSON within them without its escapes. */
  #keep(origin: 'tool' | 'third_party', texts: readonly string[]): void {
    let [text, said] = ['', texts.join(SEPARATOR)]
    for (let nested = 0; said !== text && nested <= MAX_NESTED; nested += 1) {
      text = said
      if (!this.#read.add(text, origin)) this.#isIncomplete = true
      said = unescaped(text)
    }
    if (said !== text) this.#isIncomplete = true
  }
}

/** Converts a result to the JSON that a model reads: parses a text of JSON, serializes an object. */
function asRead(result: unknown): unknown {
  if (typeof result === 'string' && !/^\s*[[{]/.test(result)) return result
  try {
    return JSON.parse(typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null'))
  } catch {
    return typeof result === 'string' ? result : undefined
  }
}

/** False when a value holds more than its JSON shows, such as a response, a map, an error, or bytes. */
function isAllInJson(result: unknown): boolean {
  try {
    return isPlain(result)
  } catch {
    // The value contains itself, or throws when it is read.
    return false
  }
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Date) return typeof value !== 'function'
  return (Array.isArray(value) || isPlainObject(value)) && Object.values(value).every(isPlain)
}

/** Values of a result, and its member names, which its author writes as well. @throws RangeError */
function* read(value: unknown, path: readonly string[] = []): Generator<{ path: readonly string[]; value: unknown }> {
  if (path.length > MAX_DEPTH) throw new RangeError('nested too deep')
  if (typeof value !== 'object' || value === null) return yield { path, value }
  for (const [name, inner] of Object.entries(value)) {
    const within = [...path, name]
    if (!Array.isArray(value)) yield { path: within, value: name }
    yield* read(inner, within)
  }
}

/** Values within an argument. */
function* leaves(value: unknown): Generator<unknown> {
  // A date is sent as a text.
  if (value instanceof Date) yield value.toJSON()
  else if (typeof value !== 'object' || value === null) yield value
  else for (const inner of Object.values(value)) yield* leaves(inner)
}

/** True when the pattern names the path or a part that contains it; `*` is any one name. */
function covers(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.length <= path.length && pattern.every((name, i) => name === '*' || name === path[i])
}
