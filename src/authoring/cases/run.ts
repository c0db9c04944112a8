import { historyFrom, type TakenAction } from '../../gate/history.ts'
import { type Judgement, judge } from '../../gate/judge.ts'
import type { PolicySet } from '../../policies/set.ts'
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
  const { identity, environment } = asked.agent.value
  const query = {
    agent: identity,
    nowMs: asked.test.nowMs,
    action: asked.action,
    context: asked.context.value,
    plan: asked.plan.value,
  }
  const judgement = await judge({
    set,
    killSwitchReason: undefined,
    tenant: set.tenant,
    environment,
    ...query,
    history: historyFrom(set, query, takenBefore(asked)),
  })
  return { asked, judgement, differences: differencesOf(asked, judgement) }
}

/** What was allowed in the environment of the case: the other one has a history of its own. */
function takenBefore({ test, agent, history }: Case): TakenAction[] {
  const inEnvironment = history.value.filter((earlier) => earlier.agent.environment === agent.value.environment)
  return inEnvironment.map((earlier) => ({
    ...earlier,
    agent: earlier.agent.identity,
    atMs: test.nowMs - earlier.agoMs,
  }))
}
