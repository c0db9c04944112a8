import { leavesOf } from '../../policies/kleene.ts'
import type { Leaf, PolicyData, Rule } from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import type { ReadFiles } from '../load/read-files.ts'
import { advise } from './advice.ts'
import { reportApprovers } from './approvers.ts'
import { createBudget } from './budget.ts'
import { type Certain, certainPart } from './certain.ts'
import { conditionChecker, mistypeOf } from './conditions.ts'
import { reportConstants, usesIn } from './constants.ts'
import { reportCutTexts } from './cut-texts.ts'
import { reportDefaults } from './defaults.ts'
import { reportOddConstants } from './odd-constants.ts'
import { reportReach } from './reach.ts'
import { reportRepeated } from './repeated.ts'
import { reportScales } from './scales.ts'
import { createSearch } from './search.ts'
import { reportShadowed } from './shadows.ts'
import { reportTexts } from './texts.ts'
import { reportUncertain } from './uncertain.ts'
import { reportUnsafeTerms } from './unsafe-terms.ts'
import { reportIdle, reportUnused } from './unused.ts'

/** Budgets of the analyses of a set: spent in full, they take some tenths of a second. */
const CONDITION_COST = 150_000
const SHADOW_COST = 100_000
const COVER_COST = 300_000

/** Level of lint: probable mistakes, or also parts that could be safer or plainer. */
export type LintLevel = 'doubts' | 'advice'

/**
 * Reports parts of a set that are valid but doubtful; in a set with errors, those that are certain in spite of them.
 * False when findings were omitted: the set has errors, or is too large or too involved to be analysed whole.
 */
export function lint(whole: PolicyData, read: Names, files: ReadFiles, level: LintLevel): boolean {
  const certain = certainPart(whole, read, files)
  const { set, names, roots, actionNodes, isWhole } = certain
  // Unread parts may use anything.
  if (isWhole || (!files.partial && roots.length === files.policies.length))
    for (const root of roots) reportUnused(root, names, certain.mentioned)
  reportUncertain(certain)
  reportDefaults(certain)
  reportCutTexts(certain)
  reportUnsafeTerms(certain)
  // A rule that was left out may allow an action that is counted.
  if (isWhole) reportIdle(set, names, roots)
  if (isWhole) reportReach(certain)
  if (level === 'advice') advise(certain)
  const uses = usesIn(set)
  if (actionNodes !== undefined) reportTexts(certain, uses)
  const refused = reportConstants(certain, uses)
  reportOddConstants(certain, uses, refused)
  return analyse(certain, refused) && isWhole
}

/**
 * Reports the findings that follow from trying all requests that conditions can distinguish.
 *
 * @param refused comparisons that are reported already
 */
function analyse(certain: Certain, refused: ReadonlySet<Leaf>): boolean {
  const { set, names, roots } = certain
  const conditionBudget = createBudget(CONDITION_COST)
  const search = createSearch(certain, conditionBudget)
  const check = conditionChecker(set, names, search, refused)
  for (const condition of set.conditions.values()) check(condition, undefined)
  const [faulty, mistyped] = [new Set<Rule>(), new Set<Rule>()]
  for (const rule of set.rules) {
    if (rule.condition === undefined) continue
    const leaves = leavesOf(rule.condition, set.conditions)
    const isRefused = leaves.some((leaf) => refused.has(leaf))
    if (leaves.some((leaf) => mistypeOf(leaf, rule.actions, search) !== undefined)) mistyped.add(rule)
    if (check(rule.condition, rule.actions) || isRefused) faulty.add(rule)
  }
  for (const { condition, actions } of set.factors) if (condition !== undefined) check(condition, actions)
  reportScales(set, names, search)
  const shadowBudget = createBudget(SHADOW_COST)
  const coverBudget = createBudget(COVER_COST)
  const shadowSearch = createSearch(certain, shadowBudget)
  const repeated = reportRepeated(set, names, roots)
  reportApprovers(certain, shadowSearch)
  reportShadowed(set, names, { search: shadowSearch, coverBudget, repeated, faulty, mistyped })
  return ![conditionBudget, shadowBudget, coverBudget].some(({ exhausted }) => exhausted())
}
