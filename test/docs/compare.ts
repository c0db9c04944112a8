import type { Json } from '../../src/base/json.ts'
import { isJsonObject } from '../../src/base/json.ts'

/** Stands for anything: for the rest of a line, for lines, for a JSON value, for further items or members. */
const ANYTHING = '…'

/** Texts that vary from run to run, and their placeholders. */
const VARYING: readonly [RegExp, string][] = [
  [/\b(dec|apr|aud|bun|key|ksw|req)_[0-9a-hjkmnp-tv-z]{26}\b/g, '$1_ID'],
  [/\bsk_(live|test)_[0-9A-Za-z]{40,}\b/g, 'sk_$1_SECRET'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/\bhost:\d+/g, 'host:UID'],
  [/\bsha256:[0-9a-f]{64}\b/g, 'sha256:HASH'],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=(?!=)/g, 'BASE64'],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==/g, 'BASE64'],
]

function normal(text: string): string {
  return VARYING.reduce((shown, [pattern, name]) => shown.replace(pattern, name), text)
}

/** True when the text is what was expected, but for what varies. */
export function matchesText(expected: string, seen: string): boolean {
  const lines = (text: string): string[] =>
    normal(text)
      .trimEnd()
      .split(/[ \r]*\n/)
  const pattern = lines(expected).map((line) => {
    if (line.trim() === ANYTHING) return '(?:.*\\n)*'
    return `${line.split(ANYTHING).map(escaped).join('.*')}\\n`
  })
  return new RegExp(`^${pattern.join('')}$`).test(`${lines(seen).join('\n')}\n`)
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** Returns where and how a JSON value differs from the expected one; undefined when it does not. */
export function jsonDifference(expected: Json, seen: Json | undefined, path = '$'): string | undefined {
  if (expected === ANYTHING && seen !== undefined) return undefined
  if (Array.isArray(expected) && Array.isArray(seen)) return arrayDifference(expected, seen, path)
  if (isJsonObject(expected) && isJsonObject(seen)) {
    const { [ANYTHING]: more, ...members } = expected
    const extra = more === undefined && Object.keys(seen).find((name) => !Object.hasOwn(members, name))
    if (typeof extra === 'string') return `${path}.${extra} is not on the page`
    return first(Object.entries(members), ([name, value]) => jsonDifference(value, seen[name], `${path}.${name}`))
  }
  const same =
    typeof expected === 'string' && typeof seen === 'string' ? matchesText(expected, seen) : expected === seen
  return same ? undefined : `${path} is ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`
}

function arrayDifference(expected: readonly Json[], seen: readonly Json[], path: string): string | undefined {
  const isOpen = expected.at(-1) === ANYTHING
  const items = isOpen ? expected.slice(0, -1) : expected
  if (!isOpen && items.length !== seen.length) return `${path} has ${seen.length} items, not ${items.length}`
  return first([...items.entries()], ([i, item]) => jsonDifference(item, seen[i], `${path}[${i}]`))
}

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
