import { counted } from '../../base/counted.ts'
import type { SetChange } from './changes.ts'
import type { Diff } from './diff.ts'
import type { Difference, Side, Witness } from './witness.ts'

/** The difference of one tenant, or the side that alone has policies of it. */
export interface TenantDiff {
  tenant: string
  only: 'old' | 'new' | null
  diff: Diff | null
  /** The entry that tells of it, and the digest of `diff`, where the diff was sealed. */
  seal?: { entryId: string; report: string }
}

export const DIFFERENCE_TEXT: Readonly<Record<Difference, string>> = {
  decision: 'decided differently',
  approval: 'held for another approval',
  risk: 'of another risk',
  reason: 'decided for another reason',
}

/** `rule large: when, reason changed`. */
export function changeText({ kind, what, name, members }: SetChange): string {
  const how = members.length === 0 ? kind : `${members.join(', ')} ${kind}`
  return `${what} ${name}: ${how}`
}

/** `allow (rule small), risk 3`. */
export function sideText({ decision, rule, decidedBy, riskScore }: Side): string {
  return `${decision} (${rule === null ? decidedBy : `rule ${rule}`}), risk ${riskScore}`
}

/** The request of a witness, with what is not plain about it. */
export function requestText({ action, context, plan, agent, environment, history, session }: Witness): string {
  const parts = [
    `${action} ${JSON.stringify(context)}`,
    ...(plan === null ? [] : [`plan ${JSON.stringify(plan)}`]),
    ...(agent === 'agent' ? [] : [`by ${agent}`]),
    ...(environment === 'live' ? [] : [`in ${environment}`]),
    ...Object.entries(history).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    ...(session === null ? [] : [`in a session with ${session.join(', ') || 'nothing yet'}`]),
  ]
  return parts.join(', ')
}

/** Sentence about the search. Without a difference, it never says that there is none. */
export function triedText({ from, to, cells, exhaustive, witnesses, actions }: Diff): string {
  if (from === to) return 'the same set'
  const tried = `${counted(cells, 'request')} about ${counted(actions.tried, 'kind')} of actions`
  const same = actions.same === 0 ? '' : `; about ${counted(actions.same, 'other kind')} both say the same`
  if (witnesses.length > 0) return `${counted(witnesses.length, 'kind')} of difference in ${tried}${same}`
  return `no difference found in ${tried}${exhaustive ? ', all combinations of the values at hand' : ''}${same}`
}
