import type { Grounds } from '../audit/grounds.ts'
import type { JsonObject } from '../base/json.ts'
import { formatTimestamp } from '../base/time.ts'
import type { Decision } from '../policies/set.ts'
import type { DecisionRow } from './queries.ts'

/** The row of a decision. @param grounds the section, or its template: the service wrote it from this type */
export function decisionRow(ts: number, decision: Decision, grounds: JsonObject): DecisionRow {
  const { rule = null, decidedBy, observed, shadow } = grounds as JsonObject & Partial<Grounds>
  return { ts: formatTimestamp(ts), decision, rule, decidedBy: String(decidedBy), observed, shadow }
}
