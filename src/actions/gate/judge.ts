import { judge } from '../../gate/judge.ts'
import type { CheckRequest } from '../../gate/request.ts'
import type { Risk } from '../../gate/risk.ts'
import { principalOf } from '../../keys/apikey.ts'
import { coveringStop, reasonOf } from '../../killswitch/killswitch.ts'
import { domainOf } from '../../policies/set.ts'
import type { Caller, CheckDeps } from '../deps.ts'
import { NOTHING_READ } from './history.ts'

/** The verdict of kill switch and policy in force, before approvals; `seen` is null when no history was read. */
export type Judged = Awaited<ReturnType<typeof judgeNow>>

/** Judges the request by the current state, without side effects, after `turnFor` its action. */
export async function judgeNow(
  deps: CheckDeps,
  caller: Caller,
  { action, context, plan }: Pick<CheckRequest, 'action' | 'context' | 'plan'>,
) {
  const nowMs = deps.clock()
  const set = deps.policies.get(caller.tenantId)
  const subject = { chain: caller.chain, action, domain: set && domainOf(set, action) }
  const stop = coveringStop(deps.store.state().switches, subject)
  const agent = principalOf(caller.key)
  const query = { agent, nowMs, action, context, plan }
  const { history, seen } = set ? await deps.history.read(set, caller.chain, query) : NOTHING_READ
  const { pause } = deps
  if (deps.isLarge) await pause?.(caller.tenantId)
  const judgement = await judge({
    set,
    killSwitchReason: stop && reasonOf(stop),
    tenant: caller.tenantId,
    environment: caller.environment,
    ...query,
    history,
    ...(pause && { pause: () => pause(caller.tenantId) }),
  })
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

/** Waits for a turn where it may take milliseconds to find what is about the action, as it does once. */
export async function turnFor({ policies, pause }: CheckDeps, { tenantId }: Caller, action: string): Promise<void> {
  if (policies.get(tenantId)?.evaluator.isQuick(action) === false) await pause?.(tenantId)
}
