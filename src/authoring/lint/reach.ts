import { type Glob, globMatches, matchesAny, parseGlob } from '../../base/glob.ts'
import { enforcedRules, type PolicyData } from '../../policies/set.ts'
import { itemsOf, memberOf } from '../yaml/node.ts'
import { PAIRS } from './budget.ts'
import type { Certain } from './certain.ts'

/**
 * Reports patterns of restraining rules that end at a dot, such as `payment.*`, where the set knows an action beyond it
 * that nothing restrains.
 */
export function reportReach({ set, names }: Certain): void {
  const restraining = enforcedRules(set).filter(({ effect }) => effect !== 'allow')
  const restrained = restraining.flatMap(({ actions }) => actions)
  const known = [...set.actions.keys(), ...set.rules.flatMap(({ effect, actions }) => examplesOf(effect, actions))]
  // Beyond the budget nothing is reported.
  if (known.length * restrained.length > PAIRS) return
  const free = known.filter((action) => !matchesAny(restrained, action) && !isNamed(action, set))
  for (const rule of restraining) {
    for (const [i, glob] of rule.actions.entries()) {
      const place = itemsOf(memberOf(names.nodes.get(rule), 'actions'))[i]
      const deeper = beyond(glob)
      const action = deeper && free.find((one) => globMatches(deeper, one))
      // After a malformed pattern was left out, the others are not in their places.
      if (deeper === undefined || action === undefined || place?.value !== glob.text) continue
      const message = `${glob.text} does not match ${action}, since * ends at a dot, and no other rule denies or holds it. Write ${deeper.text}, or name the action in a rule.`
      names.report.add('GATE2029', place, message, deeper.text)
    }
  }
}

/** The pattern with its last `*` extended over dots. */
function beyond({ text, segments }: Glob): Glob | undefined {
  if (segments.at(-1) !== '*' || segments.includes('**')) return undefined
  // A pattern of stars alone stands for all actions.
  return parseGlob(/^[*.]+$/.test(text) ? '**' : `${text}*`)
}

/** An action for each pattern that allows. */
function examplesOf(effect: string, actions: readonly Glob[]): string[] {
  if (effect !== 'allow') return []
  return actions.flatMap(({ exact, text }) =>
    exact ? [] : [text.replaceAll('**', 'some.action').replaceAll('*', 'some')],
  )
}

/** True for an action that a rule allows by its name: its author has thought of it. */
function isNamed(action: string, { rules }: PolicyData): boolean {
  return rules.some(({ effect, actions }) => effect === 'allow' && actions.some(({ text }) => text === action))
}
