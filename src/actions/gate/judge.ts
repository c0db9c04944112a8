import type { Ruling } from '../../gate/decide.ts'
import { type Judgement, judge } from '../../gate/judge.ts'
import type { CheckRequest } from '../../gate/request.ts'
import type { Risk } from '../../gate/risk.ts'
import { principalOf } from '../../keys/apikey.ts'
import { coveringStop, reasonOf } from '../../killswitch/killswitch.ts'
import { domainOf, type PolicySet } from '../../policies/set.ts'
import type { Caller, CheckDeps, Seen } from '../deps.ts'
import { NOTHING_READ } from './history.ts'

/** The verdict of kill switch and policy in force, before approvals. */
export interface Judged {
  subject: { chain: string; action: string; domain: string | undefined }
  set: PolicySet | undefined
  outcome: Ruling
  risk: Risk
  /** Input of an explanation. */
  judgement: Judgement
  nowMs: number
  /** The part of the chain that was read, and its guard; null when no history was read. */
  seen: Seen | null
}

/** Judges the request by the current state, without side effects. */
export async function judgeNow(
  deps: CheckDeps,
  caller: Caller,
  { action, context, plan }: Pick<CheckRequest, 'action' | 'context' | 'plan'>,
): Promise<Judged> {
  const nowMs = deps.clock()
  const set = deps.policies.get(caller.tenantId)
  const subject = { chain: caller.chain, action, domain: set && domainOf(set, action) }
  const stop = coveringStop(deps.store.state().switches, subject)
  const agent = principalOf(caller.key)
  const query = { agent, nowMs, action, context, plan }
  const { history, seen } = set ? await deps.history.read(set, caller.chain, query) : NOTHING_READ
  const judgement = await judge({
    set,
    killSwitchReason: stop && reasonOf(stop),
    tenant: caller.tenantId,
    environment: caller.environment,
    ...query,
    history,
  })
  const { outcome, risk } = judgement
  return { subject, set, outcome, risk, judgement, nowMs, seen }
}
