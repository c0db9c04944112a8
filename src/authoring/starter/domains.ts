import { type Glob, globMatches, globsIntersect, parseGlob } from '../../base/glob.ts'
import { RESERVED_KEYS } from '../yaml/node.ts'
import { isVerb } from './verbs.ts'

/** A domain by its name: the patterns of its actions. */
export type Domains = ReadonlyMap<string, readonly string[]>

interface Group {
  members: string[]
  patterns: Set<string>
  /** Whether the names are written as a path, where what stands first is a namespace however few share it. */
  isPath: boolean
}

/** A framework's mark before the name of an MCP server. */
const BEFORE = /^mcp__/
const NAMESPACE = /^([A-Za-z0-9][A-Za-z0-9_-]*?)(__|[.:/])(?=.)/
const WORD = /^([A-Za-z0-9]+)([_-])(?=.)/
const CAMEL = /^([A-Z][a-z0-9]+)()(?=[A-Z])/

/** Groups of actions by what their names begin with. No action is in two, as the language wants it. */
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
    const fits = coversExactly(globs, group.members, actions) && !globs.some((glob) => meetsAny(glob, taken))
    domains.set(name, fits ? globs.map(({ text }) => text) : group.members)
    // A list of names meets the patterns of others in none of its names, since those cover their own members only.
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

function meetsAny(glob: Glob, others: readonly Glob[]): boolean {
  return others.some((other) => globsIntersect(glob, other))
}
