import { canonicalJson } from '../base/canonical.ts'
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
  risk: { score: number; factors: readonly { name: string; weight: number; contribution: number }[] }
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
  caller: {
    keyId: string
    roles: readonly string[]
    /** Whose actions are counted together: the key's identity, else the first key of its line. */
    agent: string
  }
  /** What the policies take for the session of the request. */
  session: string | null
  /** The action, where it was allowed: what later decisions count. */
  taken: string | null
  /** How many entries of the chain the policies could see, where they asked for earlier ones. */
  historyEnd: number | null
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
  /** What was sent to the service beside that, and may be erased. */
  detail?: Json
  actor: Actor
}

/**
 * An entry but for its place and time. What it commits to is in canonical form by now, so that a value without one is
 * refused where it comes from; and it is text, which costs less to hand on than what it was made from.
 */
export interface PreparedEntry extends Draft {
  /** The section that gets the entry's time, which is also the decision's. */
  decision?: DecisionEntry['decision']
}

/** @throws TypeError for what has no canonical form */
export function prepareEntry(entry: EntryDraft): PreparedEntry {
  const { id, chain } = entry
  if (entry.kind === 'event') {
    const sections = [section('data', entry.data), section('actor', entry.actor)]
    if (entry.detail !== undefined) sections.push(section('detail', entry.detail))
    return { id, chain, type: entry.type, sections }
  }
  const { decision, request, risk, grounds } = entry
  const sections = [section('request', request), section('risk', risk), section('grounds', grounds)]
  return { id, chain, type: 'gate.decision', sections, decision }
}

/** The entry as it is sealed at this time. */
export function draftAt({ decision, ...draft }: PreparedEntry, ts: string): Draft {
  if (decision === undefined) return draft
  return { ...draft, sections: [section('decision', { ...decision, timestamp: ts }), ...draft.sections] }
}

function section(name: string, value: unknown): Draft['sections'][number] {
  return { name, json: canonicalJson(value) }
}
