import { type Judgement, judge } from '../../gate/judge.ts'
import type { CheckRequest } from '../../gate/request.ts'
import type { Risk } from '../../gate/risk.ts'
import { principalOf } from '../../keys/apikey.ts'
import { coveringStop, reasonOf, type Subject } from '../../killswitch/killswitch.ts'
import { countsHistory, domainOf, type PolicySet } from '../../policies/set.ts'
import type { Caller, CheckDeps, ReadHistory } from '../deps.ts'
import { NOTHING_READ } from './history.ts'

/** The verdict of kill switch and policy in force, before approvals; `seen` is null when no history was read. */
export interface Judged extends Pick<ReadHistory, 'seen'>, Pick<Judgement, 'outcome' | 'risk'> {
  set: PolicySet | undefined
  subject: Subject
  judgement: Judgement
  nowMs: number
}

/**
 * Judges the request by the current state, without side effects, after `turnFor` its action. It awaits only what takes
 * time: earlier actions where the policies count them, and turns of what is long.
 */
export async function judgeNow(
  deps: CheckDeps,
  caller: Caller,
  { action, context, plan }: Pick<CheckRequest, 'action' | 'context' | 'plan'>,
): Promise<Judged> {
  const { pause } = deps
  const nowMs = deps.clock()
  const set = deps.policies.get(caller.tenantId)
  const subject = { chain: caller.chain, action, domain: set && domainOf(set, action) }
  const stop = coveringStop(deps.store.state().switches, subject)
  const agent = principalOf(caller.key)
  const counts = set !== undefined && countsHistory(set, action)
  const { history, seen } = counts
    ? await deps.history.read(set, caller.chain, { agent, nowMs, action, context, plan })
    : NOTHING_READ
  if (deps.isLarge) await pause?.(caller.tenantId)
  const judging = judge({
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
    pause: pause && (() => pause(caller.tenantId)),
  })
  const judgement = judging instanceof Promise ? await judging : judging
  const { outcome, risk } = judgement
  return { subject, set, outcome, risk, judgement, nowMs, seen }
}

/** The risk by the current state. */
export async function riskNow(
  deps: CheckDeps,
  caller: Caller,
  request: Pick<CheckRequest, 'action' | 'context' | 'plan'>,
): Promise<Risk> {
  await turnFor(deps, caller, request.action)
  return (await judgeNow(deps, caller, request)).risk
}

/** The turn to wait for where it may take milliseconds to find what is about the action, as it does once. */
export function turnFor(
  { policies, pause }: CheckDeps,
  { tenantId }: Caller,
  action: string,
): Promise<void> | undefined {
  return policies.get(tenantId)?.evaluator.isQuick(action) === false ? pause?.(tenantId) : undefined
}
