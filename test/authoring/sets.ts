import type { JsonObject } from '../../src/base/json.ts'
import { newWork, type Work } from '../../src/base/work.ts'
import { factReader } from '../../src/gate/facts.ts'
import { type Evaluation, evaluate } from '../../src/policies/evaluate.ts'
import type { PolicySet, Truth } from '../../src/policies/set.ts'
import { setOf } from './sources.ts'

/** Evaluates a check of `action` with this context. */
export async function evaluateContext(
  set: PolicySet,
  context: JsonObject | undefined,
  action = 'a.b',
  work: Work = newWork(),
  isComplete = true,
): Promise<Evaluation> {
  const asked = {
    action,
    tenant: 'acme',
    environment: 'live' as const,
    agent: 'bot',
    nowMs: 0,
    context,
    plan: undefined,
  }
  const read = factReader(asked, { domain: undefined, localTime: set.localTime, overTime: () => undefined })
  return evaluate(set, action, read, work, isComplete)
}

/** A set of one allow rule for a.b with this condition. */
export function setWhen(when: string, rest = ''): PolicySet {
  return setOf(`${rest}rules:\n  - id: r\n    actions: [a.b]\n    effect: allow\n    reason: R.\n    when: ${when}\n`)
}

export async function truthOf(set: PolicySet, context: JsonObject | undefined): Promise<Truth | undefined> {
  return (await evaluateContext(set, context)).rules[0]?.outcome
}
