import type { Environment } from '../../base/environment.ts'
import type { Glob } from '../../base/glob.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Decision, PolicyStep, Retry } from '../../policies/set.ts'
import type { Place } from '../yaml/node.ts'

/** Who asks where a test names no agent, and what stands in for what an agent leaves out. */
export const DEFAULT_AGENT = { identity: 'agent', environment: 'live' } as const

/** The clock of a test where neither it nor its file has one: noon of a Monday, UTC. Never the clock of the machine. */
export const DEFAULT_NOW = '2026-01-05T12:00:00Z'

/** What a matrix combines beside actions: the word for one, and the section of file and matrix that has the names. */
export const SECTIONS = { context: 'contexts', plan: 'plans', agent: 'agents', history: 'histories' } as const
export type Dimension = keyof typeof SECTIONS
export const DIMENSIONS = Object.keys(SECTIONS) as Dimension[]

/** A value that a matrix asks with. The name is undefined where the test leaves the dimension out. */
export interface Fixture<T> {
  readonly name: string | undefined
  readonly value: T
}

/** Who asks, as far as policies can see it. */
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
  /** How long before the time of the test. */
  readonly agoMs: number
}

/** An exact number, or a range that holds its bounds. */
export type Amount =
  | { readonly exactly: number }
  | { readonly min: number | undefined; readonly max: number | undefined }

/** What must be answered; what is undefined is not looked at. */
export interface Wanted {
  readonly decision: Decision
  /** The rule that decides; null for none. */
  readonly rule: string | null | undefined
  /** All rules whose condition is true, in any order. */
  readonly rules: readonly string[] | undefined
  readonly decidedBy: PolicyStep | undefined
  readonly retry: Retry | undefined
  readonly reason: string | undefined
  readonly risk: Amount | undefined
  /** What factors contribute, by name. */
  readonly factors: ReadonlyMap<string, Amount>
  /** All rules and factors that cannot be evaluated, in any order. */
  readonly unevaluable: readonly string[] | undefined
}

/** The combinations of a matrix that an expectation is about; what is undefined is any. */
export interface Selector {
  readonly action: Glob | undefined
  readonly context: string | undefined
  readonly plan: string | undefined
  readonly agent: string | undefined
  readonly history: string | undefined
}

export interface Expectation {
  readonly selector: Selector
  readonly wanted: Wanted
  readonly place: Place
}

/** One test: every combination of its dimensions is a case. */
export interface PolicyTest {
  readonly name: string
  /** Why it is left out. */
  readonly skip: string | undefined
  readonly nowMs: number
  readonly actions: readonly string[]
  readonly contexts: readonly Fixture<JsonObject>[]
  /** Undefined: the request has no plan. */
  readonly plans: readonly Fixture<JsonObject | undefined>[]
  readonly agents: readonly Fixture<TestAgent>[]
  /** What was allowed before. */
  readonly histories: readonly Fixture<readonly PastAction[]>[]
  /** A case is held to each of those that select it, and to a denial when none does. */
  readonly expectations: readonly Expectation[]
  /** Of its name. */
  readonly place: Place
  /** Of the key `expect`. */
  readonly expectPlace: Place
}

/** How many cases the matrix of a test makes. */
export function casesIn({ actions, contexts, plans, agents, histories }: PolicyTest): number {
  return actions.length * contexts.length * plans.length * agents.length * histories.length
}
