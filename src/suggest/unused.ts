import { counted } from '../base/counted.ts'
import type { Glob } from '../base/glob.ts'
import { enforcedRules, type PolicySet, type Rule } from '../policies/set.ts'
import { askedFor, type Evidence } from './evidence.ts'
import type { Proposal, Wanted } from './proposal.ts'
import { tally } from './tally.ts'

/** Most actions that replace a pattern: a longer list is hard to review. */
const MAX_NAMES = 12

/**
 * Proposals for actions that allow rules permit and nobody asked for: a pattern becomes the actions that were asked for;
 * an action that nobody asked for is held, where its rule allows it in any case.
 */
export function unusedActions(set: PolicySet, evidence: Evidence, { minima }: Wanted): Proposal[] {
  if (!evidence.isWhole || evidence.counts.read < minima.requests) return []
  return enforcedRules(set)
    .filter(({ effect }) => effect === 'allow')
    .flatMap((rule) => {
      const used = rule.actions.map((glob) => ({ glob, names: askedFor(evidence, glob) }))
      const support = evidence.allowed.get(rule.id) ?? tally().support()
      const patterns = used.filter(({ glob, names }) => !glob.exact && names.length > 0)
      const never = used.filter(({ names }) => names.length === 0).map(({ glob }) => glob)
      const isUsed = support.requests >= minima.requests && patterns.every(({ names }) => names.length <= MAX_NAMES)
      return [
        ...(patterns.length > 0 && isUsed ? [narrowed(rule, patterns, support)] : []),
        ...(never.length > 0 && rule.condition === undefined ? [heldNow(rule, never, support, evidence)] : []),
      ]
    })
}

function narrowed(
  rule: Rule,
  patterns: readonly { glob: Glob; names: string[] }[],
  support: Proposal['support'],
): Proposal {
  const actions = new Map(patterns.map(({ glob, names }) => [glob.text, names]))
  const [from, to] = [[...actions.keys()].join(', '), [...actions.values()].flat().join(', ')]
  return {
    ...{ kind: 'unused', effect: 'tightens', rules: [rule.id], actions: [...actions.keys()], support },
    what: `rule ${rule.id} allows ${to} instead of ${from}`,
    why: `It allowed ${counted(support.requests, 'request')}, none of them for another action. Other actions get the default decision.`,
    ...{ amendments: [{ rule: rule.id, actions }], facts: new Map() },
  }
}

function heldNow(rule: Rule, never: readonly Glob[], support: Proposal['support'], { counts }: Evidence): Proposal {
  const actions = never.map(({ text }) => text)
  return {
    ...{ kind: 'unused', effect: 'tightens', rules: [rule.id], actions, support },
    what: `${actions.join(', ')} requires approval, which rule ${rule.id} allows now`,
    why: `No agent asked for it in ${counted(counts.read, 'request')}.`,
    added: { effect: 'require_approval', reason: 'This action is unusual; a person reviews it.', when: null },
    ...{ amendments: [], facts: new Map() },
  }
}
