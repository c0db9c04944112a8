import { isActionName } from '../base/glob.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { parseRfc3339 } from '../base/time.ts'
import { objectIn } from '../gate/facts.ts'
import { type Decision, EFFECTS } from '../policies/set.ts'
import type { PriorOutcome, Recorded } from './recorded.ts'

/** A request in a file of another program, or of our own form. */
export interface Found extends Pick<Recorded, 'action' | 'asked'> {
  id?: string | undefined
  agent?: string | undefined
  tenant?: string | undefined
  timeMs?: number | undefined
  outcome?: PriorOutcome | undefined
}

/** Requests of one record; none in a record about something else, and undefined for one of another form. */
type Read = (record: JsonObject) => readonly Found[] | undefined

/** Forms of records, by name, with what a message calls them. */
export const INPUTS: Readonly<Record<InputForm, { name: string; read: Read }>> = {
  // The most particular first: a record is of the first form that reads it.
  cerbos: { name: 'an audit log of Cerbos', read: inCerbosLog },
  opa: { name: 'a decision log of OPA', read: inOpaLog },
  requests: { name: 'lines of requests', read: inRequests },
}
const INPUT_FORMS = ['cerbos', 'opa', 'requests'] as const
export type InputForm = (typeof INPUT_FORMS)[number]

/** The form of the first record; undefined where none fits. */
export function formOf(record: JsonObject): InputForm | undefined {
  return INPUT_FORMS.find((form) => INPUTS[form].read(record) !== undefined)
}

/** One request of our form: that of a check, and who asked when, and what was decided, as far as it is known. */
function inRequests(record: JsonObject): readonly Found[] | undefined {
  const { id, tenantId, agent, time, action, context, plan, decision } = record
  if (typeof action !== 'string' || !isActionName(action)) return undefined
  return [
    {
      ...{ action, id: textIn(id), tenant: textIn(tenantId), agent: textIn(agent), timeMs: timeIn(time) },
      asked: { context: objectIn(context), plan: objectIn(plan) },
      outcome: outcomeOf(decisionIn(decision), textIn(record.rule), textIn(record.reason)),
    },
  ]
}

/**
 * An event of OPA's decision log (openpolicyagent.org, management, decision logs). The action is what the input names so,
 * or its tool, or else the path of the query; the context is the input. An erased part of it makes the request unknown.
 */
function inOpaLog(record: JsonObject): readonly Found[] | undefined {
  const { decision_id: id, path, input, result, timestamp, erased } = record
  if (typeof id !== 'string' || (path === undefined && record.query === undefined)) return undefined
  const asked = objectIn(input)
  const tool = objectIn(asked?.tool)?.name
  const action = actionOf(textIn(asked?.action) ?? textIn(tool) ?? textIn(path) ?? '')
  if (action === undefined) return []
  const isErased = Array.isArray(erased) && erased.some((one) => typeof one === 'string' && /^\/?input(\/|$)/.test(one))
  return [
    {
      ...{ action, id, timeMs: timeIn(timestamp), agent: textIn(asked?.user) ?? textIn(asked?.subject) },
      asked: isErased ? undefined : { context: asked ?? { input: input ?? null }, plan: undefined },
      outcome: outcomeOf(opaDecision(result), undefined, textIn(objectIn(result)?.reason)),
    },
  ]
}

/** The decision of a result: true, or a member that says so. A result that is missing, as of an undefined rule, says nothing. */
function opaDecision(result: Json | undefined): Decision | undefined {
  if (result === true || result === 'true') return 'allow'
  if (result === false || result === 'false') return 'deny'
  const { decision, allow, allowed } = objectIn(result) ?? {}
  if (decision === 'requires-approval') return 'require_approval'
  return decisionIn(decision) ?? (typeof (allow ?? allowed) === 'boolean' ? opaDecision(allow ?? allowed) : undefined)
}

/**
 * An entry of Cerbos's audit log (cerbos.audit.v1.DecisionLogEntry), with a request for each action on each resource:
 * `<kind>.<action>`, with the resource and the principal as context. Accesses and plans are not requests.
 */
function inCerbosLog(record: JsonObject): readonly Found[] | undefined {
  const { callId, timestamp } = record
  if (typeof callId !== 'string') return undefined
  const { inputs, outputs } = objectIn(record.checkResources) ?? record
  const answers = Array.isArray(outputs) ? outputs.map(objectIn) : []
  return (Array.isArray(inputs) ? inputs : []).flatMap((item, i): Found[] => {
    const { resource, principal, actions, auxData } = objectIn(item) ?? {}
    const of = objectIn(resource)
    const answered = objectIn(answers[i]?.actions)
    const context = {
      resource: of ?? {},
      principal: objectIn(principal) ?? {},
      ...(auxData !== undefined && { auxData }),
    }
    return (Array.isArray(actions) ? actions : []).flatMap((name): Found[] => {
      const action = actionOf(`${textIn(of?.kind) ?? ''}.${textIn(name) ?? ''}`)
      const { effect, policy } = objectIn(answered?.[String(name)]) ?? {}
      const decision = effect === undefined ? undefined : effect === 'EFFECT_ALLOW' || effect === 1 ? 'allow' : 'deny'
      if (action === undefined) return []
      return [
        {
          ...{ action, id: `${callId} ${i} ${String(name)}`, timeMs: timeIn(timestamp) },
          agent: textIn(objectIn(principal)?.id),
          asked: { context, plan: undefined },
          outcome: outcomeOf(decision, textIn(policy), undefined),
        },
      ]
    })
  })
}

function outcomeOf(
  decision: Decision | undefined,
  rule: string | undefined,
  reason: string | undefined,
): PriorOutcome | undefined {
  if (decision === undefined) return undefined
  const unknown = { decidedBy: null, riskScore: null, factors: [], unevaluable: [] }
  return { decision, rule: rule ?? null, reason: reason ?? '', ...unknown }
}

const MAX_ACTION = 128

/** The text as the name of an action: other signs become `_`, slashes dots. */
function actionOf(text: string): string | undefined {
  const name = text
    .replaceAll('/', '.')
    .replace(/[^A-Za-z0-9_.:-]/g, '_')
    .slice(0, MAX_ACTION)
  return isActionName(name) ? name : undefined
}

function decisionIn(value: Json | undefined): Decision | undefined {
  return EFFECTS.find((effect) => effect === value)
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Digits of a second that a time may have beyond those of ours. */
const FINER = /(\.\d{3})\d+(?=Z|[+-])/

function timeIn(value: Json | undefined): number | undefined {
  return typeof value === 'string' ? parseRfc3339(value.replace(FINER, '$1')) : undefined
}

/**
 * Makes recorded requests of found ones, in their order. A time is never before that of an earlier one.
 *
 * @param nowMs time of requests that have none, and none before them
 */
export function recorder(source: string, nowMs: number): (found: Found, place: string) => Recorded {
  let seq = -1
  let lastMs: number | undefined
  return ({ id, action, agent = 'agent', asked, timeMs, outcome }, place) => {
    seq += 1
    const tsMs = Math.max(lastMs ?? Number.NEGATIVE_INFINITY, timeMs ?? lastMs ?? nowMs)
    if (timeMs !== undefined) lastMs = tsMs
    return {
      ...{ chain: source, seq, tsMs, id: id ?? place, action, agent, asked, outcome },
      evaluatedMs: timeMs ?? tsMs,
      // Actions of which no decision is known ran.
      isTaken: outcome === undefined || outcome.decision === 'allow',
      ...{ session: null, historyEnd: null, approvalId: null, approval: undefined },
    }
  }
}
