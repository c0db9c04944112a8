import { type ReplayRequest, replayTrail } from '../../src/actions/replay/replay.ts'
import { LAST_TIME_MS } from '../../src/base/time.ts'
import type { PolicySet } from '../../src/policies/set.ts'
import { reachOf, replayHere } from '../../src/replay/replay.ts'
import type { ReplayReport } from '../../src/replay/report.ts'
import type { Store } from '../../src/store/store.ts'
import { setOf } from '../authoring/sources.ts'

/** Replays the whole trail of acme. */
export function replayed(store: Store, set: PolicySet, request: Partial<ReplayRequest> = {}): Promise<ReplayReport> {
  const whole = { trail: 'acme/live', fromMs: 0, toMs: LAST_TIME_MS, history: 'recorded' as const }
  return replayTrail(store, { ...whole, ...request }, { reachMs: reachOf(set), start: replayHere(set) })
}

/** Matrix as `allow->deny`: count, without what stays. */
export function changesIn({ matrix }: ReplayReport): Record<string, number> {
  const changed = matrix.filter(({ from, to }) => from !== to)
  return Object.fromEntries(changed.map(({ from, to, count }) => [`${from}->${to}`, count]))
}

/** Two transfers of an agent an hour, 100 in all, no mail after a secret was read; large ones need a person. */
export const DAY_POLICY = `
session: {fact: context.session, taken: {secret: ["secret.*"]}}
facts: {context.session: {type: string}, context.amount: {type: number}}
actions:
  transfer.bank: {context: {type: object, required: [amount], properties: {amount: {type: number}}}}
history:
  count: {transfers: {actions: ["transfer.*"], within: 1h, by: agent}}
  sum: {paid: {actions: ["transfer.*"], fact: context.amount, within: 1h, by: tenant}}
risk:
  - {name: amount, actions: ["transfer.*"], weight: 40, scale: {fact: context.amount, from: 0, to: 100}}
rules:
  - {id: third, actions: ["transfer.*"], effect: deny, reason: Two transfers an hour., when: {fact: history.count.transfers, operator: greaterThan, value: 2}}
  - {id: limit, actions: ["transfer.*"], effect: require_approval, reason: Above 100., when: {fact: history.sum.paid, operator: greaterThan, value: 100}}
  - {id: leak, actions: [mail.send], effect: deny, reason: A secret was read., when: {fact: session.taken.secret, operator: equal, value: true}}
  - {id: night, actions: [mail.send], effect: require_approval, reason: At night., when: {fact: time.hour, operator: lessThan, value: 6}}
  - {id: all, actions: ["**"], effect: allow, reason: R.}
`

/** The set of the day's policy, changed by replacements of its text. */
export function dayDraft(...edits: readonly (readonly [from: string, to: string])[]): PolicySet {
  return setOf(
    edits.reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`the policy has no ${from}`)
      return text.replace(from, to)
    }, DAY_POLICY),
  )
}
