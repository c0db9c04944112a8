import assert from 'node:assert/strict'
import { actorOf, eventEntry } from '../../src/actions/deps.ts'
import type { Approval } from '../../src/approvals/approval.ts'
import type { Actor, DecisionEntry, EntryDraft } from '../../src/audit/draft.ts'
import type { EventType } from '../../src/audit/events.ts'
import { siblingId } from '../../src/base/id.ts'
import { formatTimestamp } from '../../src/base/time.ts'
import { type ApiKey, principalOf } from '../../src/keys/apikey.ts'
import { isInForce, recordOfStop } from '../../src/killswitch/killswitch.ts'
import { change } from '../../src/store/records.ts'
import { LIVE } from '../store/drafts.ts'
import type { Opened } from './replay-scene.ts'

export const TERMS = { quorum: 1, selfApproval: false, approvers: [] }

/** Makes entries as the service makes them, of whatever it would never write. */
export function forger({ trail, deps, time }: Opened) {
  const { store, newId } = trail
  const keyOf = (id: string): ApiKey => store.state().keys.get(id) ?? assert.fail(`there is no key ${id}`)
  const by = (id: string): Actor => actorOf(keyOf(id))
  const now = (): string => formatTimestamp(time.ms)
  const entry = (type: EventType, data: object, actor: Actor, chain = LIVE): EntryDraft =>
    eventEntry(deps, chain, type, data, actor)
  const approvalOf = async (id: string): Promise<Approval> =>
    (await store.approval(id)) ?? assert.fail(`there is no approval ${id}`)

  const stopsOf = () => store.state().switches.map(recordOfStop)

  /** An allow by the rule, unless something else is said. */
  const decision = (
    keyId: string,
    action: string,
    { decision = 'allow', ...changes }: Partial<DecisionEntry['grounds']> & Partial<DecisionEntry['decision']> = {},
    { key = keyOf(keyId), amount = 2 }: { key?: ApiKey; amount?: number } = {},
  ): DecisionEntry => {
    const id = newId('decision')
    return {
      kind: 'decision',
      id: siblingId(id, 'entry'),
      chain: LIVE,
      decision: { id, action, decision },
      request: { tenantId: 'acme', action, context: { amount } },
      risk: { score: 0, factors: [] },
      grounds: {
        rule: 'others',
        reason: 'Fine.',
        decidedBy: 'allow_rule',
        retry: 'never',
        policyDigest: null,
        evaluatedAt: now(),
        caller: { keyId, roles: key.roles, agent: principalOf(key) },
        domain: action.startsWith('email') ? 'communication' : 'finance',
        session: null,
        taken: decision === 'allow' ? action : null,
        historyEnd: null,
        unevaluable: [],
        approvalId: null,
        planValidated: false,
        ...changes,
      },
    }
  }
  const consumed = async (
    id: string,
    keyId: string,
    decisionId: string,
    terms: object = TERMS,
  ): Promise<EntryDraft> => {
    const { data } = change('approval', await approvalOf(id), { status: 'consumed' })
    return entry('approval.consumed', { ...data, decisionId, terms }, by(keyId))
  }
  return {
    keyOf,
    by,
    now,
    entry,
    approvalOf,
    decision,
    consumed,
    newId,
    /** The stops in force, and those that were ended. */
    stops: () => stopsOf().filter(isInForce),
    ended: () => stopsOf().filter((stop) => !isInForce(stop) && stop.target === LIVE),
    /** The use of an approval: its decision, and the entry that uses it up. */
    async use(
      id: string,
      keyId: string,
      { terms, amount, action = 'payment.transfer' }: { terms?: object; amount?: number; action?: string } = {},
    ): Promise<EntryDraft[]> {
      const decided = decision(keyId, action, { decidedBy: 'approval', approvalId: id }, { amount: amount ?? 2 })
      return [decided, await consumed(id, keyId, decided.decision.id, terms)]
    },
    /** A vote for an approval, or against it; by a key that need not be there. */
    async vote(
      id: string,
      voter: ApiKey,
      changes: Partial<Approval> = {},
      { type = 'approval.approved', ...told }: Partial<Approval['votes'][number]> & { type?: EventType } = {},
    ): Promise<EntryDraft> {
      const approval = await approvalOf(id)
      const entryId = newId('entry')
      const { length } = await store.entriesFrom(LIVE, 0, 1_000_000)
      const vote = {
        keyId: voter.id,
        principal: principalOf(voter),
        approverId: principalOf(voter),
        comment: null,
        votedAt: now(),
        entryId,
        ...told,
      }
      const votes = [...approval.votes, vote]
      const decided = { votes, status: 'approved' as const, decidedAt: now(), decidedEnd: length, ...changes }
      const { data } = change('approval', approval, decided)
      return { ...entry(type, data, actorOf(voter)), id: entryId }
    },
    /** The next revision of an approval, as an entry of this type. */
    async changed(type: EventType, id: string, changes: Partial<Approval>, actor: Actor): Promise<EntryDraft> {
      return entry(type, change('approval', await approvalOf(id), changes).data, actor)
    },
  }
}
export type Forger = ReturnType<typeof forger>
