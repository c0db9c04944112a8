import { type Glob, globMatches, globsIntersect, parseGlob } from '../../base/glob.ts'
import { RESERVED_KEYS } from '../yaml/node.ts'
import { isVerb } from './verbs.ts'

/** Action patterns of domains, by the domain's name. */
export type Domains = ReadonlyMap<string, readonly string[]>

interface Group {
  members: string[]
  patterns: Set<string>
  /** True when the names are written as paths: their first part is a namespace even when few share it. */
  isPath: boolean
}

/** Prefix that frameworks put before the name of an MCP server. */
const BEFORE = /^mcp__/
const NAMESPACE = /^([A-Za-z0-9][A-Za-z0-9_-]*?)(__|[.:/])(?=.)/
const WORD = /^([A-Za-z0-9]+)([_-])(?=.)/
const CAMEL = /^([A-Z][a-z0-9]+)()(?=[A-Z])/

/** Groups actions by the beginnings of their names. No action is in two groups, as the language requires. */
export function guessDomains(actions: readonly string[]): Domains {
  const groups = new Map<string, Group>()
  for (const action of actions) addTo(groups, action)
  const kept = [...groups].filter(
    ([name, group]) => (group.isPath || group.members.length > 1) && !RESERVED_KEYS.has(name),
  )
  const taken: Glob[] = []
  const domains = new Map<string, readonly string[]>()
  for (const [name, group] of kept) {
    const globs = [...group.patterns].flatMap((pattern) => parseGlob(pattern) ?? [])
    const fits =
      coversExactly(globs, group.members, actions) &&
      !globs.some((glob) => taken.some((other) => globsIntersect(glob, other)))
    domains.set(name, fits ? globs.map(({ text }) => text) : group.members)
    // A list of names overlaps no patterns of others, since those cover their own members only.
    if (fits) taken.push(...globs)
  }
  return domains
}

function addTo(groups: Map<string, Group>, action: string): void {
  const lead = BEFORE.exec(action)?.[0] ?? ''
  const rest = action.slice(lead.length)
  const path = NAMESPACE.exec(rest)
  const [, first, separator = ''] = path ?? WORD.exec(rest) ?? CAMEL.exec(rest) ?? []
  if (first === undefined || (path === null && isVerb(first.toLowerCase()))) return
  const name = first.toLowerCase()
  const group = groups.get(name) ?? { members: [], patterns: new Set<string>(), isPath: false }
  group.members.push(action)
  group.patterns.add(`${lead}${first}${separator}${separator === '.' ? '**' : '*'}`)
  group.isPath ||= path !== null
  groups.set(name, group)
}

function coversExactly(globs: readonly Glob[], members: readonly string[], actions: readonly string[]): boolean {
  const own = new Set(members)
  return actions.every((action) => globs.some((glob) => globMatches(glob, action)) === own.has(action))
}
