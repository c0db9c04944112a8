/** Name of an action: letters, digits and `_ . : / -`, at most 128, case-sensitive. */
export const ACTION_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$'

const ACTION = new RegExp(ACTION_PATTERN)

export function isActionName(text: string): boolean {
  return ACTION.test(text)
}

/** Glob over actions: the characters of an action and `*`. */
export const GLOB_PATTERN = '^[A-Za-z0-9_*][A-Za-z0-9_.:/*-]{0,127}$'

/**
 * A pattern over actions, split at its dots. In a segment, `*` stands for any run of characters
 * (none included); a segment `**` stands for any number of segments, none included. So `payment.*`
 * matches `payment.a`, not `payment` nor `payment.a.b`; `payment.**` matches all three.
 */
export interface Glob {
  readonly text: string
  readonly segments: readonly string[]
  /** The action itself when the glob has no `*`. */
  readonly exact: boolean
}

/** Parses a glob; undefined for another character or for `**` beside other characters. Empty segments are allowed. */
export function parseGlob(text: string): Glob | undefined {
  if (!new RegExp(GLOB_PATTERN).test(text)) return undefined
  const segments = text.split('.')
  if (segments.some((segment) => segment !== '**' && segment.includes('**'))) return undefined
  return { text, segments, exact: !text.includes('*') }
}

export function globMatches(glob: Glob, action: string): boolean {
  if (glob.exact) return glob.text === action
  return haveCommon(glob.segments, action.split('.'), '**', wildcardMatches)
}

export function matchesAny(globs: readonly Glob[], action: string): boolean {
  return globs.some((glob) => globMatches(glob, action))
}

/** True when some action matches both. */
export function globsIntersect(a: Glob, b: Glob): boolean {
  if (beginApart(a, b)) return false
  return haveCommon(a.segments, b.segments, '**', wildcardsIntersect)
}

/** Rules out most disjoint pairs cheaply; sets with thousands of globs compare each with each. */
function beginApart(a: Glob, b: Glob): boolean {
  const [mine, theirs] = [a.segments[0], b.segments[0]]
  return mine !== theirs && mine?.includes('*') === false && theirs?.includes('*') === false
}

/**
 * True when two patterns, given by their letters, have a common text. `many` stands for any number of letters.
 * Dynamic programming over (position in a, position in b): no pattern costs more than the product of the lengths.
 */
function haveCommon(
  a: ArrayLike<string>,
  b: ArrayLike<string>,
  many: string,
  meets: (a: string, b: string) => boolean,
): boolean {
  // row[j]: the rest of `a` from i and the rest of `b` from j have a common text.
  let below: boolean[] = []
  for (let i = a.length; i >= 0; i -= 1) {
    const row: boolean[] = new Array(b.length + 1).fill(false)
    for (let j = b.length; j >= 0; j -= 1) {
      const mine = a[i]
      const theirs = b[j]
      if (mine === undefined && theirs === undefined) row[j] = true
      else if (mine === many) row[j] = below[j] === true || (theirs !== undefined && row[j + 1] === true)
      else if (theirs === many) row[j] = row[j + 1] === true || (mine !== undefined && below[j] === true)
      else if (mine !== undefined && theirs !== undefined) row[j] = below[j + 1] === true && meets(mine, theirs)
    }
    below = row
  }
  return below[0] === true
}

/** Matches greedily with one backtrack point, which suffices for literals and `*`. */
function wildcardMatches(pattern: string, text: string): boolean {
  let p = 0
  let star = -1
  let resume = 0
  for (let t = 0; t < text.length; ) {
    if (pattern[p] === '*') {
      star = p
      p += 1
      resume = t
    } else if (pattern[p] === text[t]) {
      p += 1
      t += 1
    } else if (star >= 0) {
      p = star + 1
      resume += 1
      t = resume
    } else {
      return false
    }
  }
  while (pattern[p] === '*') p += 1
  return p === pattern.length
}

function wildcardsIntersect(a: string, b: string): boolean {
  return haveCommon(a, b, '*', (mine, theirs) => mine === theirs)
}

/**
 * True when `outer` matches every action that `inner` matches; never true wrongly.
 * It may be false for patterns that cover each other only character by character over a whole alphabet.
 */
export function globContains(outer: Glob, inner: Glob): boolean {
  if (outer.text === inner.text || outer.text === '**') return true
  if (beginApart(outer, inner)) return false
  if (inner.exact) return globMatches(outer, inner.text)
  if (!outer.segments.includes('**')) {
    const isAsLong = outer.segments.length === inner.segments.length && !inner.segments.includes('**')
    return isAsLong && outer.segments.every((segment, i) => wildcardContains(segment, inner.segments[i] ?? ''))
  }
  return coversAll(outer.segments, inner.segments, { many: '**', any: '*', one: wildcardContains })
}

function wildcardContains(outer: string, inner: string): boolean {
  if (outer === inner || outer === '*') return true
  if (!outer.includes('*')) return false
  if (!inner.includes('*')) return wildcardMatches(outer, inner)
  const [first, last] = [outer.indexOf('*'), outer.lastIndexOf('*')]
  if (!inner.startsWith(outer.slice(0, first)) || !inner.endsWith(outer.slice(last + 1))) return false
  if (first === last) return true
  // `\0` stands for any other character, since no action contains it.
  return coversAll([...outer], [...inner], { many: '*', any: '\0', one: (a, b) => a === b })
}

interface Letters {
  /** Symbol for any number of letters. */
  many: string
  /** Letter that only symbols for all letters match. */
  any: string
  one: (outer: string, inner: string) => boolean
}

const MAX_STATES = 1000

/**
 * Simulates all positions of `outer` at once while reading `inner`. Where `inner` has any number of letters, it tries
 * each number that reaches new positions.
 */
function coversAll(outer: readonly string[], inner: readonly string[], { many, any, one }: Letters): boolean {
  const closed = (places: Iterable<number>): number[] => {
    const all = new Set(places)
    for (const place of all) if (outer[place] === many) all.add(place + 1)
    return [...all].sort((a, b) => a - b)
  }
  const after = (places: readonly number[], letter: string): number[] =>
    closed(
      places.flatMap((place) => {
        const mine = outer[place]
        if (mine === many) return [place]
        return mine !== undefined && one(mine, letter) ? [place + 1] : []
      }),
    )
  const seen = new Set<string>()
  const pending = [{ places: closed([0]), at: 0 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { places, at } = next
    const key = `${at}:${places.join()}`
    if (seen.has(key)) continue
    seen.add(key)
    const letter = inner[at]
    if (letter === undefined ? !places.includes(outer.length) : places.length === 0 || seen.size > MAX_STATES)
      return false
    if (letter === many) pending.push({ places, at: at + 1 }, { places: after(places, any), at })
    else if (letter !== undefined) pending.push({ places: after(places, letter), at: at + 1 })
  }
  return true
}
