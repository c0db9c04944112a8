import { isActionName } from '../base/glob.ts'
import type { JsonObject } from '../base/json.ts'

/** A session of recorded agents, as evaluation/corpus/README.md describes it. */
interface CorpusSession {
  session: string
  source: string
  suite: string
  prompt?: string | null
}

/** A call of a session. */
export interface CorpusCall {
  id: string
  session: string
  action: string
  order: number
  args?: unknown
  effect?: string
  context?: { tainted?: boolean; prov?: Readonly<Record<string, readonly string[]>> }
}

/** Limit of the session's earlier actions that a request names. */
const PRIOR_ACTIONS = 20
/** Source whose calls carry the records that the agent looked up, such as the customer: its policy is about them. */
const WITH_RECORD = 'tau-bench'

export function isSession(record: JsonObject): record is JsonObject & CorpusSession {
  return [record.session, record.source, record.suite].every((member) => typeof member === 'string')
}

export function isCall(record: JsonObject): record is JsonObject & CorpusCall {
  const { id, session, action, order } = record
  return (
    typeof id === 'string' &&
    typeof session === 'string' &&
    typeof order === 'number' &&
    typeof action === 'string' &&
    isActionName(action)
  )
}

/** Request with only the facts that a caller can know: labels and outcomes are never part of it. */
export function requestOf(
  { session, source, suite, prompt }: CorpusSession,
  { action, args, order, effect, context }: CorpusCall,
  prior: readonly string[],
) {
  const { tainted = false, prov = {} } = context ?? {}
  return {
    tenantId: source,
    action,
    context: {
      ...{ args, session, step: order, source, suite, effect, userRequest: prompt },
      priorActions: prior.slice(-PRIOR_ACTIONS),
      ...{ tainted, provenance: prov },
      ...(source === WITH_RECORD && { record: context }),
    },
  }
}
