import { canonicalJson } from '../base/canonical.ts'
import { grouped } from '../base/grouped.ts'
import type { Json } from '../base/json.ts'
import type { Scalar } from '../policies/operators.ts'
import { factPath, parseFactPath } from '../policies/path.ts'
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

/** Bounds of a number, and the largest that were seen: one alone may be a slip. */
interface Range {
  from: number
  to: number
  largest: readonly number[]
}

/** Requests that are alike: the same values of some arguments, and numbers within bounds. */
export interface Shape {
  same: ReadonlyMap<string, Scalar>
  within: ReadonlyMap<string, Range>
  /** Arguments that only other requests had. */
  absent: readonly string[]
  /** Arguments that may have any value, or be missing. */
  free: readonly string[]
  support: Support
  approvers: number
}

/** Rules for finding shapes in a group. */
export interface ShapeRules {
  /** Facts of the request that the policies read of the action. */
  read: ReadonlySet<string>
  /** Paths of the arguments that any request about the action had, whatever was decided. */
  seen: ReadonlySet<string>
  /** True for a number that the policies only restrain above a limit, so that a lower one is safer. */
  isUpward(path: string): boolean
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
  const kinds = kindsOf(approved, rules)
  const barred = [...kinds.free].filter((path) => !rules.mayBeFree(path) || rules.read.has(path))
  if (barred.length > 0)
    return {
      why: `${barred.join(', ')} has a new value in many of them, or none; pass --free if it may have any`,
    }
  if (kinds.same.length + kinds.numbers.length === 0) return { why: 'no argument has few values or a numeric limit' }
  const alike = grouped(approved, ({ args }) =>
    canonicalJson(kinds.same.map((path) => valueFor(args, path, rules) as Json)),
  )
  const shapes = [...alike.values()].map((some) => shapeOf(some, kinds, rules))
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
function kindsOf(approved: readonly Held[], rules: ShapeRules): Kinds {
  const { read, seen } = rules
  const kinds: Kinds = { same: [], absent: [], numbers: [], free: new Set() }
  const had = new Set(approved.flatMap(({ args }) => [...args.keys()].flatMap(prefixesOf)))
  // An object that none of them had must be missing as a whole.
  const asked = [...seen, ...read].map((path) => (had.has(path) ? path : outermost(path, had)))
  for (const path of [...new Set(asked)].sort()) {
    const values = approved.map(({ args }) => valueFor(args, path, rules))
    const distinct = new Set(values)
    if (read.has(path) && values.every((value) => typeof value === 'number')) kinds.numbers.push(path)
    // A condition cannot tell a default from the same value in a request.
    else if (!had.has(path) && rules.defaultOf(path) === undefined && !path.includes('*')) kinds.absent.push(path)
    else if (distinct.has(undefined) || distinct.has(LONG)) kinds.free.add(path)
    else if (distinct.size <= MAX_VALUES && distinct.size * MIN_REPEATS <= values.length) kinds.same.push(path)
    else kinds.free.add(path)
  }
  return kinds
}

/** The paths of the objects that an argument lies in, and its own. */
function prefixesOf(text: string): string[] {
  const { root, segments } = parseFactPath(text) ?? { root: text, segments: [] }
  return segments.map((_, i) => factPath(root, segments.slice(0, i + 1)).text)
}

/** The path of the outermost object of an argument that is not among these. */
function outermost(path: string, had: ReadonlySet<string>): string {
  return prefixesOf(path).find((prefix) => !had.has(prefix)) ?? path
}

/**
 * The value that policies read. The default of a number is not one: people who approved a request without an amount did
 * not approve that amount.
 */
function valueFor(args: Arguments, path: string, { read, defaultOf }: ShapeRules): Scalar | typeof LONG | undefined {
  const inPlace = read.has(path) ? defaultOf(path) : undefined
  return args.get(path) ?? (typeof inPlace === 'string' || typeof inPlace === 'boolean' ? inPlace : undefined)
}

function shapeOf(some: readonly Held[], { same, absent, numbers, free }: Kinds, rules: ShapeRules): Shape {
  const counted = tally()
  const approvers = new Set<string>()
  for (const one of some) {
    counted.add(one)
    for (const name of one.approvers) note(approvers, name)
  }
  const within = numbers.map((path): [string, Range] => {
    const values = some.map(({ args }) => Number(args.get(path)))
    const least = values.reduce((a, b) => Math.min(a, b))
    const largest = values.toSorted((a, b) => b - a).slice(0, MIN_REPEATS)
    return [path, { from: rules.isUpward(path) ? Math.min(0, least) : least, to: largest[0] ?? least, largest }]
  })
  return {
    same: new Map(same.map((path) => [path, valueFor(some[0]?.args ?? new Map(), path, rules) as Scalar])),
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
    [...args.keys()].every((path) => !prefixesOf(path).some((prefix) => absent.includes(prefix))) &&
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
