import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { ANY, type FactPath } from '../../policies/path.ts'
import type { PolicySet } from '../../policies/set.ts'
import { sampleOfSchema } from './schemas.ts'

/** A request with everything that policies may read, which choices fill in. */
export interface Situation {
  context: JsonObject
  plan: JsonObject | undefined
  agent: string
  environment: 'live' | 'test'
  nowMs: number
  /** Values of counts and sums, with the action itself, by path text. */
  overTime: Map<string, number>
  /** Actions taken in the session; undefined without one. */
  taken: string[] | undefined
}

/** A plain request about the action, which fits its schemas as far as `sampleOfSchema` can make it. */
export function baseOf(sets: readonly PolicySet[], action: string): Situation {
  const [context, plan] = (['context', 'plan'] as const).map((part) => {
    const schema = sets.map((set) => set.actions.get(action)?.[part]).find((one) => one !== undefined)
    const sample = sampleOfSchema(schema)
    return isJsonObject(sample) ? sample : {}
  })
  return {
    context: context ?? {},
    plan: Object.keys(plan ?? {}).length === 0 ? undefined : plan,
    ...{ agent: 'agent', environment: 'live', nowMs: Date.UTC(2026, 0, 5, 12) },
    ...{ overTime: new Map<string, number>(), taken: undefined },
  }
}

/** Sets a fact of the request; a path with `*` gets a list of objects, each with the rest. */
export function place(situation: Situation, { root, segments }: FactPath, value: Json | undefined): void {
  if (root === 'plan' && segments.length === 0) {
    situation.plan = isJsonObject(value) ? value : undefined
    return
  }
  if (root === 'plan') situation.plan ??= {}
  const base = root === 'plan' ? situation.plan : situation.context
  if (base === undefined || segments.length === 0) return
  const star = segments.indexOf(ANY)
  const before = (star < 0 ? segments : segments.slice(0, star)) as string[]
  const rest = (star < 0 ? [] : segments.slice(star + 1)) as string[]
  const items = Array.isArray(value) ? value : []
  const whole =
    star < 0 ? value : items.map((item) => rest.reduceRight<Json>((inner, name) => ({ [name]: inner }), item))
  let inner: JsonObject = base
  for (const [i, name] of before.entries()) {
    if (i === before.length - 1) {
      if (whole === undefined) delete inner[name]
      else inner[name] = whole
      return
    }
    const next = inner[name]
    if (whole === undefined && !isJsonObject(next)) return
    const made: JsonObject = isJsonObject(next) ? next : {}
    inner[name] = made
    inner = made
  }
}
