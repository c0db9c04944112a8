import type { PolicySet } from '../policies/set.ts'
import type { Ruling } from './decide.ts'

/**
 * The ruling by the mode of the policies. Observed policies decide as always, but every action runs, and `observed` is
 * what they decided. A stop is enforced in any mode.
 */
export function inMode(set: PolicySet | undefined, ruling: Ruling): Ruling {
  const { decision, reason, decidedBy } = ruling
  if (set?.mode !== 'observe' || decidedBy === 'kill_switch') return ruling
  const told = decision === 'allow' ? reason : `Observed only, not enforced: ${reason}`
  return { ...ruling, decision: 'allow', observed: decision, reason: told, retry: 'never', hold: null }
}

/** A sentence about an action that runs only since the policies are observed; undefined for any other. */
export function observedSentence(action: string, observed: string | undefined, reason: string): string | undefined {
  if (observed === undefined || observed === 'allow') return undefined
  return `${action} ${observed === 'deny' ? 'would be denied' : 'would need an approval'}. ${reason}`
}
