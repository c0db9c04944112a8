/** Size of a text beyond its units: the cost of storing it and of starting a search. */
const OVERHEAD = 64
/** Length above which engines may search in time proportional to text times value. */
const LONG = 250

/** Distinct texts with their kind, in order of arrival. Beyond the limit the oldest are dropped. */
export class Texts<Kind> {
  readonly #kinds = new Map<string, Kind>()
  readonly #maxSize: number
  #size = 0

  /** @param maxSize in UTF-16 units, plus an overhead for each text */
  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** Adds a text; a known one keeps its kind. @returns false when text was dropped */
  add(text: string, kind: Kind): boolean {
    if (this.#kinds.has(text)) return true
    if (sizeOf(text) > this.#maxSize) return false
    this.#kinds.set(text, kind)
    this.#size += sizeOf(text)
    const isAll = this.#size <= this.#maxSize
    for (const oldest of this.#kinds.keys()) {
      if (this.#size <= this.#maxSize) break
      this.#kinds.delete(oldest)
      this.#size -= sizeOf(oldest)
    }
    return isAll
  }

  has(text: string): boolean {
    return this.#kinds.has(text)
  }

  [Symbol.iterator](): IterableIterator<[string, Kind]> {
    return this.#kinds.entries()
  }
}

export function sizeOf(text: string): number {
  return text.length + OVERHEAD
}

/** Like `includes`, in time linear in the text, even when others have written it to be slow. */
export function occursIn(text: string, value: string): boolean {
  const start = text.indexOf(value.slice(0, LONG))
  if (start < 0 || value.length <= LONG) return start >= 0
  // Knuth, Morris and Pratt: for each count of matched units, the count that still matches at the next possible start.
  const shorter = new Uint32Array(value.length + 1)
  const next = (matched: number, unit: number): number => {
    let length = matched
    while (length > 0 && unit !== value.charCodeAt(length)) length = shorter[length] ?? 0
    return unit === value.charCodeAt(length) ? length + 1 : 0
  }
  for (let i = 1; i < value.length; i += 1) shorter[i + 1] = next(shorter[i] ?? 0, value.charCodeAt(i))
  let matched = 0
  for (let i = start; i < text.length && matched < value.length; i += 1) matched = next(matched, text.charCodeAt(i))
  return matched === value.length
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Decodes the escapes of JSON (RFC 8259, section 7) in a text. */
export function unescaped(text: string): string {
  return text.replaceAll(/\\(?:(["\\/bfnrt])|u([\da-fA-F]{4}))/g, (_, name: string | undefined, unit: string) =>
    name === undefined ? String.fromCharCode(Number.parseInt(unit, 16)) : (ESCAPES[name] ?? name),
  )
}
