import type { Json } from '../base/json.ts'
import type { PolicySet, Rule } from '../policies/set.ts'
import type { Evidence, Observed } from './evidence.ts'
import type { Proposal, Wanted } from './proposal.ts'
import { roundLimit } from './quantiles.ts'

/** A limit is far above what is used where it is so many times what is proposed. */
const FAR = 5

/**
 * Proposals for numbers whose limit is far above what was allowed: a hold above a round number that is not below the
 * 99th percentile. A rule with a condition gets a limit that is not below the largest number instead: a hold could let
 * people approve what its condition denies.
 */
export function closerLimits(set: PolicySet, evidence: Evidence, { minima }: Wanted): Proposal[] {
  return evidence.observed.flatMap((observed) => {
    const { limit, values } = observed
    const rule = set.rules.find(({ id }) => id === limit.rule)
    const support = evidence.allowed.get(limit.rule)
    const isClose = values.p99 <= 0 || roundLimit(values.p99) * FAR > limit.limit
    if (rule === undefined || support === undefined || values.count < minima.requests || isClose) return []
    if (rule.condition === undefined) return [heldAbove(set, rule, observed, support)]
    const lower = roundLimit(values.max)
    return lower < limit.limit ? [limited(rule, observed, lower, support)] : []
  })
}

function heldAbove(set: PolicySet, rule: Rule, observed: Observed, support: Proposal['support']): Proposal {
  const { fact } = observed.limit
  const above = roundLimit(observed.values.p99)
  const guard: Json[] = set.facts.get(fact.text)?.default === undefined ? [{ fact: fact.text, operator: 'exists' }] : []
  const when = { all: [...guard, { fact: fact.text, operator: 'greaterThan', value: above }] }
  return {
    ...proposalOf(rule, observed, support),
    what: `${actionsOf(rule)} requires approval if ${fact.text} is above ${above}`,
    above: { fact: fact.text, limit: above },
    amendments: [],
    added: { effect: 'require_approval', reason: 'This amount is unusual; a person reviews it.', when },
  }
}

function limited(rule: Rule, observed: Observed, most: number, support: Proposal['support']): Proposal {
  const { fact } = observed.limit
  const also = { fact: fact.text, operator: 'lessThanInclusive', value: most }
  return {
    ...proposalOf(rule, observed, support),
    what: `rule ${rule.id} allows ${actionsOf(rule)} only if ${fact.text} is at most ${most}`,
    above: { fact: fact.text, limit: most },
    amendments: [{ rule: rule.id, also }],
  }
}

function actionsOf({ actions }: Rule): string {
  return actions.map(({ text }) => text).join(', ')
}

function proposalOf(rule: Rule, { limit, values }: Observed, support: Proposal['support']) {
  const { count, p50, p95, p99, max } = values
  return {
    ...{ kind: 'limit' as const, effect: 'tightens' as const, rules: [...new Set([rule.id, limit.by])] },
    actions: rule.actions.map(({ text }) => text),
    why: `The limit in force is ${limit.limit}, by rule ${limit.by}. Rule ${rule.id} allowed ${count} requests: the median is ${p50}, the 95th percentile ${p95}, the 99th ${p99}, the maximum ${max}.`,
    ...{ support, facts: new Map([[limit.fact.text, 'number' as const]]) },
  }
}
