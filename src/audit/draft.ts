import { canonicalJson } from '../base/canonical.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Decision } from '../policies/set.ts'
import type { Draft } from './entry.ts'
import type { EventType } from './events.ts'

/** The cause of an entry, by its credential. Claims from a body are marked as such. */
export type Actor =
  | { kind: 'key'; id: string; identity: string | null; roles: readonly string[]; claimedUserId?: string }
  /** A command on the host, run by this user id: `host:1000`. */
  | { kind: 'host'; id: string }
  | { kind: 'service'; id: 'gate-sidecar' }

export const SERVICE: Actor = { kind: 'service', id: 'gate-sidecar' }

/** An entry to be recorded; the commit gives it time and place. */
export type EntryDraft = DecisionEntry | EventEntry

/**
 * One decision. Its four sections keep the decision provable when the request is erased: `decision` is exactly what a
 * bundle shows, `grounds` gives the reasons.
 */
export interface DecisionEntry {
  kind: 'decision'
  id: string
  chain: string
  decision: { id: string; action: string; decision: Decision }
  /** The parsed body, as received. */
  request: JsonObject
  risk: { score: number; factors: readonly { name: string; weight: number; contribution: number }[] }
  grounds: Grounds
}

type Grounds = {
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
    /** Scope of the agent's counters: the key's identity, else the first key of its line. */
    agent: string
  }
  /** The action's domain by the policies in force, which a stop of a domain covers. */
  domain: string | null
  /** The session of the request, by the policies' definition. */
  session: string | null
  /** The allowed action, which later decisions count; null otherwise. */
  taken: string | null
  /** Length of the chain that the policies could read; null where they read no history. */
  historyEnd: number | null
  unevaluable: readonly { kind: string; name: string; facts: readonly string[]; overBudget?: readonly string[] }[]
  approvalId: string | null
  planValidated: boolean
}

export interface EventEntry {
  kind: 'event'
  id: string
  chain: string
  type: EventType | (string & {})
  data: Json
  /** Further content from the caller, which may be erased. */
  detail?: Json
  actor: Actor
}

/**
 * An entry without its place and time. Its sections are canonical text by now: a value without canonical form is
 * refused at its source, and text is cheaper to pass on.
 */
export interface PreparedEntry extends Draft {
  /** The section that receives the entry's time, which is also the decision's. */
  decision?: DecisionEntry['decision'] | undefined
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

/** The entry to be sealed at this time. */
export function draftAt(entry: PreparedEntry, ts: string): Draft {
  if (entry.decision === undefined) return entry
  const { id, chain, type, sections } = entry
  const { action, decision, id: decisionId } = entry.decision
  const timed = section('decision', { action, decision, id: decisionId, timestamp: ts })
  return { id, chain, type, sections: [timed, ...sections] }
}

/**
 * Adds the lengths of all other chains to the data of an entry of `_system`: its place among their entries, which no
 * clock can tell.
 */
export function withLengths(draft: Draft, lengths: Readonly<Record<string, number>>): Draft {
  const sections = draft.sections.map(({ name, json }) =>
    name === 'data' ? section(name, { ...JSON.parse(json), lengths }) : { name, json },
  )
  return { ...draft, sections }
}

function section(name: string, value: unknown): Draft['sections'][number] {
  return { name, json: canonicalJson(value) }
}
