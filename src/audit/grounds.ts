import { canonicalJson } from '../base/canonical.ts'
import { lru } from '../base/memo.ts'
import { formatTimestamp, parseTimestamp } from '../base/time.ts'

/** Extent of a history: the length of the chain, or in a fleet the time before which the trail was read. */
export type HistoryEnd = number | string

/** The section `grounds` of a decision. */
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
    /** Scope of the agent's counters: the key's identity, else the first key of its line. */
    agent: string
  }
  /** The action's domain by the policies in force, which a stop of a domain covers. */
  domain: string | null
  /** The session of the request, by the policies' definition. */
  session: string | null
  /** The allowed action, which later decisions count; null otherwise. */
  taken: string | null
  /** Extent of the history that the policies could read; null where they read none. */
  historyEnd: HistoryEnd | null
  unevaluable: readonly { kind: string; name: string; facts: readonly string[]; overBudget?: readonly string[] }[]
  approvalId: string | null
  /** Decision of the policies, where they were only observed; absent where they were enforced. */
  observed?: string
  planValidated: boolean
  /**
   * The set in shadow, by its digest, with its decision where that differs, or why it gave none. Absent where none was in
   * shadow.
   */
  shadow?: { digest: string; decision?: string; decidedBy?: string; rule?: string | null; failed?: string }
}

/**
 * Values that vary between grounds for one reason and one key; the rest is their template. They are stored apart, since
 * a template stands for many decisions, and earlier actions are counted by what varies.
 */
export interface Varying {
  approvalId: string | null
  /** Null where the grounds have none, as those of the first versions. */
  agent: string | null
  evaluatedMs: number | null
  historyEnd: HistoryEnd | null
  session: string | null
  /** True when `taken` is the action. */
  isTaken: boolean
}

/**
 * Members that vary, as they stand in the canonical text, in this order. A quote within a string is escaped, so what is
 * found there is a member.
 */
const MEMBERS = ['"approvalId":', '"agent":', '"evaluatedAt":', '"historyEnd":', '"session":', '"taken":']
/** Templates whose pieces are kept. */
const KEPT = 1000

/** @throws TypeError for grounds of another form */
export function varyingOf(grounds: Grounds, action: string): Varying {
  const { approvalId = null, caller, evaluatedAt, historyEnd = null, session = null, taken = null } = grounds
  const evaluatedMs = parseTimestamp(evaluatedAt) ?? null
  if (evaluatedAt !== undefined && evaluatedMs === null)
    throw new TypeError(`${evaluatedAt} is not the time of a decision`)
  if (taken !== null && taken !== action) throw new TypeError(`${taken} is not the action of the decision`)
  return { approvalId, agent: caller.agent ?? null, evaluatedMs, historyEnd, session, isTaken: taken !== null }
}

/**
 * The canonical text of grounds with null for what varies.
 *
 * @param text of grounds of which `varying` is what varies
 * @throws TypeError for another text
 */
export function templateOf(text: string, varying: Varying, action: string): string {
  let template = ''
  let from = 0
  for (const [i, value] of valuesOf(varying, action).entries()) {
    const member = MEMBERS[i] ?? ''
    const at = text.indexOf(member, from)
    if (at < 0) continue
    const end = at + member.length
    const shown = canonicalJson(value)
    if (!text.startsWith(shown, end)) throw new TypeError(`${member} of the grounds is not ${shown}`)
    template += `${text.slice(from, end)}null`
    from = end + shown.length
  }
  return template + text.slice(from)
}

/**
 * The canonical text of grounds, from its template.
 *
 * @throws TypeError for a template that has a text of its own where something varies: what is counted is what is shown
 */
export function filled(template: string, varying: Varying, action: string): string {
  const { places, last } = piecesOf(template)
  let text = ''
  for (const [i, value] of valuesOf(varying, action).entries()) {
    const place = places[i]
    if (place !== undefined) text += place + canonicalJson(value)
    else if (value !== null) throw new TypeError(`the template has no place for ${MEMBERS[i]}`)
  }
  return text + last
}

function valuesOf(
  { approvalId, agent, evaluatedMs, historyEnd, session, isTaken }: Varying,
  action: string,
): (string | number | null)[] {
  const evaluatedAt = evaluatedMs === null ? null : formatTimestamp(evaluatedMs)
  return [approvalId, agent, evaluatedAt, historyEnd, session, isTaken ? action : null]
}

interface Pieces {
  /** Text before the value of each member; undefined where the template has no such member. */
  places: readonly (string | undefined)[]
  last: string
}

const piecesOf = lru(KEPT, (template: string): Pieces => {
  let from = 0
  const places = MEMBERS.map((member) => {
    const at = template.indexOf(member, from)
    if (at < 0) return undefined
    if (!template.startsWith('null', at + member.length)) throw new TypeError(`the template has a text for ${member}`)
    const text = template.slice(from, at + member.length)
    from = at + member.length + 'null'.length
    return text
  })
  return { places, last: template.slice(from) }
})
