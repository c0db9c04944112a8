import type { Environment } from '../base/environment.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { spend, type Work } from '../base/work.ts'
import type { ReadFact } from '../policies/evaluate.ts'
import type { LocalClock } from '../policies/local-time.ts'
import { ANY, type FactPath } from '../policies/path.ts'

/** The request, its requester and its time. */
export interface Asked {
  action: string
  tenant: string
  environment: Environment
  /** The identity of the calling key, else its id. */
  agent: string
  nowMs: number
  context: JsonObject | undefined
  plan: JsonObject | undefined
}

/** The context and plan of a recorded request. */
export function contextAndPlan({ context, plan }: JsonObject) {
  return { context: objectIn(context), plan: objectIn(plan) }
}

/** The value, if it is an object. */
export function objectIn(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}

/** Sources of the facts that the policies define. */
interface Defined {
  /** The domain of the action; undefined when it is in none. */
  domain: string | undefined
  /** The clock of the policy's time zone. */
  localTime: LocalClock
  /** Reads the facts about earlier allowed actions. */
  overTime: ReadFact
}

/** Reads the facts of one check: own members only, never inherited ones. */
export function factReader(asked: Asked, defined: Defined): ReadFact {
  // Computing the local time costs more than all other facts, and few policies read it.
  let local: ReturnType<LocalClock> | undefined
  const time = () => {
    local ??= defined.localTime(asked.nowMs)
    return local
  }
  return (path, work) => {
    switch (path.root) {
      case 'context':
      case 'plan':
        return requestFact(asked, path, work)
      case 'session':
      case 'history':
        return defined.overTime(path, work)
      case 'time':
        return path.text === 'time.hour' ? time().hour : path.text === 'time.weekday' ? time().weekday : undefined
      case 'domain':
        return path.segments.length === 0 ? defined.domain : undefined
      case 'action':
      case 'tenant':
      case 'environment':
      case 'agent':
        return path.segments.length === 0 ? asked[path.root] : undefined
      default:
        return undefined
    }
  }
}

/** A fact of the request itself, under context or plan. */
export function requestFact(
  { context, plan }: Partial<Pick<Asked, 'context' | 'plan'>>,
  path: FactPath,
  work: Work,
): Json | undefined {
  return readPath(path.root === 'plan' ? plan : context, path, work)
}

function readPath(root: JsonObject | undefined, path: FactPath, work: Work): Json | undefined {
  const star = path.segments.indexOf(ANY)
  if (star < 0) return readSegments(root, path.segments)
  const values = valuesOf(readSegments(root, path.segments.slice(0, star)))
  const rest = path.segments.slice(star + 1)
  if (values === undefined || !spend(work, 'item', values.length * (1 + rest.length))) return undefined
  // null where a value lacks the rest: it is of no type, so that no operator takes it for a match or a miss.
  return values.flatMap((value) => readSegments(value, rest) ?? null)
}

function readSegments(root: Json | undefined, segments: FactPath['segments']): Json | undefined {
  let value = root
  for (const segment of segments) {
    if (typeof segment !== 'string') return undefined
    value = member(value, segment)
  }
  return value
}

function member(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9][0-9]*)$/.test(key) ? value[Number(key)] : undefined
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function valuesOf(value: Json | undefined): Json[] | undefined {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value) : undefined
}
