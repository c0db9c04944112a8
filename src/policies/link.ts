import { globMatches } from '../base/glob.ts'
import { distinctBy } from '../base/grouped.ts'
import { lru, memo, once } from '../base/memo.ts'
import { indexCandidates } from './candidates.ts'
import { comparisonTests } from './decorators.ts'
import { leafPreparer } from './engine.ts'
import { distinctLeaves, leavesOf } from './kleene.ts'
import { localClock } from './local-time.ts'
import { type FactPath, OVER_TIME_ROOTS } from './path.ts'
import type { ActionDeclaration, Candidate, Evaluator, PolicyData, PolicySet, Question, Validators } from './set.ts'
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
  const leavesBelow = memo(({ condition }: Candidate) =>
    condition === undefined ? [] : distinctLeaves(leavesOf(condition, data.conditions)),
  )
  const rulesAt = indexCandidates(data.rules)
  const factorsAt = indexCandidates(data.factors)
  const makeQuestion = (action: string): Question => {
    const rules = rulesAt(action).flatMap((position) => data.rules[position] ?? [])
    const factors = factorsAt(action).flatMap((position) => data.factors[position] ?? [])
    const all = distinctLeaves([...rules, ...factors].flatMap(leavesBelow))
    const facts = distinctFacts(all.map(({ fact }) => fact))
    const scaled = factors.flatMap(({ scale }) => scale?.fact ?? [])
    const overTime = distinctFacts([...facts, ...scaled].filter(({ root }) => OVER_TIME_ROOTS.has(root)))
    return { domain: domainAt(data, action), rules, factors, facts, overTime, answer: prepare(all) }
  }
  return { leavesOf: leavesBelow, about: lru(MAX_CACHED_QUESTIONS, makeQuestion) }
}

function domainAt({ domains }: PolicyData, action: string): string | undefined {
  for (const [name, globs] of domains) {
    if (globs.some((glob) => globMatches(glob, action))) return name
  }
  return undefined
}

function distinctFacts(facts: readonly FactPath[]): FactPath[] {
  return distinctBy(facts, ({ text }) => text)
}
