import { type Glob, globMatches, parseGlob } from '../../base/glob.ts'
import { memo } from '../../base/memo.ts'
import type { PolicyData } from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import { closest, editDistance } from '../suggest/closest.ts'
import { entriesOf, itemsOf, memberOf, type Node } from '../yaml/node.ts'
import type { Certain } from './certain.ts'

/** Reports patterns of rules, factors and domains that nearly match the beginning of a declared action, but match none. */
export function adviseSpelling({ set, names, roots }: Certain): void {
  if (set.actions.size === 0) return
  const startsOf = memo((length: number) => declaredStarts(set, length))
  for (const candidate of [...set.rules, ...set.factors])
    adviseList(candidate.actions, memberOf(names.nodes.get(candidate), 'actions'), startsOf, names)
  for (const root of roots) {
    for (const { name, value } of entriesOf(memberOf(root, 'domains')))
      adviseList(set.domains.get(name) ?? [], value, startsOf, names)
  }
}

/** Declared actions, the first of each start. */
type Starts = ReadonlyMap<string, string>

/** Declared actions by their first `length` segments, or by all of them. */
function declaredStarts({ actions }: PolicyData, length: number): Starts {
  const starts = new Map<string, string>()
  for (const action of actions.keys()) {
    const start = action.split('.').slice(0, length).join('.')
    if (!starts.has(start)) starts.set(start, action)
  }
  return starts
}

const MIN_WORD = 6

function adviseList(
  globs: readonly Glob[],
  node: Node | undefined,
  startsOf: (length: number) => Starts,
  names: Names,
): void {
  for (const [i, glob] of globs.entries()) {
    const place = itemsOf(node)[i]
    const plain = plainSegments(glob)
    const start = plain.join('.')
    const starts = startsOf(glob.exact ? Number.POSITIVE_INFINITY : plain.length)
    // After a malformed pattern was left out, the others are not in their places.
    if (starts.has(start) || start.length < MIN_WORD || place?.value !== glob.text) continue
    const meant = names.report.search(starts.keys(), (known) => closest(start, known))
    const action = starts.get(meant ?? '')
    if (meant === undefined || action === undefined || !isSlip(start, meant)) continue
    const pattern = parseGlob(meant + glob.text.slice(start.length))
    // A list that names both means two actions.
    if (pattern === undefined || [...globs, pattern].find((one) => globMatches(one, action)) !== pattern) continue
    const none = glob.exact ? `No action ${glob.text} is` : `No action that ${glob.text} matches is`
    const message = `${none} declared under actions, but ${action} is. Correct one of them, or declare both.`
    names.report.add('GATE2108', place, message, pattern.text)
  }
}

/** The segments before the first that has a `*`. */
function plainSegments({ segments }: Glob): readonly string[] {
  const star = segments.findIndex((segment) => segment.includes('*'))
  return star < 0 ? segments : segments.slice(0, star)
}

/** True for one slip of the keyboard and for another letter case, but not for another number or a plural. */
export function isSlip(text: string, meant: string): boolean {
  if (text.replace(/\d+/g, '') === meant.replace(/\d+/g, '')) return false
  if (`${text}s` === meant || text === `${meant}s`) return false
  if (text.toLowerCase() === meant.toLowerCase()) return true
  return editDistance(text, meant) === 1
}
