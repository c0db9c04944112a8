import { globMatches } from '../../base/glob.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { FactPath } from '../../policies/path.ts'
import type { Candidate, Leaf, PolicyData } from '../../policies/set.ts'
import { BUILT_IN_FACTS } from '../load/fact-names.ts'
import { closest } from '../suggest/closest.ts'

/** A declared action's schema of its context, as JSON. */
interface DeclaredContext {
  readonly context: Json | undefined
}

/** Declared actions that a rule or factor is about. */
export function declaredFor<T>({ actions }: Pick<Candidate, 'actions'>, declared: ReadonlyMap<string, T>): T[] {
  // Sets declare thousands of actions, while most rules name a few.
  if (actions.every(({ exact }) => exact)) return actions.flatMap(({ text }) => declared.get(text) ?? [])
  return [...declared].flatMap(([name, one]) => (actions.some((glob) => globMatches(glob, name)) ? [one] : []))
}

/** True when the leaf tests for a value, and so is true or false for a missing one too. */
export function isPresenceTest({ operator }: Leaf): boolean {
  return operator === 'exists' || operator === 'missing'
}

/** Declarations that determine whether facts can be missing. */
export interface Presence extends Pick<PolicyData, 'facts' | 'session' | 'counters'> {
  /** Schemas of the declared actions that a rule or factor is about. */
  readonly contextsOf: (about: Pick<Candidate, 'actions'>) => readonly DeclaredContext[]
}

/**
 * True when a request that fits its schemas can lack the fact. It cannot when the fact is built in, has a default, or
 * is required in the context by all of the declared actions. A fact over time is missing where its source is.
 */
export function mayBeMissing(fact: FactPath, about: Pick<Candidate, 'actions'>, presence: Presence): boolean {
  const { facts, session, counters } = presence
  if (BUILT_IN_FACTS.has(fact.text) || facts.get(fact.text)?.default !== undefined) return false
  // A session that is not declared has its own fault.
  const mayLackSession = (): boolean => session !== undefined && mayBeMissing(session.fact, about, presence)
  if (fact.root === 'session') return mayLackSession()
  if (fact.root === 'history') {
    // Undefined when its declaration has a fault.
    const { by, sum, actions = [] } = counters.get(fact.text) ?? {}
    return (by === 'session' && mayLackSession()) || (sum !== undefined && mayBeMissing(sum, { actions }, presence))
  }
  const declared = fact.root === 'context' ? presence.contextsOf(about) : []
  // A plan may be left out, whatever its schema requires.
  if (declared.length === 0) return true
  const names = namesBeforeStar(fact)
  return !declared.every(({ context }) => isRequired(context, names))
}

function namesBeforeStar({ segments }: FactPath): string[] {
  const star = segments.findIndex((segment) => typeof segment !== 'string')
  return segments.slice(0, star < 0 ? undefined : star).flatMap((segment) => segment ?? [])
}

/** Most steps into schemas within schemas: a recursive one is an error of its own. */
const MAX_DEPTH = 8

/** True when a value that passes the schema always has the member. */
export function isRequired(root: Json | undefined, names: readonly string[]): boolean {
  if (root === undefined || !isJsonObject(root)) return false
  return names.length > 0 && needs(partsOf(root, root, MAX_DEPTH), names, root, MAX_DEPTH)
}

/** True when every value that passes all of the schemas has the member. */
function needs(parts: readonly JsonObject[], names: readonly string[], root: JsonObject, depth: number): boolean {
  const [name, ...below] = names
  if (name === undefined) return true
  const members = parts.flatMap(({ properties }) => partsOf(memberOf(properties, name), root, MAX_DEPTH))
  if (parts.some((part) => requires(part, name)) && needs(members, below, root, depth)) return true
  const choices = parts.flatMap(({ anyOf, oneOf }) => [anyOf, oneOf].filter((list) => Array.isArray(list)))
  const branchNeeds = (branch: Json): boolean => needs(partsOf(branch, root, depth - 1), names, root, depth - 1)
  return depth > 0 && choices.some((branches) => branches.length > 0 && branches.every(branchNeeds))
}

/** The schema and those that hold with it: the target of its reference, and all of its `allOf`. */
function partsOf(schema: Json | undefined, root: JsonObject, depth: number): JsonObject[] {
  const part = resolved(schema, root)
  if (part === undefined || !isJsonObject(part)) return []
  const more = depth > 0 && Array.isArray(part.allOf) ? part.allOf : []
  return [part, ...more.flatMap((one) => partsOf(one, root, depth - 1))]
}

function requires({ required, properties }: JsonObject, name: string): boolean {
  if (!Array.isArray(required)) return false
  if (required.includes(name)) return true
  if (!isJsonObject(properties)) return false
  // A misspelt name is one fault, and reported where it stands.
  return required.some((one) => typeof one === 'string' && meantMember(one, Object.keys(properties)) === name)
}

/** The described member that a required one probably means; undefined for one that is described itself. */
export function meantMember(required: string, described: readonly string[]): string | undefined {
  return described.includes(required) ? undefined : closest(required, described)
}

/** Resolves a schema that is a reference into `$defs`. */
function resolved(schema: Json | undefined, root: JsonObject): Json | undefined {
  let at = schema
  // Every reference leads to another definition, and recursion is an error of its own.
  for (let steps = Object.keys(isJsonObject(root.$defs) ? root.$defs : {}).length; steps > 0; steps -= 1) {
    const reference = memberOf(at, '$ref')
    const target = typeof reference === 'string' ? memberOf(root.$defs, reference.slice('#/$defs/'.length)) : undefined
    if (target === undefined) return at
    at = target
  }
  return at
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  return value !== undefined && isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
