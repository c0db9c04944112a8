import type { Static } from '#typebox'
import type { CheckAnswer } from '../../actions/gate/answer.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { CheckRequest } from '../../gate/request.ts'
import type { OpaAllow, OpaAnswer, OpaInput } from './opa-shapes.ts'

/**
 * The check that the input of a tool call asks for. Members that are not of the package @ai-sdk/policy-opa are an application's
 * own, and part of the context as they are; what follows from `messages` counts more than they.
 */
export function checkRequestOf(tenantId: string, { tool, messages, ...others }: Static<typeof OpaInput>): CheckRequest {
  const context = { ...others, ...(messages !== undefined && saidIn(messages)) }
  return { tenantId, action: tool.name, context }
}

/**
 * The decision in the words of @ai-sdk/policy-opa, which runs the tool for any answer without one.
 *
 * @param isFirstHold whether this very decision asked people. Only then can a hold be `requires-approval`, and only where the conversation
 *   shows that nobody has answered for this call yet: the SDK asks again once a user of the application has, and then runs whatever is not
 *   denied; but who may approve is for the gate to say. A conversation is what the application makes of it, so that it alone proves nothing.
 */
export function opaAnswer(
  answer: CheckAnswer,
  messages: readonly JsonObject[] | undefined,
  isFirstHold: boolean,
): Static<typeof OpaAnswer> {
  const { decision, reason, decisionId, approvalId, approvalExpiresAt, validUntil } = answer
  const isHeld = decision === 'require_approval'
  const asksUser = isFirstHold && isUnanswered(messages)
  const word = isHeld ? (asksUser ? 'requires-approval' : 'deny') : decision
  return {
    decision_id: decisionId,
    result: {
      decision: word,
      reason: isHeld ? `${reason} It waits for approval ${approvalId}.` : reason,
      approval_id: approvalId,
      approval_expires_at: approvalExpiresAt,
      valid_until: validUntil,
    },
  }
}

/** The decision for clients that look at nothing but whether the result is true; what is held is false. */
export function opaAllow({ decision, decisionId }: CheckAnswer): Static<typeof OpaAllow> {
  return { decision_id: decisionId, result: decision === 'allow' }
}

function isUnanswered(messages: readonly JsonObject[] | undefined): boolean {
  // Approvals of users are read from the last message.
  const last = messages?.at(-1)
  return last !== undefined && !partsOf(last).some(({ type }) => type === 'tool-approval-response')
}

/** What a conversation tells policies, by the definitions of a session of our client: there, every result counts as written by others. */
function saidIn(messages: readonly JsonObject[]): { userRequest: string; tainted: boolean } {
  const parts = messages.flatMap(partsOf)
  const said = parts.flatMap(({ role, type, text }) => (role === 'user' && type === 'text' ? [text] : []))
  return {
    userRequest: said.filter((text) => typeof text === 'string').join('\n\n'),
    tainted: parts.some((part) => !isOwn(part)),
  }
}

/** What the user, the model, the application or the gate wrote, by the role of the message. What is not known here may be anybody's. */
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
  // The tool did not run, and the reason is that of who denied it.
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
