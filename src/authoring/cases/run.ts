import { historyFrom, type TakenAction } from '../../gate/history.ts'
import { type Judgement, judge } from '../../gate/judge.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { Case } from './cases.ts'
import { type Difference, differencesOf } from './differences.ts'

/** The result of a case. It passed when there is no difference. */
export interface CaseResult {
  readonly asked: Case
  readonly judgement: Judgement
  /** Differences between expected and actual answer, of all expectations of the case. */
  readonly differences: readonly Difference[]
}

/** Evaluates the policies by the same code as a check, without kill switches and approvals, which tests do not have. */
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

/** Earlier allowed actions in the environment of the case: each environment has a history of its own. */
function takenBefore({ test, agent, history }: Case): TakenAction[] {
  const inEnvironment = history.value.filter((earlier) => earlier.agent.environment === agent.value.environment)
  return inEnvironment.map((earlier) => ({
    ...earlier,
    agent: earlier.agent.identity,
    atMs: test.nowMs - earlier.agoMs,
  }))
}
