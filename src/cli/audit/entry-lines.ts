import type { entryView } from '../../actions/audit/audit.ts'
import { isLane, laneNumber } from '../../audit/chain.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { type Line, type Painted, padded, paint, table } from '../output.ts'

export type EntryView = ReturnType<typeof entryView>

const MAX_WHAT = 120
/** Members of a record's change that say most in one line. */
const TELLING = ['action', 'status', 'level', 'scope', 'roles', 'reason']
const COLOUR: Record<string, Painted['style']> = { allow: 'green', deny: 'red', require_approval: 'yellow' }

/** Entries as a table. Usual column widths are fixed, so that later rows line up with the first. */
export function entryTable(entries: readonly EntryView[]): Line[] {
  return table(
    ['SEQ', 'TIME', 'TYPE', 'ACTOR', 'WHAT'],
    entries.map((entry) => [
      placeText(entry).padStart(5),
      entry.timestamp,
      padded(entry.eventType, 18),
      padded(actorText(entry.actor), 30),
      what(entry),
    ]),
  )
}

/** An entry's number in its chain, behind that of the lane, if it is one. */
function placeText({ chain, seq }: EntryView): string {
  return isLane(chain) ? `~${laneNumber(chain)}:${seq}` : String(seq)
}

function actorText(actor: EntryView['actor']): string {
  if (actor === null) return '-'
  const identity = 'identity' in actor ? actor.identity : null
  return String(identity ?? actor.id)
}

function what({ eventType, data }: EntryView): string | Painted {
  if (data === null) return '(erased)'
  if (eventType === 'gate.decision') return decisionText(data)
  const changes = 'changes' in data ? data.changes : undefined
  const text = isJsonObject(changes) ? changeText(data, changes) : JSON.stringify(data)
  return text.length > MAX_WHAT ? `${text.slice(0, MAX_WHAT)}…` : text
}

function decisionText({ decision, observed, action, id }: Record<string, unknown>): Painted {
  const outcome = observed === undefined ? decision : `${decision} (observed: ${observed})`
  return paint(COLOUR[String(observed ?? decision)] ?? 'bold', `${outcome} ${action} ${id}`)
}

/** The event type gives the kind of record. Policies that are only observed have their mode beside the change. */
function changeText({ id, mode }: Record<string, unknown>, changes: JsonObject): string {
  const telling = TELLING.flatMap((member) => (isTelling(changes[member]) ? String(changes[member]) : []))
  return [id, ...telling, ...(mode === 'observe' ? ['ONLY OBSERVED'] : [])].join(' ')
}

function isTelling(value: Json | undefined): boolean {
  return typeof value === 'string' || Array.isArray(value)
}
