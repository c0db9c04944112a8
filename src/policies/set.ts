import type { Glob } from '../base/glob.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Work } from '../base/work.ts'
import type { LocalClock } from './local-time.ts'
import type { FactPath } from './path.ts'

export const EFFECTS = ['allow', 'deny', 'require_approval'] as const
export type Effect = (typeof EFFECTS)[number]
/** The answer to a check. */
export type Decision = Effect

/** Steps of the order of decision that the policies themselves take. */
export const POLICY_STEPS = ['invalid_context', 'deny_rule', 'risk', 'hold_rule', 'allow_rule', 'default'] as const
export type PolicyStep = (typeof POLICY_STEPS)[number]

/** Policies are enforced, or decide while every action runs. */
export const MODES = ['enforce', 'observe'] as const
export type Mode = (typeof MODES)[number]
/** A rule is enforced, or only asked: what the policies would decide with it is recorded beside the decision. */
export const RULE_MODES = ['enforce', 'shadow'] as const
/** Advice about when to ask again. */
export const RETRIES = ['never', 'after_approval', 'changed_request'] as const
export type Retry = (typeof RETRIES)[number]

export const FACT_TYPES = ['number', 'integer', 'string', 'boolean', 'date', 'list', 'object'] as const
export type FactType = (typeof FACT_TYPES)[number]

/** Kleene's three values: `unknown` where a fact is missing or of the wrong type. */
export type Truth = 'true' | 'false' | 'unknown'

/** Requirements that an approval must meet before it counts. */
export interface ApprovalTerms {
  /** Distinct voters who must approve. */
  readonly quorum: number
  readonly expiresInMs: number
  readonly selfApproval: boolean
  /** A voter must hold a key group of every inner list. */
  readonly approvers: readonly (readonly string[])[]
  /** Fact paths that may differ between the approved request and the one that uses the approval. */
  readonly unbound: readonly string[]
}

export interface FactDeclaration {
  readonly path: FactPath
  readonly type: FactType
  readonly unit: string | undefined
  readonly description: string | undefined
  /** Stands in for a missing value. */
  readonly default: Json | undefined
}

export interface Comparison {
  /** With its decorators: `not:someFact:equal`. */
  readonly operator: string
  readonly wanted: Json
}

/** One comparison of a fact with a constant. */
export interface Leaf extends Comparison {
  readonly kind: 'leaf'
  readonly fact: FactPath
  /** Index in PolicyData.comparisons; leaves with the same comparison of the same fact share it. */
  readonly index: number
  readonly file: string
  readonly line: number
}

export type Condition =
  | Leaf
  | { readonly kind: 'all'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'any'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | { readonly kind: 'condition'; readonly name: string }

/** Common parts of rules and factors: their actions, and when they apply. */
export interface Candidate {
  readonly actions: readonly Glob[]
  /** Undefined means always. */
  readonly condition: Condition | undefined
  readonly file: string
  readonly line: number
}

export interface Rule extends Candidate {
  readonly id: string
  readonly endLine: number
  readonly effect: Effect
  readonly mode: (typeof RULE_MODES)[number]
  readonly reason: string
  readonly description: string | undefined
  /** The set's terms, overridden by those of the rule; an approval must meet them when this rule holds. */
  readonly terms: ApprovalTerms
}

export interface Factor extends Candidate {
  readonly name: string
  /** Most points that it adds, above 0 and up to 100. */
  readonly weight: number
  /** Adds nothing at `from` or below, the whole weight at `to` or above, in proportion between. */
  readonly scale: Scale | undefined
}

export interface Scale {
  readonly fact: FactPath
  readonly from: number
  readonly to: number
}

/** Scopes within which actions are counted together. */
export const COUNTED_BY = ['agent', 'tenant', 'session'] as const

/** A counter read as `history.count.<name>` or `history.sum.<name>`. It covers allowed actions and the one being checked. */
export interface Counter {
  readonly actions: readonly Glob[]
  /** The fact to sum; undefined when actions are counted. */
  readonly sum: FactPath | undefined
  readonly withinMs: number
  readonly by: (typeof COUNTED_BY)[number]
}

interface Session {
  /** The text that names the session. */
  readonly fact: FactPath
  /** Action patterns of `session.taken.<name>`, by path text. */
  readonly taken: ReadonlyMap<string, readonly Glob[]>
}

/** The fault of a value, `context.amount must be number`; undefined without one. Too much work for what is left is one. */
export type Validate = (value: Json, work: Work) => string | undefined

export interface ActionDeclaration {
  readonly name: string
  readonly description: string | undefined
  /** JSON Schemas, checked. */
  readonly context: JsonObject | undefined
  readonly plan: JsonObject | undefined
}

/** The compiled schemas of a declared action. */
export type Validators = Readonly<Record<'context' | 'plan', Validate | undefined>>

/** The facts of one evaluation, by path text; missing ones are absent. */
export type FactValues = ReadonlyMap<string, Json>

/** Facts read for one evaluation. */
export interface ReadFacts {
  readonly facts: FactValues
  /** Paths of the facts that take more work to read than was left; whether they have a value is unknown. */
  readonly refused: ReadonlySet<string>
}

/** Outcomes of leaves, by Leaf.index. */
export type Truths = ReadonlyMap<number, Truth>

/** Everything to evaluate about an action: its rules and factors, and their distinct leaves. */
export interface Question {
  /** The one domain that covers the action; undefined when none does. */
  readonly domain: string | undefined
  /** In declared order. */
  readonly rules: readonly Rule[]
  readonly factors: readonly Factor[]
  /** The facts that the leaves read, each once. */
  readonly facts: readonly FactPath[]
  /** The facts about earlier allowed actions, those of scales included. */
  readonly overTime: readonly FactPath[]
  /**
   * The outcomes, without those that take more work than is left. Overlapping calls share nothing that changes. A promise
   * only when it lets others run.
   *
   * @param isComplete asks also the leaves that no outcome needs, with what work is left: for an explanation
   */
  readonly answer: (read: ReadFacts, work: Work, isComplete: boolean) => Truths | Promise<Truths>
}

/** The parts that evaluate.ts needs. */
export interface Evaluator {
  readonly about: (action: string) => Question
  /** False when to find what is about the action may take milliseconds, which it does once. */
  readonly isQuick: (action: string) => boolean
  /** The distinct leaves of a rule or factor, in document order; none without a condition. */
  readonly leavesOf: (candidate: Candidate) => readonly Leaf[]
}

/** Everything that one tenant's policies say, as plain data that can be sent to another thread. */
export interface PolicyData {
  readonly tenant: string
  /** `sha256:…` over the parsed documents in file-name order and the contents of the lists. */
  readonly digest: string
  readonly mode: Mode
  readonly explain: 'full' | 'reason'
  /** IANA name, for `time.*`. */
  readonly timezone: string
  readonly defaults: { readonly decision: 'deny' | 'require_approval'; readonly reason: string }
  readonly thresholds: { readonly requireApproval: number; readonly deny: number }
  readonly approval: ApprovalTerms
  readonly domains: ReadonlyMap<string, readonly Glob[]>
  /** By path text. */
  readonly facts: ReadonlyMap<string, FactDeclaration>
  readonly actions: ReadonlyMap<string, ActionDeclaration>
  readonly session: Session | undefined
  /** By path text, such as `history.count.payments`. */
  readonly counters: ReadonlyMap<string, Counter>
  readonly conditions: ReadonlyMap<string, Condition>
  readonly conditionPlaces: ReadonlyMap<string, { readonly file: string; readonly line: number }>
  /** In declared order: file-name order, then document order. */
  readonly rules: readonly Rule[]
  readonly factors: readonly Factor[]
  readonly lists: ReadonlyMap<string, readonly Json[]>
  /** Comparisons of the leaves, by Leaf.index. */
  readonly comparisons: readonly Comparison[]
  readonly files: readonly string[]
}

/** Policies ready for evaluation; immutable, and replaced as a whole. */
export interface PolicySet extends PolicyData {
  readonly localTime: LocalClock
  /** Undefined for an action that is not declared. */
  readonly validators: (action: string) => Validators | undefined
  /** Asks the rules that are enforced. */
  readonly evaluator: Evaluator
  /** The set with its rules in shadow mode enforced; undefined where it has none. */
  readonly shadow: PolicySet | undefined
}

/** The rules that decide: those that are not in shadow. */
export function enforcedRules({ rules }: Pick<PolicyData, 'rules'>): readonly Rule[] {
  return rules.filter(({ mode }) => mode === 'enforce')
}

/** The one domain that covers the action; undefined when none does. */
export function domainOf(set: PolicySet, action: string): string | undefined {
  return set.evaluator.about(action).domain
}
