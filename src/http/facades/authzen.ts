import type { CheckAnswer } from '../../actions/gate/answer.ts'
import { ERRORS, GateError } from '../../base/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { parserOf } from '../../base/schema.ts'
import { type CheckRequest, MAX_ID } from '../../gate/request.ts'
import { FACADE_ROUTES } from '../../keys/facade-routes.ts'
import { type AccessDecision, Evaluation, type Evaluations } from './authzen-shapes.ts'

const parse = parserOf(Evaluation)

/** @throws GateError `invalid_request` */
export function evaluationOf(value: unknown): Evaluation {
  return parse(value)
}

/** What an evaluation of a list asks for, with the defaults of its request; or why it asks for nothing. */
export function evaluationIn(
  { context, ...own }: JsonObject,
  defaults: Pick<Evaluations, 'subject' | 'action' | 'resource' | 'context'>,
): Evaluation | GateError {
  try {
    return parse({
      subject: entityIn(own.subject, defaults.subject),
      action: own.action === undefined ? defaults.action : own.action,
      resource: entityIn(own.resource, defaults.resource),
      context: context === undefined ? defaults.context : context,
    })
  } catch (error) {
    if (error instanceof GateError) return error
    throw error
  }
}

/**
 * An entity of its own replaces the default as a whole, but for the type. With the id it would be another one than was meant wherever its own
 * is misspelt, since members that are not known are ignored.
 */
function entityIn(own: Json | undefined, byDefault: JsonObject | undefined): Json | undefined {
  if (own === undefined) return byDefault
  return isJsonObject(own) && byDefault?.type !== undefined ? { type: byDefault.type, ...own } : own
}

/** The check that an evaluation asks for. An approval that `context` names is presented, and no part of what is decided. */
export function checkRequestOf(
  tenantId: string,
  { subject, action, resource, context = {} }: Evaluation,
): CheckRequest {
  const { approval, ...others } = context
  const approvalId = referenceIn(approval)
  const entities = { subject: known(subject), resource: known(resource), action: known(action) }
  return {
    tenantId,
    action: action.name,
    // The members of the request count more than those of its context with the same names.
    context: { ...(approvalId === undefined ? context : others), ...entities },
    ...(approvalId !== undefined && { approvalId }),
  }
}

function referenceIn(approval: Json | undefined): string | undefined {
  const id = isJsonObject(approval) ? approval.id : undefined
  return typeof id === 'string' && id.length <= MAX_ID ? id : undefined
}

const MEMBERS = ['type', 'id', 'name', 'properties']

/** The members that the standard has; others are ignored. */
function known(entity: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entity).filter(([name]) => MEMBERS.includes(name)))
}

/** @param presented whether the evaluation named an approval */
export function accessDecision(answer: CheckAnswer, origin: string, presented: boolean): AccessDecision {
  const { decision, approvalId, approvalExpiresAt, validUntil } = answer
  const isHeld = decision === 'require_approval'
  return {
    decision: decision === 'allow',
    context: {
      evaluation_id: answer.decisionId,
      evaluated_at: answer.timestamp,
      reason: isHeld ? 'approval_required' : answer.decidedBy,
      reason_user: { en: answer.reason },
      ...(validUntil !== null && { valid_until: validUntil }),
      ...(validUntil !== null && approvalId !== null && { approval: { id: approvalId, approved_until: validUntil } }),
      ...(isHeld && approvalExpiresAt !== null && { access_request: requestable(origin, approvalExpiresAt) }),
      ...(presented && decision !== 'allow' && { next_action: isHeld ? 'request' : 'none' }),
    },
  }
}

function requestable(origin: string, expires_at: string) {
  return { endpoint: `${origin}${FACADE_ROUTES.requestAccess.path}`, expires_at }
}

/** An evaluation of a list that could not be carried out as it was sent. */
export function faultyEvaluation({ code, message }: GateError): AccessDecision {
  return { decision: false, context: { error: { status: ERRORS[code].status, message } } }
}

/** Where the endpoints are. */
export function configuration(origin: string) {
  return {
    policy_decision_point: origin,
    access_evaluation_endpoint: `${origin}${FACADE_ROUTES.evaluation.path}`,
    access_evaluations_endpoint: `${origin}${FACADE_ROUTES.evaluations.path}`,
    access_request_endpoint: `${origin}${FACADE_ROUTES.requestAccess.path}`,
    capabilities: ['urn:openid:authzen:capability:access-request'],
  }
}
