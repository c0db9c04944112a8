import assert from 'node:assert/strict'
import { laneOf } from '../../src/audit/chain.ts'
import type { EventType } from '../../src/audit/events.ts'
import type { Clock } from '../../src/base/time.ts'
import { type ApiKey, principalOf } from '../../src/keys/apikey.ts'
import type { Decision } from '../../src/policies/set.ts'
import type { Store } from '../../src/store/store.ts'
import { type Cleanup, type Gate, openBeside } from '../helpers.ts'
import { aDecision, commit, LIVE, note } from '../store/drafts.ts'

type Key = Pick<Awaited<ReturnType<Gate['key']>>, 'id'>

interface Deciding {
  action?: string
  decision?: Decision
  /** Rule that denied it. */
  rule?: string
  trail?: string
}

/** Lanes of `acme/live`, to which other sidecars append beside the service. The number 0 is the trail's own chain. */
export interface Lanes {
  store: Store
  /** Id of the decision. */
  decide(lane: number, key: Key, options?: Deciding): Promise<string>
  tell(lane: number, key: Key, decisionId: string, type?: EventType): Promise<void>
  /** An entry of a caller. */
  note(lane: number): Promise<void>
}

export async function lanesBeside(t: Cleanup, { dir }: Gate, clock: Clock = Date.now): Promise<Lanes> {
  const store = await openBeside(dir, clock)
  t.after(() => store.close())
  const keyOf = async ({ id }: Key): Promise<ApiKey> => {
    await store.refresh()
    return store.state().keys.get(id) ?? assert.fail(`there is no key ${id}`)
  }
  const chainOf = (lane: number, trail = LIVE): string => (lane === 0 ? trail : laneOf(trail, lane))
  return {
    store,
    async decide(lane, of, { action = 'email.send', decision = 'allow', rule, trail } = {}) {
      const entry = aDecision(decision, { action })
      const key = await keyOf(of)
      const caller = { keyId: key.id, roles: key.roles, agent: principalOf(key) }
      const grounds = { ...entry.grounds, caller, ...(rule !== undefined && { rule, decidedBy: 'deny_rule' }) }
      await commit(store, { guards: [], writes: [], entries: [{ ...entry, chain: chainOf(lane, trail), grounds }] })
      return entry.decision.id
    },
    async tell(lane, of, decisionId, type = 'outcome.recorded') {
      const outcome = { status: 'succeeded', possibleBypass: false, observed: false, durationMs: null }
      const data = { decisionId, action: 'email.send', reportedBy: principalOf(await keyOf(of)), ...outcome }
      await commit(store, { guards: [], writes: [], entries: [note(data, { type, chain: chainOf(lane) })] })
    },
    note: (lane) => commit(store, { guards: [], writes: [], entries: [note({}, { chain: chainOf(lane) })] }),
  }
}
