import { isPlainObject } from './objects.ts'
import { occursIn, sizeOf, Texts, unescaped } from './texts.ts'

/** Where a value was seen first. */
export type Origin = 'user' | 'tool' | 'third_party' | 'model' | 'const'

export interface Observation {
  /** Whether only the user and their own systems can have written the result. */
  trusted: boolean
  /** Of a trusted result: paths of what others can have written, such as `messages.*.body`. */
  untrusted?: readonly string[]
}

/** How much text of results is kept to search in, in UTF-16 units. */
const MAX_READ = 16 * 1024 * 1024
/** The same of what the user said. All of it goes with each question, of which the service takes 1 MiB; a unit can take 6 bytes. */
const MAX_SAID = 128 * 1024
/** How much text is searched for the values of one check: more would hold up everything else in the process. */
const MAX_SEARCHED = 64 * 1024 * 1024
/** Between the values of one result. */
const SEPARATOR = '\0'
/** So often JSON is read that is a text of JSON. */
const MAX_NESTED = 4
/** No deeper results are looked into. */
const MAX_DEPTH = 256

/**
 * What an agent has read in a session, and who wrote it.
 *
 * - `isTainted` once any part of a result can have been written by others.
 * - A value is from where it occurs verbatim first: `user` in what the user said, else `tool` or `third_party` by the first result
 *   that has it, else `model`. True, false, null and the empty text tell nothing: `const`. Numbers are looked for as they are written.
 * - Of a list or an object, each value within counts.
 *
 * In a tainted session, a value is `third_party` too that is not found where more was read than is known here, or that could not be
 * searched for everywhere.
 */
export class Provenance {
  readonly #said = new Texts<'user'>(MAX_SAID)
  readonly #read = new Texts<'tool' | 'third_party'>(MAX_READ)
  #isTainted = false
  /** More was read than is kept, or can be read here. */
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

  /** What was said before is not said again. */
  userSays(text: string): void {
    if (text !== '') this.#said.add(text, 'user')
  }

  /** What is known already changes nothing. */
  observe(result: unknown, { trusted, untrusted = [] }: Observation): void {
    const patterns = untrusted.map((path) => path.split('.'))
    let isTrusted = trusted
    const isOfOthers = (path: readonly string[]): boolean => !isTrusted || patterns.some((one) => covers(one, path))
    const [own, others]: [string[], string[]] = [[], []]
    const known = asRead(result)
    // What cannot be read here can still be in what the model reads, and says.
    if ((!trusted || patterns.length > 0) && (known === undefined || !isAllInJson(result))) this.readUnseen()
    try {
      for (const { path, value } of read(known ?? null)) (isOfOthers(path) ? others : own).push(String(value))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      // What is nested too deep to be looked into can hold anything, of anybody.
      own.length = 0
      isTrusted = false
      this.readUnseen()
    }
    // As it was read, which what it says need not be: JSON escapes.
    if (typeof result === 'string' && known !== result)
      (others.length > 0 || isOfOthers([]) ? others : own).push(result)
    this.#isTainted ||= others.length > 0
    // What stands in both is known from the trusted part.
    this.#keep('tool', own)
    this.#keep('third_party', others)
  }

  /** Others wrote something that the model has read, and that nobody knows here. */
  readUnseen(): void {
    this.#isTainted = this.#isIncomplete = true
  }

  /** For each argument the origins of its values, sorted, each once. */
  of(args: Readonly<Record<string, unknown>>): Record<string, Origin[]> {
    const originOf = this.#search()
    const origins = (value: unknown): Origin[] => {
      const found = new Set(Array.from(leaves(value), originOf))
      return found.size === 0 ? ['const'] : [...found].sort()
    }
    return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, origins(value)]))
  }

  /** For the values of one check, each of which is searched for once. */
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

  /** Keeps texts as they were read, and as JSON that stands within them says them: without its escapes. */
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

interface Leaf {
  path: readonly string[]
  value: unknown
}

/** A result as a model reads it, which is JSON: what a text of JSON says, and of objects what they are as JSON. */
function asRead(result: unknown): unknown {
  if (typeof result === 'string' && !/^\s*[[{]/.test(result)) return result
  try {
    return JSON.parse(typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null'))
  } catch {
    return typeof result === 'string' ? result : undefined
  }
}

/** Whether nothing within says more than its JSON, as a response does, a map, an error, or bytes. */
function isAllInJson(result: unknown): boolean {
  try {
    return isPlain(result)
  } catch {
    // It contains itself, or something that throws when it is read.
    return false
  }
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Date) return typeof value !== 'function'
  return (Array.isArray(value) || isPlainObject(value)) && Object.values(value).every(isPlain)
}

/** What is read of a result: its values, and the names of members, which its author writes as well. @throws RangeError */
function* read(value: unknown, path: readonly string[] = []): Generator<Leaf> {
  if (path.length > MAX_DEPTH) throw new RangeError('nested too deep')
  if (typeof value !== 'object' || value === null) return yield { path, value }
  for (const [name, inner] of Object.entries(value)) {
    const within = [...path, name]
    if (!Array.isArray(value)) yield { path: within, value: name }
    yield* read(inner, within)
  }
}

/** The values within an argument. */
function* leaves(value: unknown): Generator<unknown> {
  // A date is sent as a text.
  if (value instanceof Date) yield value.toJSON()
  else if (typeof value !== 'object' || value === null) yield value
  else for (const inner of Object.values(value)) yield* leaves(inner)
}

/** True where the pattern names the path or something that contains it; `*` is any one name. */
function covers(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.length <= path.length && pattern.every((name, i) => name === '*' || name === path[i])
}
