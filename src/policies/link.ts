import { globMatches } from '../base/glob.ts'
import { distinctBy } from '../base/grouped.ts'
import { lru, memo, once } from '../base/memo.ts'
import { indexCandidates } from './candidates.ts'
import { comparisonTests } from './comparisons.ts'
import { leafPreparer } from './engine.ts'
import { leavesOf } from './kleene.ts'
import { localClock } from './local-time.ts'
import { type FactPath, OVER_TIME_ROOTS } from './path.ts'
import type {
  ActionDeclaration,
  Candidate,
  Evaluator,
  Leaf,
  PolicyData,
  PolicySet,
  Question,
  Validators,
} from './set.ts'
import { actionSchemaCompiler, validatorsOf } from './validators.ts'

/** Most actions whose questions are cached; a caller that invents more only slows its own checks. */
const MAX_CACHED_QUESTIONS = 1000

/**
 * Links data that compiled without fault into a policy set. Parts are built at the first check that needs them, so
 * that putting a large set in force holds nothing up.
 */
export function linkPolicySet(data: PolicyData): PolicySet {
  return {
    ...data,
    localTime: localClock(data.timezone),
    validators: validatorsByAction(data),
    evaluator: evaluatorOf(data),
  }
}

function validatorsByAction({ actions }: PolicyData): (action: string) => Validators | undefined {
  const compiler = once(actionSchemaCompiler)
  const validators = memo((declared: ActionDeclaration) => validatorsOf(declared, compiler()))
  return (action) => {
    const declared = actions.get(action)
    return declared && validators(declared)
  }
}

function evaluatorOf(data: PolicyData): Evaluator {
  const prepare = leafPreparer(comparisonTests(data))
  const ruleLeaves = leavesByPosition(data.rules, data)
  const factorLeaves = leavesByPosition(data.factors, data)
  const rulesOf = indexCandidates(data.rules)
  const factorsOf = indexCandidates(data.factors)
  const makeQuestion = (action: string): Question => {
    const rules = rulesOf(action)
    const factors = factorsOf(action)
    const all = distinctBy([...rules.flatMap(ruleLeaves), ...factors.flatMap(factorLeaves)], ({ index }) => index)
    const facts = distinctFacts(all.map(({ fact }) => fact))
    const scaled = factors.flatMap((position) => data.factors[position]?.scale?.fact ?? [])
    const overTime = distinctFacts([...facts, ...scaled].filter(({ root }) => OVER_TIME_ROOTS.has(root)))
    return { domain: domainAt(data, action), rules, factors, facts, overTime, answer: prepare(all) }
  }
  return { ruleLeaves, factorLeaves, about: lru(MAX_CACHED_QUESTIONS, makeQuestion) }
}

function domainAt({ domains }: PolicyData, action: string): string | undefined {
  for (const [name, globs] of domains) {
    if (globs.some((glob) => globMatches(glob, action))) return name
  }
  return undefined
}

function leavesByPosition(
  candidates: readonly Candidate[],
  { conditions }: PolicyData,
): (position: number) => readonly Leaf[] {
  return memo((position) => {
    const condition = candidates[position]?.condition
    return condition === undefined ? [] : distinctBy(leavesOf(condition, conditions), ({ index }) => index)
  })
}

function distinctFacts(facts: readonly FactPath[]): FactPath[] {
  return distinctBy(facts, ({ text }) => text)
}
