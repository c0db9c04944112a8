import { heldApproval } from '../../actions/approvals/access-requests.ts'
import { getApproval } from '../../actions/approvals/approvals.ts'
import type { Caller } from '../../actions/deps.ts'
import { check } from '../../actions/gate/check.ts'
import { GateError } from '../../base/errors.ts'
import { EXAMPLE } from '../common-shapes.ts'
import { publicRoute, route } from '../route.ts'
import type { Services } from '../services.ts'
import { AccessRequest, AccessTask, accessRequestExample, requestAccessExample } from './access-request-shapes.ts'
import { taskOf } from './access-requests.ts'
import {
  accessDecision,
  checkRequestOf,
  configuration,
  evaluationIn,
  evaluationOf,
  faultyEvaluation,
} from './authzen.ts'
import {
  AccessDecision,
  AccessDecisions,
  Configuration,
  configurationExample,
  Evaluation,
  Evaluations,
  evaluationExample,
  evaluationsExample,
} from './authzen-shapes.ts'

export const authzenRoutes = {
  evaluation: route({
    body: Evaluation,
    data: AccessDecision,
    bare: 'application/json',
    example: evaluationExample,
    handle: async (services, { caller, body, origin }) => ({ data: await evaluate(services, caller, body, origin) }),
  }),
  evaluations: route({
    body: Evaluations,
    data: AccessDecisions,
    bare: 'application/json',
    example: evaluationsExample,
    async handle(services, { caller, body, origin, alsoCount }) {
      const { evaluations = [] } = body
      if (evaluations.length === 0) return { data: await evaluate(services, caller, evaluationOf(body), origin) }
      alsoCount(evaluations.length - 1)
      return { data: { evaluations: await evaluateAll(services, caller, body, origin) } }
    },
  }),
  requestAccess: route({
    body: AccessRequest,
    data: AccessTask,
    bare: 'application/json',
    status: 202,
    errors: ['invalid_denial_binding', 'not_requestable', 'expired_denial'],
    example: requestAccessExample,
    async handle(services, { caller, body: { denial, ...evaluation }, origin }) {
      const request = checkRequestOf(caller.tenantId, evaluation)
      return { data: taskOf(await heldApproval(services, caller, denial.evaluation_id, request), origin) }
    },
  }),
  accessRequest: route({
    params: { id: { description: 'Id of the task.', example: EXAMPLE.approval } },
    data: AccessTask,
    bare: 'application/json',
    errors: ['not_found'],
    example: accessRequestExample,
    handle: async (services, { caller, params, origin }) => ({
      data: taskOf(await getApproval(services, caller, params.id ?? ''), origin),
    }),
  }),
}

export const authzenPublicRoutes = {
  authzenConfiguration: publicRoute({
    data: Configuration,
    bare: 'application/json',
    example: configurationExample,
    answer: (_services, origin) => configuration(origin),
  }),
}

async function evaluate(services: Services, caller: Caller, evaluation: Evaluation, origin: string) {
  const request = checkRequestOf(caller.tenantId, evaluation)
  return accessDecision(await check(services, caller, request), origin, request.approvalId !== undefined)
}

/** Evaluates in order, since policies may count, until the semantic makes the rest irrelevant. */
async function evaluateAll(services: Services, caller: Caller, body: Evaluations, origin: string) {
  const { evaluations = [], options, ...defaults } = body
  const semantic = options?.evaluations_semantic ?? 'execute_all'
  const decisions: AccessDecision[] = []
  for (const own of evaluations) {
    const evaluation = evaluationIn(own, defaults)
    const isFaulty = evaluation instanceof GateError
    const decided = isFaulty ? faultyEvaluation(evaluation) : await evaluate(services, caller, evaluation, origin)
    decisions.push(decided)
    if (semantic === (decided.decision ? 'permit_on_first_permit' : 'deny_on_first_deny')) break
  }
  return decisions
}
