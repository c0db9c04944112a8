import { canonicalJson } from '../base/canonical.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Decision } from '../policies/set.ts'
import type { Draft } from './entry.ts'
import type { EventType } from './events.ts'
import { type Grounds, type Varying, varyingOf } from './grounds.ts'

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
  /** Content of the section `decision`, with the entry's time, and the varying parts of the section `grounds`. */
  decision?: (DecisionEntry['decision'] & { varying: Varying }) | undefined
}

/** @throws TypeError for a value without a canonical form, and for a decision that this program cannot have made */
export function prepareEntry(entry: EntryDraft): PreparedEntry {
  const { id, chain } = entry
  if (entry.kind === 'event') {
    const sections = [section('actor', entry.actor), section('data', entry.data)]
    if (entry.detail !== undefined) sections.push(section('detail', entry.detail))
    return { id, chain, type: entry.type, sections }
  }
  const { request, risk, grounds } = entry
  const sections = [section('grounds', grounds), section('request', request), section('risk', risk)]
  const decision = { ...entry.decision, varying: varyingOf(grounds, entry.decision.action) }
  return { id, chain, type: 'gate.decision', sections, decision }
}

/** The entry to be sealed at this time. */
export function draftAt(entry: PreparedEntry, ts: string): Draft {
  const { id, chain, type, sections, decision } = entry
  if (decision === undefined) return entry
  return { id, chain, type, sections: [{ name: 'decision', json: decisionText(decision, ts) }, ...sections] }
}

/** Canonical text of the section `decision`. */
export function decisionText({ action, decision, id }: DecisionEntry['decision'], ts: string): string {
  return `{"action":${canonicalJson(action)},"decision":"${decision}","id":"${id}","timestamp":"${ts}"}`
}

/** Adds the lengths of other chains to the data of an entry: its place among their entries, which no clock can tell. */
export function withLengths(draft: Draft, lengths: Readonly<Record<string, number>>): Draft {
  const sections = draft.sections.map(({ name, json }) =>
    name === 'data' ? section(name, { ...JSON.parse(json), lengths }) : { name, json },
  )
  return { ...draft, sections }
}

function section(name: string, value: unknown): Draft['sections'][number] {
  return { name, json: canonicalJson(value) }
}
