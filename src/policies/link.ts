import { boundedCache } from '../base/bounded-cache.ts'
import { digestOf } from '../base/digest.ts'
import { globMatches } from '../base/glob.ts'
import { distinctBy } from '../base/grouped.ts'
import { lru, memo, once } from '../base/memo.ts'
import { indexCandidates } from './candidates.ts'
import { comparisonTests } from './decorators.ts'
import { type Guards, leafPreparer } from './engine.ts'
import { distinctLeaves, leavesOf } from './kleene.ts'
import { localClock } from './local-time.ts'
import { type FactPath, OVER_TIME_ROOTS } from './path.ts'
import {
  type ActionDeclaration,
  type Candidate,
  type Condition,
  type Evaluator,
  enforcedRules,
  type Leaf,
  type PolicyData,
  type PolicySet,
  type Question,
  type Rule,
  type Validators,
} from './set.ts'
import { actionSchemaCompiler, validatorsOf } from './validators.ts'

/** Most actions of which it is known what is about them; a caller that invents more only slows its own checks. */
const MAX_ACTIONS = 1000
/** Most patterns of actions that a new action is compared with at once; each takes some 10 microseconds at worst. */
const MAX_QUICK = 100
/** Most comparisons that are kept ready, of all actions together: about 30 MB. */
const MAX_PREPARED = 50_000

/**
 * Links data that compiled without fault into a policy set. Parts are built at the first check that needs them, so
 * that putting a large set in force holds nothing up.
 */
export function linkPolicySet(data: PolicyData): PolicySet {
  const rules = enforcedRules(data)
  return {
    ...data,
    localTime: localClock(data.timezone),
    validators: validatorsByAction(data),
    evaluator: evaluatorOf({ ...data, rules }),
    shadow: rules.length === data.rules.length ? undefined : linkPolicySet(withAllEnforced(data)),
  }
}

/** The set with its rules in shadow enforced. It has a digest of its own: its decisions are others than those of the files. */
function withAllEnforced(data: PolicyData): PolicyData {
  const rules = data.rules.map((rule): Rule => ({ ...rule, mode: 'enforce' }))
  return { ...data, rules, digest: digestOf(`rules in shadow of ${data.digest}`) }
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
  const isSmall = globsOf(data) <= MAX_QUICK
  const actions = lru(MAX_ACTIONS, (action: string) => {
    const positions = [rulesAt(action), factorsAt(action)]
    return { domain: domainAt(data, action), key: digestOf(JSON.stringify(positions)) }
  })
  // Actions that the same rules and factors are about share one question: a caller can invent any number of them.
  const prepared = boundedCache<PreparedQuestion>(MAX_PREPARED, ({ weight }) => weight)
  const prepareFor = (action: string): PreparedQuestion => {
    const rules = rulesAt(action).flatMap((position) => data.rules[position] ?? [])
    const factors = factorsAt(action).flatMap((position) => data.factors[position] ?? [])
    const all = distinctLeaves([...rules, ...factors].flatMap(leavesBelow))
    const facts = distinctFacts(all.map(({ fact }) => fact))
    const scaled = factors.flatMap(({ scale }) => scale?.fact ?? [])
    const overTime = distinctFacts([...facts, ...scaled].filter(({ root }) => OVER_TIME_ROOTS.has(root)))
    const answer = prepare(all, guardsOf([...rules, ...factors], leavesBelow))
    return { rules, factors, facts, overTime, answer, weight: 1 + all.length }
  }
  const questionOf = (action: string): Question => {
    const { domain, key } = actions(action)
    const known = prepared.get(key) ?? prepareFor(action)
    prepared.put(key, known)
    return { ...known, domain }
  }
  // A check asks several times about its action.
  let last: { action: string; question: Question } | undefined
  const about = (action: string): Question => {
    if (last?.action !== action) last = { action, question: questionOf(action) }
    return last.question
  }
  return { leavesOf: leavesBelow, about, isQuick: (action) => isSmall || actions.has(action) }
}

function globsOf({ rules, factors, domains }: PolicyData): number {
  return [...rules, ...factors].flatMap(({ actions }) => actions).length + [...domains.values()].flat().length
}

/**
 * The first leaf of each condition that holds only where that leaf does: false, it makes the other leaves needless that no
 * other rule or factor has.
 */
function guardsOf(candidates: readonly Candidate[], leavesBelow: (candidate: Candidate) => readonly Leaf[]): Guards {
  const guards = new Map<number, number | undefined>()
  for (const candidate of candidates) {
    const guard = candidate.condition && firstOfAll(candidate.condition)?.index
    for (const { index } of leavesBelow(candidate))
      guards.set(index, guards.has(index) || index === guard ? undefined : guard)
  }
  return new Map([...guards].flatMap(([index, guard]) => (guard === undefined ? [] : [[index, guard] as const])))
}

/** The leaf with which a conjunction begins. */
function firstOfAll(condition: Condition): Leaf | undefined {
  const [first] = condition.kind === 'all' ? condition.conditions : []
  return first?.kind === 'leaf' ? first : first && firstOfAll(first)
}

interface PreparedQuestion extends Omit<Question, 'domain'> {
  /** The comparisons, and one for the rest. */
  readonly weight: number
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
