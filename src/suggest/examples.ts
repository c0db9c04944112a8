import type { Environment } from '../base/environment.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { ANY, type FactPath, factPath } from '../policies/path.ts'
import type { Decision, PolicySet } from '../policies/set.ts'
import type { Recorded } from '../replay/recorded.ts'

/** Characters of what an example carries. */
const MAX_EXAMPLE = 2000

/** A recorded request with no more of it than policies read. */
export interface Example {
  /** Id of the decision. */
  id: string
  action: string
  context: JsonObject
  plan: JsonObject | undefined
  agent: { identity: string; environment: Environment }
  nowMs: number
  /** Decision of the policies, and with the proposal. */
  from: Decision
  to: Decision
}

/** The part of a request that conditions, scales and schemas of these sets read. Undefined where that is long, or erased. */
export function partOf(recorded: Recorded, sets: readonly PolicySet[]): Pick<Example, 'context' | 'plan'> | undefined {
  const { asked, action } = recorded
  if (asked === undefined) return undefined
  const paths = sets.flatMap((set) => pathsRead(set, action))
  const context = picked(asked.context, paths, 'context')
  const plan = asked.plan && picked(asked.plan, [factPath('plan', ['action']), ...paths], 'plan')
  return JSON.stringify([context, plan ?? null]).length > MAX_EXAMPLE ? undefined : { context, plan }
}

/** Facts that the rules and factors about an action read, what they add up, and what its schemas require. */
function pathsRead(set: PolicySet, action: string): FactPath[] {
  const { facts, factors, overTime } = set.evaluator.about(action)
  const counted = overTime.flatMap(({ text }) => set.counters.get(text)?.sum ?? [])
  const schemas = set.actions.get(action)
  const required = (['context', 'plan'] as const).flatMap((root) =>
    requiredBy(schemas?.[root]).map((name) => factPath(root, [name])),
  )
  return [...facts, ...counted, ...factors.flatMap(({ scale }) => scale?.fact ?? []), ...required]
}

function requiredBy(schema: JsonObject | undefined): string[] {
  return Array.isArray(schema?.required) ? schema.required.filter((name) => typeof name === 'string') : []
}

function picked(from: JsonObject | undefined, paths: readonly FactPath[], root: string): JsonObject {
  const to: JsonObject = {}
  for (const { segments } of paths.filter((path) => path.root === root)) pick(from, to, segments)
  return to
}

/** Copies the value at a path; of a list, or where the path has any name, all of it. */
function pick(from: JsonObject | undefined, to: JsonObject, [name, ...rest]: FactPath['segments']): void {
  if (typeof name !== 'string' || from === undefined || !Object.hasOwn(from, name)) return
  const value: Json = from[name] ?? null
  if (rest.length === 0 || rest[0] === ANY || !isJsonObject(value)) to[name] = value
  else {
    const known = to[name]
    const inner = isJsonObject(known) ? known : {}
    to[name] = inner
    pick(value, inner, rest)
  }
}
