import { type Judgement, judge } from '../gate/judge.ts'
import { pastIn, type TakenAction } from '../gate/over-time.ts'
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
  const { identity, environment } = asked.agent.value
  const asking = {
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
    ...asking,
    past: pastIn(set, asking, takenBefore(asked)),
  })
  return { asked, judgement, differences: differencesOf(asked, judgement) }
}

/** What was allowed in the environment of the case: the other one has a history of its own. */
function takenBefore({ test, agent, history }: Case): TakenAction[] {
  const inEnvironment = history.value.filter((past) => past.agent.environment === agent.value.environment)
  return inEnvironment.map((past) => ({ ...past, agent: past.agent.identity, atMs: test.nowMs - past.agoMs }))
}
