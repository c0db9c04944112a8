import type { Environment } from '../../base/environment.ts'
import type { Glob } from '../../base/glob.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Decision, PolicyStep, Retry } from '../../policies/set.ts'
import type { Place } from '../yaml/node.ts'

/** The agent of a test that names none, and the default for members that an agent leaves out. */
export const DEFAULT_AGENT = { identity: 'agent', environment: 'live' } as const

/** The default time of a test: noon of a Monday, UTC. Never the clock of the machine. */
export const DEFAULT_NOW = '2026-01-05T12:00:00Z'

/** Dimensions of a matrix besides actions: the word for one, and the section of file and matrix that has the names. */
export const SECTIONS = { context: 'contexts', plan: 'plans', agent: 'agents', history: 'histories' } as const
export type Dimension = keyof typeof SECTIONS
export const DIMENSIONS = Object.keys(SECTIONS) as Dimension[]

export type ByDimension<T> = Readonly<Record<Dimension, T>>

export function byDimension<T>(make: (dimension: Dimension) => T): ByDimension<T> {
  return { context: make('context'), plan: make('plan'), agent: make('agent'), history: make('history') }
}

/** A value of a matrix. The name is undefined where the test leaves the dimension out. */
export interface Fixture<T> {
  readonly name: string | undefined
  readonly value: T
}

/** The agent, as far as policies can see it. */
export interface TestAgent {
  readonly identity: string
  readonly environment: Environment
}

/** An action that was allowed before. */
export interface PastAction {
  readonly action: string
  readonly context: JsonObject
  readonly plan: JsonObject | undefined
  readonly agent: TestAgent
  /** Time between the action and the time of the test. */
  readonly agoMs: number
}

/** An exact number, or a range that holds its bounds. */
export type Amount =
  | { readonly exactly: number }
  | { readonly min: number | undefined; readonly max: number | undefined }

/** The expected answer; undefined members are not compared. */
export interface Wanted {
  readonly decision: Decision
  /** The rule that decides; null for none. */
  readonly rule: string | null | undefined
  /** All rules whose condition is true, in any order. */
  readonly rules: readonly string[] | undefined
  readonly decidedBy: PolicyStep | undefined
  readonly retry: Retry | undefined
  /** Votes that the hold needs. */
  readonly quorum: number | undefined
  /** The groups of each of which an approver needs one, in any order. */
  readonly approvers: readonly (readonly string[])[] | undefined
  readonly reason: string | undefined
  readonly risk: Amount | undefined
  /** Contributions of factors, by name. */
  readonly factors: ReadonlyMap<string, Amount>
  /** All rules and factors that cannot be evaluated, in any order. */
  readonly unevaluable: readonly string[] | undefined
}

/** Combinations of a matrix that an expectation selects; an undefined dimension selects all. */
export interface Selector extends ByDimension<string | undefined> {
  readonly action: Glob | undefined
}

export interface Expectation {
  readonly selector: Selector
  readonly wanted: Wanted
  readonly place: Place
}

/** One test: every combination of its dimensions is a case. */
export interface PolicyTest {
  readonly name: string
  /** Reason for skipping it. */
  readonly skip: string | undefined
  readonly nowMs: number
  readonly actions: readonly string[]
  readonly contexts: readonly Fixture<JsonObject>[]
  /** Undefined: the request has no plan. */
  readonly plans: readonly Fixture<JsonObject | undefined>[]
  readonly agents: readonly Fixture<TestAgent>[]
  /** Earlier allowed actions. */
  readonly histories: readonly Fixture<readonly PastAction[]>[]
  /** Expectations: a case must meet each one that selects it, or be denied when none does. */
  readonly expectations: readonly Expectation[]
  /** Place of its name. */
  readonly place: Place
  readonly expectPlace: Place
}

export function casesIn({ actions, contexts, plans, agents, histories }: PolicyTest): number {
  return actions.length * contexts.length * plans.length * agents.length * histories.length
}
