import type { Json, JsonObject } from '../base/json.ts'
import type { Decision } from '../policy/set.ts'
import type { Draft } from './chain.ts'
import type { EventType } from './events.ts'

/** Who caused an entry, taken from the credential. What a body claims is marked as a claim. */
export type Actor =
  | { kind: 'key'; id: string; identity: string | null; roles: readonly string[]; claimedUserId?: string }
  /** A command on the host, run by this user id: `host:1000`. */
  | { kind: 'host'; id: string }
  | { kind: 'service'; id: 'gate-sidecar' }

export const SERVICE: Actor = { kind: 'service', id: 'gate-sidecar' }

/** What an action asks to be recorded; the time and the place in the chain are given at the commit. */
export type EntryDraft = DecisionEntry | EventEntry

/**
 * One decision. Four sections, so that what was decided stays provable when the request is erased:
 * `decision` is exactly what a bundle shows, `grounds` says why.
 */
export interface DecisionEntry {
  kind: 'decision'
  id: string
  chain: string
  decision: { id: string; action: string; decision: Decision }
  /** The parsed body, as it came. */
  request: JsonObject
  risk: { score: number; factors: readonly unknown[] }
  grounds: Grounds
}

export type Grounds = {
  rule: string | null
  reason: string
  decidedBy: string
  retry: string
  policyDigest: string | null
  /** The instant the policy's time facts were read from. */
  evaluatedAt: string
  caller: { keyId: string; roles: readonly string[] }
  unevaluable: readonly { kind: string; name: string; facts: readonly string[] }[]
  approvalId: string | null
  planValidated: boolean
}

export interface EventEntry {
  kind: 'event'
  id: string
  chain: string
  type: EventType | (string & {})
  data: Json
  actor: Actor
}

/** The sections an entry commits to. `ts` is the entry's own time, which is also the decision's. */
export function toDraft(entry: EntryDraft, ts: string): Draft {
  const { id, chain } = entry
  if (entry.kind === 'event') {
    const sections = [
      { name: 'data', value: entry.data },
      { name: 'actor', value: entry.actor },
    ]
    return { id, chain, type: entry.type, sections }
  }
  const sections = [
    { name: 'decision', value: { ...entry.decision, timestamp: ts } },
    { name: 'request', value: entry.request },
    { name: 'risk', value: entry.risk },
    { name: 'grounds', value: entry.grounds },
  ]
  return { id, chain, type: 'gate.decision', sections }
}
