import { MAX_WORK, type Pause } from '../../base/work.ts'
import { type Judgement, judge, type Question } from '../../gate/judge.ts'
import type { CheckRequest } from '../../gate/request.ts'
import type { Risk } from '../../gate/risk.ts'
import { principalOf } from '../../keys/apikey.ts'
import { coveringStop, reasonOf, type Subject } from '../../killswitch/killswitch.ts'
import { domainOf, type PolicySet } from '../../policies/set.ts'
import type { Caller, CheckDeps, ReadHistory } from '../deps.ts'
import { countsHistory, NOTHING_READ } from './history.ts'

/** The verdict of kill switch and policy in force, before approvals; `seen` is null when no history was read. */
export interface Judged extends Pick<ReadHistory, 'seen'>, Pick<Judgement, 'outcome' | 'risk'> {
  set: PolicySet | undefined
  subject: Subject
  judgement: Judgement
  nowMs: number
}

/** Time of an evaluation after which others have their turn; a check that pauses is committed apart from those it came with. */
const SLICE_MS = 2

type Asked = Pick<CheckRequest, 'action' | 'context' | 'plan'>

/**
 * Judges the request by the current state, without side effects, after `turnFor` its action. A promise only for what takes
 * time: earlier actions where the policies count them, and turns of what is long.
 */
export function judgeNow(
  deps: CheckDeps,
  caller: Caller,
  asked: Asked,
  { isExplained, reservation }: JudgeOptions,
): Judged | Promise<Judged> {
  return judgeAt(situationOf(deps, caller, asked, isExplained), deps, caller, asked, reservation)
}

/**
 * Judges a judged request by another set, as of the same time and as if nothing were stopped, with half of the work of a
 * check.
 *
 * @throws what reading the history throws
 */
export function judgeBeside(
  deps: CheckDeps,
  caller: Caller,
  asked: Asked,
  { subject, nowMs }: Judged,
  set: PolicySet,
): Judged | Promise<Judged> {
  const beside = { set, subject, nowMs, stop: undefined, agent: principalOf(caller.key), isExplained: false }
  const judging = (): Judged | Promise<Judged> =>
    judgeAt({ ...beside, maxWork: MAX_WORK / 2 }, deps, caller, asked, null)
  const turn = set.evaluator.isQuick(asked.action) ? undefined : deps.pause?.(caller.tenantId)
  return turn?.then(judging) ?? judging()
}

function judgeAt(
  now: Situation,
  deps: CheckDeps,
  caller: Caller,
  asked: Asked,
  reservation: string | null,
): Judged | Promise<Judged> {
  const { set } = now
  if (set !== undefined && countsHistory(set, asked.action))
    return deps.history
      .read(set, caller.chain, queryOf(now, asked), reservation)
      .then((read) => judgeIn(now, deps, caller, asked, read))
  return judgeIn(now, deps, caller, asked, NOTHING_READ)
}

/** Gives an overtaken decision its counters to itself, before its time and its policies are looked at. */
export async function reserveFor(deps: CheckDeps, caller: Caller, asked: Asked, reservation: string): Promise<void> {
  const now = situationOf(deps, caller, asked, false)
  if (now.set !== undefined) await deps.history.reserve(now.set, caller.chain, queryOf(now, asked), reservation)
}

interface JudgeOptions {
  isExplained: boolean
  /** Name under which an overtaken decision has its counters to itself. */
  reservation: string | null
}

/** The state that a judgement is made by. */
type Situation = ReturnType<typeof situationOf> & Pick<Question, 'maxWork'>

function situationOf(
  { clock, policies, store }: CheckDeps,
  { tenantId, chain, key }: Caller,
  { action }: Asked,
  isExplained: boolean,
) {
  const nowMs = clock()
  const set = policies.get(tenantId)
  const subject = { chain, action, domain: set && domainOf(set, action) }
  const stop = coveringStop(store.state().switches, subject)
  return { nowMs, set, subject, stop, agent: principalOf(key), isExplained }
}

function queryOf({ agent, nowMs }: Situation, { action, context, plan }: Asked) {
  return { agent, nowMs, action, context, plan }
}

function judgeIn(
  now: Situation,
  deps: CheckDeps,
  caller: Caller,
  asked: Asked,
  { history, seen }: ReadHistory,
): Judged | Promise<Judged> {
  const { pause, isLarge } = deps
  const { set, subject, stop, agent, nowMs, isExplained, maxWork } = now
  const { action, context, plan } = asked
  const conclude = (judgement: Judgement): Judged => {
    const { outcome, risk } = judgement
    return { subject, set, outcome, risk, judgement, nowMs, seen }
  }
  const evaluate = (): Judgement | Promise<Judgement> =>
    judge({
      set,
      killSwitchReason: stop && reasonOf(stop),
      tenant: caller.tenantId,
      environment: caller.environment,
      agent,
      nowMs,
      action,
      context,
      plan,
      history,
      isExplained,
      ...(maxWork !== undefined && { maxWork }),
      pause: pause && inSlices(() => pause(caller.tenantId)),
    })
  const judging = isLarge && pause ? pause(caller.tenantId).then(evaluate) : evaluate()
  return judging instanceof Promise ? judging.then(conclude) : conclude(judging)
}

/** Pauses when an evaluation has run for `SLICE_MS` since its beginning or its last pause. */
export function inSlices(pause: () => Promise<void>): Pause {
  let resumedMs = performance.now()
  const resume = (): void => {
    resumedMs = performance.now()
  }
  return () => (performance.now() - resumedMs < SLICE_MS ? undefined : pause().then(resume))
}

/** The risk by the current state. */
export async function riskNow(deps: CheckDeps, caller: Caller, request: Asked): Promise<Risk> {
  await turnFor(deps, caller, request.action)
  return (await judgeNow(deps, caller, request, { isExplained: false, reservation: null })).risk
}

/** The turn to wait for where it may take milliseconds to find what is about the action, as it does once. */
export function turnFor(
  { policies, pause }: CheckDeps,
  { tenantId }: Caller,
  action: string,
): Promise<void> | undefined {
  return policies.get(tenantId)?.evaluator.isQuick(action) === false ? pause?.(tenantId) : undefined
}
