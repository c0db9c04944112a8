import type { Json } from '../../base/json.ts'
import type { Judgement } from '../../gate/judge.ts'
import type { Amount, Expectation, Wanted } from '../test-files/cases.ts'
import type { Place } from '../yaml/node.ts'
import type { Case } from './cases.ts'

/** One member of the answer that differs from its expectation. */
export interface Difference {
  /** The member of the expectation, such as `decision`, `risk` or `factors.amount`. */
  readonly of: string
  readonly wanted: Json
  readonly got: Json
  /** The expectation, or the key `expect` when no expectation selects the case. */
  readonly place: Place
}

/** All differences between answer and expectations, in written order. */
export function differencesOf({ test, expectations }: Case, judgement: Judgement): Difference[] {
  if (expectations.length > 0) return expectations.flatMap((expectation) => differencesFrom(expectation, judgement))
  const { decision } = judgement.outcome
  return decision === 'deny' ? [] : [{ of: 'decision', wanted: 'deny', got: decision, place: test.expectPlace }]
}

type Compared = Omit<Difference, 'place'>

function differencesFrom({ wanted, place }: Expectation, judgement: Judgement): Difference[] {
  const { outcome, risk, evaluation } = judgement
  const matched = evaluation?.rules.filter((result) => result.outcome === 'true').map(({ rule }) => rule.id) ?? []
  const compared = [
    ...different('decision', wanted.decision, outcome.decision),
    ...different('rule', wanted.rule, outcome.rule),
    ...differentSet('rules', wanted.rules, matched),
    ...different('decidedBy', wanted.decidedBy, outcome.decidedBy),
    ...different('retry', wanted.retry, outcome.retry),
    ...different('quorum', wanted.quorum, outcome.hold?.quorum ?? null),
    ...differentSet('approvers', wanted.approvers?.map(groupsText), (outcome.hold?.approvers ?? []).map(groupsText)),
    ...different('reason', wanted.reason, outcome.reason),
    ...(wanted.risk === undefined ? [] : differentAmount('risk', wanted.risk, risk.score)),
    ...differentFactors(wanted, judgement),
    ...differentSet(
      'unevaluable',
      wanted.unevaluable,
      outcome.unevaluable.map(({ name }) => name),
    ),
  ]
  return compared.map((difference) => ({ ...difference, place }))
}

/** `audit or treasury`. */
function groupsText(groups: readonly string[]): string {
  return [...groups].sort().join(' or ')
}

function different<T extends string | number>(of: string, wanted: T | null | undefined, got: T | null): Compared[] {
  return wanted === undefined || wanted === got ? [] : [{ of, wanted, got }]
}

function differentSet(of: string, wanted: readonly string[] | undefined, got: readonly string[]): Compared[] {
  if (wanted === undefined) return []
  const [a, b] = [new Set(wanted), new Set(got)]
  return a.size === b.size && [...a].every((name) => b.has(name)) ? [] : [{ of, wanted: [...a], got: [...b] }]
}

function differentFactors({ factors }: Wanted, { risk }: Judgement): Compared[] {
  return [...factors].flatMap(([name, amount]) => {
    const contribution = risk.factors.find((factor) => factor.name === name)?.contribution
    // A factor that is not about the action contributes nothing, which an author need not spell out.
    return differentAmount(`factors.${name}`, amount, contribution ?? 0)
  })
}

function differentAmount(of: string, wanted: Amount, got: number): Compared[] {
  if ('exactly' in wanted) return wanted.exactly === got ? [] : [{ of, wanted: wanted.exactly, got }]
  const { min, max } = wanted
  if ((min === undefined || got >= min) && (max === undefined || got <= max)) return []
  return [{ of, wanted: { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }, got }]
}

/** `decision is require_approval, wanted allow`. */
export function differenceText({ of, wanted, got }: Compared): string {
  return `${of} is ${valueText(got)}, wanted ${valueText(wanted)}`
}

/** A value of a difference in words. */
export function valueText(value: Json): string {
  if (value === null) return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ')
  if (typeof value !== 'object') return String(value)
  const { min, max } = value
  if (min === undefined) return `at most ${max}`
  return max === undefined ? `at least ${min}` : `${min} to ${max}`
}
