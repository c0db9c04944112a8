import { type Judgement, judge } from '../gate/judge.ts'
import type { PolicySet } from '../policy/set.ts'
import type { Case } from './cases.ts'
import { type Difference, differencesOf } from './differences.ts'

/** What a case came to. It passed when there is no difference. */
export interface CaseResult {
  readonly asked: Case
  readonly judgement: Judgement
  /** Between what was expected and what was answered, of all expectations of the case. */
  readonly differences: readonly Difference[]
}

/** Asks the policies as a check does: by the same code, but for kill switches and approvals, which tests know nothing of. */
export async function runCase(set: PolicySet, asked: Case): Promise<CaseResult> {
  const { test, action, context, plan, agent } = asked
  const judgement = await judge({
    set,
    killSwitchReason: undefined,
    tenant: set.tenant,
    environment: agent.value.environment,
    agent: agent.value.identity,
    nowMs: test.nowMs,
    action,
    context: context.value,
    plan: plan.value,
  })
  return { asked, judgement, differences: differencesOf(asked, judgement) }
}
