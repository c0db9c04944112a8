/** Stands for every value of an object or item of a list. Not a symbol, which could not be sent to another thread. */
export const ANY = null

/** A path to a fact, parsed: `context.user["first name"]` has the root `context` and two segments. */
export interface FactPath {
  /** In one spelling, so that equal paths are equal texts. */
  readonly text: string
  readonly root: string
  readonly segments: readonly (string | typeof ANY)[]
}

/** Roots of the facts about earlier allowed actions. */
export const OVER_TIME_ROOTS: ReadonlySet<string> = new Set(['session', 'history'])
/** Names of the actions allowed in the session, each once. */
export const SESSION_ACTIONS = 'session.actions'

const ROOT = /^[A-Za-z]+/
const SEGMENT = /\.(?:([A-Za-z0-9_-]+)|(\*))|\[("(?:[^"\\]|\\.)*")\]/y
const PLAIN = /^[A-Za-z0-9_-]+$/
const MAX_SEGMENTS = 32

/** Undefined when the text is not a path: an empty segment, a character that needs `["…"]`, a second `*`. */
export function parseFactPath(text: string): FactPath | undefined {
  const root = ROOT.exec(text)?.[0]
  if (root === undefined) return undefined
  const segments: (string | typeof ANY)[] = []
  SEGMENT.lastIndex = root.length
  while (SEGMENT.lastIndex < text.length) {
    const match = SEGMENT.exec(text)
    if (match === null) return undefined
    const segment = match[2] === undefined ? (match[1] ?? quoted(match[3])) : ANY
    if (segment === undefined) return undefined
    segments.push(segment)
  }
  if (segments.length > MAX_SEGMENTS || segments.filter((segment) => segment === ANY).length > 1) return undefined
  return factPath(root, segments)
}

export function factPath(root: string, segments: FactPath['segments']): FactPath {
  return { text: root + segments.map(segmentText).join(''), root, segments }
}

/** True when the path has a `*`, and so always yields a list. */
export function isPlural(path: FactPath): boolean {
  return path.segments.includes(ANY)
}

function segmentText(segment: string | typeof ANY): string {
  if (segment === ANY) return '.*'
  return PLAIN.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`
}

function quoted(text: string | undefined): string | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
