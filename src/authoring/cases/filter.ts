import { globMatches, parseGlob } from '../../base/glob.ts'
import { byDimension, DIMENSIONS } from '../test-files/cases.ts'
import type { Case } from './cases.ts'
import { fileOf } from './report.ts'

/** Keys that a filter may have before `=`. */
export const FILTER_KEYS = ['test', 'file', 'action', ...DIMENSIONS] as const
type FilterKey = (typeof FILTER_KEYS)[number]

export interface Filter {
  readonly key: FilterKey
  readonly matches: (text: string) => boolean
}

/**
 * Parses a filter: `KEY=PATTERN`, or a part of a test's name. `*` in a pattern stands for any characters; for an
 * action the pattern is as in policies. Case is ignored, except in actions. Undefined for a malformed action pattern.
 */
export function parseFilter(text: string): Filter | undefined {
  const [, named, pattern = ''] = /^([a-z]+)=(.*)$/s.exec(text) ?? []
  const key = FILTER_KEYS.find((known) => known === named)
  if (key === undefined) return { key: 'test', matches: matcher(`*${text}*`) }
  if (key !== 'action') return { key, matches: matcher(pattern) }
  const glob = parseGlob(pattern)
  return glob && { key, matches: (action) => globMatches(glob, action) }
}

function matcher(pattern: string): (text: string) => boolean {
  const parts = pattern.split(/\*+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const regex = new RegExp(`^${parts.join('.*')}$`, 'isu')
  return (text) => regex.test(text)
}

/** True when each key's filters accept the case: one match among those with the same key is enough. */
export function passes(filters: readonly Filter[], asked: Case): boolean {
  const { test, action } = asked
  const named = byDimension((dimension) => asked[dimension].name)
  const texts: Record<FilterKey, string | undefined> = { test: test.name, file: fileOf(test), action, ...named }
  const keys = new Set(filters.map(({ key }) => key))
  return [...keys].every((key) => {
    const text = texts[key]
    return text !== undefined && filters.some((filter) => filter.key === key && filter.matches(text))
  })
}
