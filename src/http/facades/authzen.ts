import { heldApproval } from '../../actions/approvals/access-requests.ts'
import { getApproval } from '../../actions/approvals/approvals.ts'
import type { Caller } from '../../actions/deps.ts'
import type { CheckAnswer } from '../../actions/gate/answer.ts'
import { check } from '../../actions/gate/check.ts'
import type { ApprovalStatus } from '../../approvals/approval.ts'
import type { ApprovalView } from '../../approvals/view.ts'
import { ERRORS, GateError } from '../../base/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { parserOf } from '../../base/schema.ts'
import { type CheckRequest, MAX_ID } from '../../gate/request.ts'
import { FACADE_ROUTES } from '../../keys/facade-routes.ts'
import { EXAMPLE } from '../common-shapes.ts'
import { publicRoute, route } from '../route.ts'
import type { Services } from '../services.ts'
import * as shapes from './authzen-shapes.ts'

export const authzenRoutes = {
  evaluation: route({
    body: shapes.Evaluation,
    data: shapes.AccessDecision,
    bare: 'application/json',
    example: shapes.evaluationExample,
    answer: (services, { caller, body, origin }) => evaluate(services, caller, body, origin),
  }),
  evaluations: route({
    body: shapes.Evaluations,
    data: shapes.AccessDecisions,
    bare: 'application/json',
    example: shapes.evaluationsExample,
    async answer(services, call) {
      const { caller, body, origin } = call
      const { evaluations = [] } = body
      if (evaluations.length === 0) return evaluate(services, caller, evaluationOf(body), origin)
      call.alsoCount(evaluations.length - 1)
      return { evaluations: await evaluateAll(services, caller, body, origin) }
    },
  }),
  requestAccess: route({
    body: shapes.AccessRequest,
    data: shapes.AccessTask,
    bare: 'application/json',
    status: 202,
    errors: ['invalid_denial_binding', 'not_requestable', 'expired_denial'],
    example: shapes.requestAccessExample,
    async answer(services, { caller, body: { denial, ...evaluation }, origin }) {
      const request = checkRequestOf(caller.tenantId, evaluation)
      return taskOf(await heldApproval(services, caller, denial.evaluation_id, request), origin)
    },
  }),
  accessRequest: route({
    id: { description: 'Id of the task.', example: EXAMPLE.approval },
    data: shapes.AccessTask,
    bare: 'application/json',
    errors: ['not_found'],
    example: shapes.accessRequestExample,
    answer: async (services, { caller, id, origin }) => taskOf(await getApproval(services, caller, id), origin),
  }),
}

export const authzenPublicRoutes = {
  authzenConfiguration: publicRoute({
    data: shapes.Configuration,
    bare: 'application/json',
    example: shapes.configurationExample,
    answer: (_services, origin) => configuration(origin),
  }),
}

async function evaluate(services: Services, caller: Caller, evaluation: shapes.Evaluation, origin: string) {
  const request = checkRequestOf(caller.tenantId, evaluation)
  return accessDecision(await check(services, caller, request), origin, request.approvalId !== undefined)
}

/** Evaluates in order, since policies may count, until the semantic makes the rest irrelevant. */
async function evaluateAll(services: Services, caller: Caller, body: shapes.Evaluations, origin: string) {
  const { evaluations = [], options, ...defaults } = body
  const semantic = options?.evaluations_semantic ?? 'execute_all'
  const decisions: shapes.AccessDecision[] = []
  for (const own of evaluations) {
    const evaluation = evaluationIn(own, defaults)
    const isFaulty = evaluation instanceof GateError
    if (isFaulty) services.errors.count(evaluation.code)
    const decided = isFaulty ? faultyEvaluation(evaluation) : await evaluate(services, caller, evaluation, origin)
    decisions.push(decided)
    if (semantic === (decided.decision ? 'permit_on_first_permit' : 'deny_on_first_deny')) break
  }
  return decisions
}

/** @throws GateError `invalid_request` */
const evaluationOf = parserOf(shapes.Evaluation)

/** Merges an evaluation of a list with the defaults of its request; an error when it is invalid. */
function evaluationIn(
  { context, ...own }: JsonObject,
  defaults: Pick<shapes.Evaluations, 'subject' | 'action' | 'resource' | 'context'>,
): shapes.Evaluation | GateError {
  try {
    return evaluationOf({
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
 * An entity of an evaluation replaces the default, except for the type. Unknown members are ignored, so with a default
 * id a misspelt id would ask about the wrong entity.
 */
function entityIn(own: Json | undefined, byDefault: JsonObject | undefined): Json | undefined {
  if (own === undefined) return byDefault
  return isJsonObject(own) && byDefault?.type !== undefined ? { type: byDefault.type, ...own } : own
}

/** Check for an evaluation. An approval in `context` is presented with it, and is not part of what is decided. */
function checkRequestOf(
  tenantId: string,
  { subject, action, resource, context = {} }: shapes.Evaluation,
): CheckRequest {
  const { approval, ...others } = context
  const approvalId = referenceIn(approval)
  const entities = { subject: known(subject), resource: known(resource), action: known(action) }
  return {
    tenantId,
    action: action.name,
    // Members of the request override members of its context with the same names.
    context: { ...(approvalId === undefined ? context : others), ...entities },
    ...(approvalId !== undefined && { approvalId }),
  }
}

function referenceIn(approval: Json | undefined): string | undefined {
  const id = isJsonObject(approval) ? approval.id : undefined
  return typeof id === 'string' && id.length <= MAX_ID ? id : undefined
}

const MEMBERS = ['type', 'id', 'name', 'properties']

/** Keeps the members that the standard has; others are ignored. */
function known(entity: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entity).filter(([name]) => MEMBERS.includes(name)))
}

/** @param presented true when the evaluation named an approval */
function accessDecision(answer: CheckAnswer, origin: string, presented: boolean): shapes.AccessDecision {
  const { decision, approvalId, approvalExpiresAt, validUntil } = answer
  const isHeld = decision === 'require_approval'
  return {
    decision: decision === 'allow',
    context: {
      evaluation_id: answer.decisionId,
      evaluated_at: answer.timestamp,
      reason: isHeld ? 'approval_required' : answer.decidedBy,
      reason_user: { en: answer.reason },
      ...(answer.observed !== undefined && { observed: answer.observed }),
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

/** Decision for an evaluation of a list that could not be carried out as sent. */
function faultyEvaluation({ code, message }: GateError): shapes.AccessDecision {
  return { decision: false, context: { error: { status: ERRORS[code].status, message } } }
}

function configuration(origin: string) {
  return {
    policy_decision_point: origin,
    access_evaluation_endpoint: `${origin}${FACADE_ROUTES.evaluation.path}`,
    access_evaluations_endpoint: `${origin}${FACADE_ROUTES.evaluations.path}`,
    access_request_endpoint: `${origin}${FACADE_ROUTES.requestAccess.path}`,
    capabilities: ['urn:openid:authzen:capability:access-request'],
  }
}

/** A used approval stays approved, since a finished task cannot change; the next evaluation reports the use. */
const STATUSES: Readonly<Record<ApprovalStatus, shapes.AccessTask['task']['status']>> = {
  pending: 'pending',
  approved: 'approved',
  consumed: 'approved',
  rejected: 'denied',
  expired: 'expired',
  cancelled: 'cancelled',
}

/** Approval as a task. It does not tell who may decide or has decided. */
function taskOf({ id, status, decidedAt, expiresAt }: ApprovalView, origin: string): shapes.AccessTask {
  const task = {
    id,
    status: STATUSES[status],
    status_endpoint: origin + FACADE_ROUTES.accessRequest.path.replace(':id', id),
  }
  if (task.status !== 'approved' || decidedAt === null) return { task }
  const approval = { id, approved_at: decidedAt, approved_until: expiresAt }
  return { task, result: { mode: 'reevaluate', approval } }
}
