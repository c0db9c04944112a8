import type { Static } from '#typebox'
import { getApproval } from '../../actions/approvals/approvals.ts'
import type { CheckAnswer } from '../../actions/gate/answer.ts'
import { check } from '../../actions/gate/check.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { CheckRequest } from '../../gate/request.ts'
import { route } from '../route.ts'
import * as shapes from './opa-shapes.ts'

export const opaRoutes = {
  // An undecided request is an error: a client takes an answer without a result as leave to run the tool.
  opaDecision: route({
    body: shapes.OpaRequest,
    query: shapes.OpaQuery,
    data: shapes.OpaAnswer,
    bare: 'application/json',
    example: shapes.opaExample,
    async answer(services, { caller, body: { input } }) {
      const answer = await check(services, caller, checkRequestOf(caller.tenantId, input))
      const { decision, decisionId, approvalId } = answer
      const held = decision === 'require_approval' && approvalId !== null
      const approval = held ? await getApproval(services, caller, approvalId) : undefined
      // Another decision made the approval: this is not the first question about exactly this call.
      return opaAnswer(answer, input.messages, approval?.decisionId === decisionId)
    },
  }),
  opaAllow: route({
    body: shapes.OpaRequest,
    query: shapes.OpaQuery,
    data: shapes.OpaAllow,
    bare: 'application/json',
    example: shapes.opaAllowExample,
    async answer(services, { caller, body: { input } }) {
      return opaAllow(await check(services, caller, checkRequestOf(caller.tenantId, input)))
    },
  }),
}

/**
 * Check for the input of a tool call. Members unknown to the package @ai-sdk/policy-opa are an application's own and
 * enter the context unchanged; facts derived from `messages` override them.
 */
function checkRequestOf(tenantId: string, { tool, messages, ...others }: Static<typeof shapes.OpaInput>): CheckRequest {
  const context = { ...others, ...(messages !== undefined && saidIn(messages)) }
  return { tenantId, action: tool.name, context }
}

/**
 * Decision in the terms of @ai-sdk/policy-opa, which runs the tool for any answer without one.
 *
 * @param isFirstHold true when this very decision asked people. Only then can a hold be `requires-approval`, and only
 *   while the conversation shows no answer for this call: the SDK asks again after a user of the application has
 *   answered, and then runs whatever is not denied; but the gate decides who may approve. The application writes the
 *   conversation, so it proves nothing by itself.
 */
function opaAnswer(
  answer: CheckAnswer,
  messages: readonly JsonObject[] | undefined,
  isFirstHold: boolean,
): Static<typeof shapes.OpaAnswer> {
  const { decision, reason, decisionId, approvalId, approvalExpiresAt, validUntil } = answer
  const isHeld = decision === 'require_approval'
  const asksUser = isFirstHold && isUnanswered(messages)
  const word = isHeld ? (asksUser ? 'requires-approval' : 'deny') : decision
  return {
    decision_id: decisionId,
    result: {
      decision: word,
      reason: isHeld ? `${reason} It waits for approval ${approvalId}.` : reason,
      ...(answer.observed !== undefined && { observed: answer.observed }),
      approval_id: approvalId,
      approval_expires_at: approvalExpiresAt,
      valid_until: validUntil,
    },
  }
}

/** Decision for clients that only test whether the result is true; a held call is false. */
function opaAllow({ decision, decisionId }: CheckAnswer): Static<typeof shapes.OpaAllow> {
  return { decision_id: decisionId, result: decision === 'allow' }
}

function isUnanswered(messages: readonly JsonObject[] | undefined): boolean {
  // The SDK reads users' approvals from the last message.
  const last = messages?.at(-1)
  return last !== undefined && !partsOf(last).some(({ type }) => type === 'tool-approval-response')
}

/** Facts about a conversation, as a session of our client defines them: every result counts as written by others. */
function saidIn(messages: readonly JsonObject[]): { userRequest: string; tainted: boolean } {
  const parts = messages.flatMap(partsOf)
  const said = parts.flatMap(({ role, type, text }) => (role === 'user' && type === 'text' ? [text] : []))
  return {
    userRequest: said.filter((text) => typeof text === 'string').join('\n\n'),
    tainted: parts.some((part) => !isOwn(part)),
  }
}

/** Parts that the user, model, application or gate wrote, by role. Anybody may have written the rest. */
const OWN: Readonly<Record<string, readonly Json[]>> = {
  system: ['text'],
  user: ['text'],
  assistant: ['text', 'reasoning', 'tool-call', 'tool-approval-request'],
  tool: ['tool-approval-response'],
}

interface Part {
  role: string
  type: Json | undefined
  text: Json | undefined
  output: Json | undefined
}

function isOwn({ role, type, output }: Part): boolean {
  // A denied tool did not run, and the decider wrote the reason.
  const isDenial = type === 'tool-result' && isJsonObject(output) && output.type === 'execution-denied'
  return isDenial || (Object.hasOwn(OWN, role) && OWN[role]?.includes(type ?? null) === true)
}

function partsOf({ role, content }: JsonObject): Part[] {
  const from = typeof role === 'string' ? role : ''
  const list: readonly Json[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [null]
  return list.map((part) => {
    const members: JsonObject = isJsonObject(part) ? part : {}
    return { role: from, type: members.type, text: members.text, output: members.output }
  })
}
