import { globMatches, parseGlob } from '../../base/glob.ts'
import type { Case } from './cases.ts'
import { fileOf } from './report.ts'

/** What a filter may name before `=`. */
export const FILTER_KEYS = ['test', 'file', 'action', 'context', 'plan', 'agent', 'history'] as const
type FilterKey = (typeof FILTER_KEYS)[number]

export interface Filter {
  readonly key: FilterKey
  readonly matches: (text: string) => boolean
}

/**
 * A filter as it is typed: `KEY=PATTERN`, in which `*` stands for any characters (for an action as in policies), or a part
 * of the name of a test. Case does not matter, but for actions. Undefined when the pattern of an action is none.
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

/** Whether a case passes: of the filters with one key one must match, and so for each key. */
export function passes(filters: readonly Filter[], { test, action, context, plan, agent, history }: Case): boolean {
  const texts: Record<FilterKey, string | undefined> = {
    test: test.name,
    file: fileOf(test),
    action,
    context: context.name,
    plan: plan.name,
    agent: agent.name,
    history: history.name,
  }
  const keys = new Set(filters.map(({ key }) => key))
  return [...keys].every((key) => {
    const text = texts[key]
    return text !== undefined && filters.some((filter) => filter.key === key && filter.matches(text))
  })
}
