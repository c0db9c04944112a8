import { matchesAny } from '../../base/glob.ts'
import type { Json } from '../../base/json.ts'
import { UNLIMITED } from '../../base/work.ts'
import { comparisonTests, leafTest, parseOperator } from '../../policies/decorators.ts'
import type { FactPath } from '../../policies/path.ts'
import type { Leaf, PolicySet } from '../../policies/set.ts'
import { schemaPaths } from './schemas.ts'
import { place, type Situation } from './situation.ts'
import { type Compared, valuesFor } from './values.ts'

/** One independent choice, with its ways; the first is the plainest. */
export interface Axis {
  name: string
  ways: readonly ((situation: Situation) => void)[]
}

/** Most values of one fact. */
const MAX_WAYS = 60
const HOUR_MS = 3_600_000
/** A Monday, on which weeks of hours begin. */
const MONDAY_MS = Date.UTC(2026, 0, 5)
const WEEK_HOURS = 168

/** The choices that conditions, scales and schemas of two sets tell apart in requests about an action. */
export function axesOf(sets: readonly PolicySet[], action: string, base: Situation): Axis[] {
  const compared = sets.flatMap((set) => comparedIn(set, action))
  const facts = new Map<string, FactPath>()
  for (const { leaf } of compared) facts.set(leaf.fact.text, leaf.fact)
  const scales = sets.flatMap((set) => set.evaluator.about(action).factors.flatMap(({ scale }) => scale ?? []))
  for (const { fact } of scales) facts.set(fact.text, fact)
  for (const path of schemaPaths(sets, action)) if (!facts.has(path.text)) facts.set(path.text, path)
  const axes: Axis[] = []
  // Members before what they are in, which is left as they make it unless it is chosen otherwise.
  const inOrder = [...facts.values()].sort((a, b) => b.segments.length - a.segments.length)
  for (const fact of inOrder) {
    const mine = compared.filter(({ leaf }) => leaf.fact.text === fact.text)
    const bounds = scales.filter((scale) => scale.fact.text === fact.text).flatMap(({ from, to }) => [from, to])
    const axis = axisOf(fact, mine, bounds, { sets, action, base })
    const hasMembers = inOrder.some((other) => isWithin(other, fact))
    if (axis !== undefined) axes.push(hasMembers ? { ...axis, ways: [() => undefined, ...axis.ways] } : axis)
  }
  const timed = compared.filter(({ leaf }) => leaf.fact.root === 'time')
  if (timed.length > 0) axes.push(timeAxis(timed))
  return axes.filter(({ ways }) => ways.length > 1)
}

function isWithin(inner: FactPath, outer: FactPath): boolean {
  if (inner.root !== outer.root || inner.segments.length <= outer.segments.length) return false
  return outer.segments.every((segment, i) => segment === inner.segments[i])
}

function comparedIn(set: PolicySet, action: string): Compared[] {
  const { rules, factors } = set.evaluator.about(action)
  return [...rules, ...factors].flatMap((one) => set.evaluator.leavesOf(one)).map((leaf) => ({ leaf, set }))
}

/** Two sets, an action, and a plain request about it. */
interface Asked {
  sets: readonly PolicySet[]
  action: string
  base: Situation
}

function axisOf(
  fact: FactPath,
  compared: readonly Compared[],
  bounds: readonly number[],
  asked: Asked,
): Axis | undefined {
  const { root, text } = fact
  const { sets, action } = asked
  const isValid = validator(fact, asked)
  const values = distinct(valuesFor(fact, compared, bounds, sets, action), compared, bounds, isValid)
  switch (root) {
    case 'context':
    case 'plan':
      return { name: text, ways: values.map((value) => (situation) => place(situation, fact, value)) }
    case 'agent':
      return {
        name: text,
        ways: values
          .filter((value) => typeof value === 'string' && value !== '')
          .map((value) => (situation) => {
            situation.agent = String(value)
          }),
      }
    case 'environment':
      return {
        name: text,
        ways: (['live', 'test'] as const).map((environment) => (situation) => {
          situation.environment = environment
        }),
      }
    case 'history':
      return {
        name: text,
        ways: [0, ...values]
          .filter((value) => typeof value === 'number' && value >= 0)
          .map((value) => (situation) => {
            situation.overTime.set(text, Number(value))
          }),
      }
    case 'session':
      return sessionAxis(fact, compared, sets)
    default:
      return undefined
  }
}

/** No session, one without actions, and one with an action of each kind that the policies tell apart. */
function sessionAxis(fact: FactPath, compared: readonly Compared[], sets: readonly PolicySet[]): Axis {
  const taken = sets.flatMap(({ session }) => [...(session?.taken.get(fact.text) ?? [])])
  const samples = taken.map(({ text }) => text.replaceAll('**', 'x').replaceAll('*', 'x'))
  const named = compared.flatMap(({ leaf }) => [leaf.wanted].flat()).filter((value) => typeof value === 'string')
  const actions = [...new Set([...samples, ...named])].filter((one) => named.includes(one) || matchesAny(taken, one))
  const begin = (situation: Situation, with_: readonly string[]): void => {
    for (const { session } of sets) if (session !== undefined) place(situation, session.fact, 'a session')
    situation.taken = [...(situation.taken ?? []), ...with_]
  }
  return {
    name: fact.text,
    ways: [
      (situation) => begin(situation, []),
      () => undefined,
      ...actions.slice(0, MAX_WAYS).map((action) => (situation: Situation) => begin(situation, [action])),
    ],
  }
}

/** One time for each combination of outcomes within a week. */
function timeAxis(compared: readonly Compared[]): Axis {
  const kinds = new Map<string, number>()
  const asked = compared.map(({ leaf, set }) => ({ test: testerOf(set, leaf), fact: leaf.fact.text, set }))
  for (let hour = 0; hour < WEEK_HOURS; hour += 1) {
    const atMs = MONDAY_MS + hour * HOUR_MS
    const key = asked.map(({ test, fact, set }) => {
      const { hour: of, weekday } = set.localTime(atMs)
      return test(fact === 'time.hour' ? of : weekday)
    })
    if (!kinds.has(key.join())) kinds.set(key.join(), atMs)
  }
  return {
    name: 'time',
    ways: [...kinds.values()].map((atMs) => (situation) => {
      situation.nowMs = atMs
    }),
  }
}

export function testerOf(set: PolicySet, leaf: Leaf): (value: Json | undefined) => string {
  const parsed = parseOperator(leaf.operator)
  const test = comparisonTests(set)(leaf.index)
  return parsed === undefined || test === undefined ? () => 'unknown' : leafTest(parsed, test)
}

/** Tells whether a plain request with this value fits the schemas of the action. */
function validator(fact: FactPath, { sets, action, base }: Asked): (value: Json | undefined) => boolean {
  const declared = sets.flatMap((set) => set.validators(action)?.context ?? [])
  return (value) => {
    const situation = { ...base, context: structuredClone(base.context), plan: structuredClone(base.plan) }
    if (fact.root === 'context') place(situation, fact, value)
    return declared.every((fault) => fault(situation.context, UNLIMITED) === undefined)
  }
}

/** One value for each combination of outcomes, those first that schemas let through; between bounds of scales all stay. */
function distinct(
  values: readonly (Json | undefined)[],
  compared: readonly Compared[],
  bounds: readonly number[],
  isValid: (value: Json | undefined) => boolean,
): (Json | undefined)[] {
  const testers = compared.map(({ leaf, set }) => {
    const test = testerOf(set, leaf)
    const standIn = set.facts.get(leaf.fact.text)?.default
    return (value: Json | undefined) => test(value ?? standIn)
  })
  const kinds = new Map<string, Json | undefined>()
  const fitting = values.filter(isValid)
  for (const value of [...fitting, ...values.filter((one) => !fitting.includes(one))]) {
    const scaled = bounds.length > 0 ? JSON.stringify(value) : typeof value
    const key = [scaled, fitting.includes(value), ...testers.map((test) => test(value))].join()
    if (!kinds.has(key)) kinds.set(key, value)
  }
  return [...kinds.values()].slice(0, MAX_WAYS)
}
