import type { Unevaluable } from '../src/gate/decide.ts'
import type { AgtAction, AgtAnswer } from './table.ts'
import type { Translation } from './translate.ts'

/** A decision of ours, from the code or from a service. */
export interface Decided {
  readonly decision: string
  readonly rule: string | null
  readonly unevaluable: readonly Unevaluable[]
}

export function permits(action: AgtAction): boolean {
  return action === 'allow' || action === 'audit'
}

/** Our decision in the words of the toolkit. */
export function inTheirWords({ decision, rule, unevaluable }: Decided, { rules, policy }: Translation): AgtAnswer {
  const allowed = decision === 'allow'
  const deciding = rules.find(({ id }) => id === rule)
  const isUnknown = unevaluable.some(({ kind, name }) => kind === 'rule' && name === rule)
  if (deciding?.isError || (isUnknown && rule !== null)) {
    return { action: 'deny', allowed, matched_rule: null, evaluation_error: true }
  }
  return {
    action: deciding?.of?.action ?? policy.defaultAction,
    allowed,
    matched_rule: deciding?.of?.name ?? null,
    evaluation_error: false,
  }
}
