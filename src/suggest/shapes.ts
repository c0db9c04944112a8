import { canonicalJson } from '../base/canonical.ts'
import { grouped } from '../base/grouped.ts'
import type { Json } from '../base/json.ts'
import type { Scalar } from '../policies/operators.ts'
import { type Arguments, LONG } from './arguments.ts'
import type { Held, HeldGroup } from './held.ts'
import { note, type Support, tally } from './tally.ts'

/** Values of one argument among requests that share shapes, and requests for each of them at least. */
const MAX_VALUES = 10
const MIN_REPEATS = 3

/** The least evidence for a proposal. */
export interface Minima {
  /** Requests, or approvals. */
  requests: number
  /** Days, or sessions. */
  days: number
  approvers: number
}

/** Requests that are alike: the same values of some arguments, and numbers within bounds. */
export interface Shape {
  same: ReadonlyMap<string, Scalar>
  within: ReadonlyMap<string, { from: number; to: number }>
  /** Arguments that only other requests had. */
  absent: readonly string[]
  /** Arguments that may have any value, or be missing. */
  free: readonly string[]
  support: Support
  approvers: number
}

/** Rules for finding shapes in a group. */
export interface ShapeRules {
  /** Facts that the policies read of the action. */
  read: ReadonlySet<string>
  /** True for an argument that may be anything: its approval does not bind it, or the author says so. */
  mayBeFree(path: string): boolean
  /** The value that policies read where the argument is missing. */
  defaultOf(path: string): Json | undefined
  minima: Minima
  /** Requests about the same action that were refused, whatever rules held them. */
  refused: readonly Held[]
  /** Requests about the same action of which no arguments are kept. */
  beyond: number
}

/** Why there is no shape in a group that has enough approvals. */
export interface NoShape {
  why: string
}

/**
 * Shapes of requests that people always approved. A request of the shape was never rejected, nor left to expire, nor
 * cancelled. Free values make no shape; an argument with free values bars it, unless it may be anything.
 */
export function shapesOf(group: HeldGroup, rules: ShapeRules): Shape[] | NoShape {
  const { minima, refused, beyond } = rules
  const approved = group.held.filter(({ result }) => result === 'approved')
  if (approved.length < minima.requests) return []
  if (beyond > 0) return { why: `${beyond} of its requests are too many, or have too many arguments` }
  const kinds = kindsOf(approved, [...group.held, ...refused], rules)
  const barred = [...kinds.free].filter((path) => !rules.mayBeFree(path) || rules.read.has(path))
  if (barred.length > 0)
    return { why: `${barred.join(', ')} has a new value in many of them; pass --free if it may have any` }
  if (kinds.same.length + kinds.numbers.length === 0) return { why: 'no argument has few values or a numeric limit' }
  const alike = grouped(approved, ({ args }) => canonicalJson(kinds.same.map((path) => args.get(path) as Json)))
  const shapes = [...alike.values()].map((some) => shapeOf(some, kinds))
  const clean = shapes.filter((shape) => !refused.some(({ args }) => fits(shape, args, rules)))
  const enough = clean.filter((shape) => isEnough(shape, minima))
  if (enough.length > 0) return enough
  return {
    why:
      clean.length < shapes.length
        ? 'some requests of the same shape were not approved'
        : 'too few have the same shape',
  }
}

interface Kinds {
  same: string[]
  absent: string[]
  numbers: string[]
  free: Set<string>
}

/** Sorts the arguments into those with few values, numbers that the policies read, and all others. */
function kindsOf(approved: readonly Held[], held: readonly Held[], { read, defaultOf }: ShapeRules): Kinds {
  const kinds: Kinds = { same: [], absent: [], numbers: [], free: new Set() }
  const paths = new Set(held.flatMap(({ args }) => [...args.keys()]))
  for (const path of [...paths].sort()) {
    const values = approved.map(({ args }) => args.get(path))
    const distinct = new Set(values)
    if (read.has(path) && values.every((value) => typeof value === 'number')) kinds.numbers.push(path)
    // A condition cannot tell a default from the same value in a request.
    else if (distinct.size === 1 && distinct.has(undefined) && defaultOf(path) === undefined) kinds.absent.push(path)
    else if (distinct.has(undefined) || distinct.has(LONG)) kinds.free.add(path)
    else if (distinct.size <= MAX_VALUES && distinct.size * MIN_REPEATS <= values.length) kinds.same.push(path)
    else kinds.free.add(path)
  }
  return kinds
}

function shapeOf(some: readonly Held[], { same, absent, numbers, free }: Kinds): Shape {
  const counted = tally()
  const approvers = new Set<string>()
  for (const one of some) {
    counted.add(one)
    for (const name of one.approvers) note(approvers, name)
  }
  const within = numbers.map((path): [string, { from: number; to: number }] => {
    const values = some.map(({ args }) => Number(args.get(path)))
    return [path, { from: Math.min(0, ...values), to: Math.max(...values) }]
  })
  return {
    same: new Map(same.map((path) => [path, some[0]?.args.get(path) as Scalar])),
    ...{ absent, within: new Map(within), free: [...free], support: counted.support(), approvers: approvers.size },
  }
}

/** True for a request of the shape, by the values that policies read. */
function fits(
  { same, absent, within }: Pick<Shape, 'same' | 'absent' | 'within'>,
  args: Arguments,
  { defaultOf }: Pick<ShapeRules, 'defaultOf'>,
): boolean {
  const read = (path: string) => args.get(path) ?? defaultOf(path)
  return (
    absent.every((path) => !args.has(path)) &&
    [...same].every(([path, value]) => read(path) === value) &&
    [...within].every(([path, { from, to }]) => {
      const value = read(path)
      return typeof value === 'number' && value >= from && value <= to
    })
  )
}

function isEnough({ support, approvers }: Shape, minima: Minima): boolean {
  const isSpread = Math.max(support.days, support.sessions) >= minima.days
  return support.requests >= minima.requests && isSpread && approvers >= minima.approvers
}
