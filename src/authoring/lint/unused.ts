import { type Glob, globsIntersect, matchesAny } from '../../base/glob.ts'
import { SESSION_ACTIONS } from '../../policies/path.ts'
import { enforcedRules, type PolicyData } from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import { overTimeFacts } from '../load/over-time.ts'
import { entriesOf, itemsOf, memberOf, type Node } from '../yaml/node.ts'
import { createBudget, PAIRS } from './budget.ts'

/** Reports lists, conditions and facts over time of a file that nothing refers to and that are not `mentioned`. */
export function reportUnused(root: Node, names: Names, mentioned: ReadonlySet<string>): void {
  report(root, 'lists', new Set([...names.used.lists, ...mentioned]), 'GATE2002', names)
  report(root, 'conditions', new Set([...names.used.conditions, ...mentioned]), 'GATE2003', names)
  // The fact that every session brings need not be used, and a malformed name is a fault of its own.
  const facts = overTimeFacts(root).filter(({ text }) => text !== SESSION_ACTIONS && !text.includes('['))
  for (const { text, key } of facts) {
    if (!names.used.overTime.has(text) && !mentioned.has(text))
      names.report.add('GATE2025', key, `No rule or factor asks for ${text}.`)
  }
}

function report(
  root: Node,
  section: 'lists' | 'conditions',
  used: ReadonlySet<string>,
  code: 'GATE2002' | 'GATE2003',
  names: Names,
): void {
  for (const { name, key } of entriesOf(memberOf(root, section))) {
    if (!used.has(name)) names.report.add(code, key, `Nothing uses ${JSON.stringify(name)}.`)
  }
}

/**
 * Reports facts over time whose patterns match no action that is ever allowed, which count nothing, and domains whose
 * stop would stop nothing.
 */
export function reportIdle(set: PolicyData, names: Names, roots: readonly Node[]): void {
  // An approval can allow an action that is held by default.
  if (set.defaults.decision !== 'deny') return
  const permitting = enforcedRules(set)
    .filter(({ effect }) => effect !== 'deny')
    .flatMap(({ actions }) => actions)
  // Beyond it nothing is reported.
  const budget = createBudget(PAIRS)
  const isIdle = (globs: readonly Glob[]): boolean =>
    globs.length > 0 &&
    budget.spend(globs.length * permitting.length) &&
    !globs.some((glob) => permitting.some((other) => globsIntersect(glob, other)))
  for (const { name, key, value } of roots.flatMap((root) => entriesOf(memberOf(root, 'domains')))) {
    const globs = set.domains.get(name) ?? []
    const isDeclared = (): boolean => [...set.actions.keys()].some((action) => matchesAny(globs, action))
    if (permitting.length + set.actions.size === 0 || !isIdle(globs) || isDeclared()) continue
    const patterns = globs.map((glob) => glob.text).join(', ')
    const message = `No action is declared, allowed or held that ${patterns} matches, so that a stop of domain ${name} stops nothing.`
    names.report.add('GATE2041', key, message)
    // A misspelt pattern is the same fault.
    for (const place of itemsOf(value)) names.report.silence(place)
  }
  for (const { text, key } of roots.flatMap(overTimeFacts)) {
    const globs = set.counters.get(text)?.actions ?? set.session?.taken.get(text)
    if (globs === undefined || !isIdle(globs)) continue
    const patterns = globs.map((glob) => glob.text).join(', ')
    const message = `No rule allows or holds an action that ${patterns} matches, so that ${text} counts nothing.`
    names.report.add('GATE2026', key, message)
  }
}
