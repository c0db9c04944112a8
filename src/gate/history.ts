import { type Decimal, decimalOf, minus, plus, toNumber, ZERO } from '../base/decimal.ts'
import { type Glob, matchesAny } from '../base/glob.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { spend, UNLIMITED, type Work } from '../base/work.ts'
import type { ReadFact } from '../policies/evaluate.ts'
import { type FactPath, SESSION_ACTIONS } from '../policies/path.ts'
import type { Counter, PolicySet } from '../policies/set.ts'
import { requestFact } from './facts.ts'

export interface AskedAction {
  readonly action: string
  readonly context?: JsonObject | undefined
  readonly plan?: JsonObject | undefined
}

/** Count and sum over allowed actions. */
export interface Tally {
  readonly count: number
  readonly total: Decimal
  /** Actions whose summed field is missing or not a number. */
  readonly missing: number
}

export const NO_TALLY: Tally = { count: 0, total: ZERO, missing: 0 }
/** One action whose amount is unknown. */
export const MISSING_AMOUNT: Tally = { count: 1, total: ZERO, missing: 1 }

/** Longer texts name no session. In UTF-16 units. */
const MAX_SESSION = 256
/** Beyond this number, `session.actions` and `session.taken.*` are missing, so that rules that restrain by them apply. */
export const MAX_SESSION_ACTIONS = 1000

/** The session of a request, named by the fact that the policies declare; undefined when it has none. */
export function sessionOf(set: PolicySet, asked: Omit<AskedAction, 'action'>): string | undefined {
  const name = set.session && requestValue(set, set.session.fact, asked)
  return typeof name === 'string' && name !== '' && name.length <= MAX_SESSION ? name : undefined
}

/** The fact of a request, or its declared default. */
function requestValue({ facts }: PolicySet, path: FactPath, asked: Omit<AskedAction, 'action'>): Json | undefined {
  // Paths without a `*`, which take no work to speak of.
  return requestFact(asked, path, UNLIMITED) ?? facts.get(path.text)?.default
}

/** The tally that one more action adds; empty where the counter is not about it. */
export function tallyOf(set: PolicySet, { actions, sum }: Counter, asked: AskedAction): Tally {
  if (!matchesAny(actions, asked.action)) return NO_TALLY
  if (sum === undefined) return { count: 1, total: ZERO, missing: 0 }
  const amount = requestValue(set, sum, asked)
  if (typeof amount !== 'number') return MISSING_AMOUNT
  return { count: 1, total: decimalOf(amount), missing: 0 }
}

export function addTallies(a: Tally, b: Tally): Tally {
  return { count: a.count + b.count, total: plus(a.total, b.total), missing: a.missing + b.missing }
}

export function subtractTally(a: Tally, b: Tally): Tally {
  return { count: a.count - b.count, total: minus(a.total, b.total), missing: a.missing - b.missing }
}

/** Sources of facts over time. */
export interface History {
  /** Tallies of the counters without the action being checked, by path text; absent where unknown. */
  readonly tallies: ReadonlyMap<string, Tally>
  /** Actions allowed in the session; undefined without a session, or where they are too many. */
  readonly sessionActions: ReadonlySet<string> | undefined
}

export const NO_HISTORY: History = { tallies: new Map(), sessionActions: undefined }

/** Reads the facts over time for this action, which counts as if it were allowed. */
export function overTimeReader(set: PolicySet, asked: AskedAction, history: History): ReadFact {
  return ({ text }, work) => {
    const { sessionActions } = history
    if (text === SESSION_ACTIONS) return sessionActions && [...sessionActions].sort()
    const globs = set.session?.taken.get(text)
    if (globs !== undefined) return sessionActions && anyTaken(globs, sessionActions, work)
    return counted(set, text, asked, history)
  }
}

function anyTaken(globs: readonly Glob[], actions: ReadonlySet<string>, work: Work): boolean | undefined {
  const characters = globs.reduce((sum, glob) => sum + glob.text.length, 0)
  for (const action of actions) {
    if (!spend(work, 'globCharacter', Math.ceil((characters * action.length) / 4))) return undefined
    if (matchesAny(globs, action)) return true
  }
  return false
}

function counted(set: PolicySet, text: string, asked: AskedAction, history: History): Json | undefined {
  const counter = set.counters.get(text)
  const before = history.tallies.get(text)
  if (counter === undefined || before === undefined) return undefined
  const { count, total, missing } = addTallies(before, tallyOf(set, counter, asked))
  if (counter.sum === undefined) return count
  const sum = toNumber(total)
  return missing === 0 && Number.isFinite(sum) ? sum : undefined
}

/** An action that was allowed, with its agent and time. */
export interface TakenAction extends AskedAction {
  readonly agent: string
  readonly atMs: number
}

/** The action being checked, with its agent and time. */
export interface HistoryQuery extends AskedAction {
  readonly agent: string
  readonly nowMs: number
}

/** The history that a list of allowed actions gives for a query, as the audit trail would give it. */
export function historyFrom(set: PolicySet, query: HistoryQuery, taken: readonly TakenAction[]): History {
  const session = sessionOf(set, query)
  const ofAgent = taken.filter(({ agent }) => agent === query.agent)
  const ofSession = ofAgent.filter((one) => session !== undefined && sessionOf(set, one) === session)
  const by = { tenant: taken, agent: ofAgent, session: ofSession }
  const tallies = new Map<string, Tally>()
  for (const [text, counter] of set.counters) {
    if (counter.by === 'session' && session === undefined) continue
    const within = by[counter.by].filter(({ atMs }) => atMs > query.nowMs - counter.withinMs)
    tallies.set(text, within.map((one) => tallyOf(set, counter, one)).reduce(addTallies, NO_TALLY))
  }
  const actions = new Set(ofSession.map(({ action }) => action))
  return {
    tallies,
    sessionActions: session === undefined || actions.size > MAX_SESSION_ACTIONS ? undefined : actions,
  }
}
