import { heldApproval } from '../../actions/approvals/access-requests.ts'
import { getApproval } from '../../actions/approvals/approvals.ts'
import type { Caller } from '../../actions/deps.ts'
import { check } from '../../actions/gate/check.ts'
import { GateError } from '../../base/errors.ts'
import { EXAMPLE } from '../common-shapes.ts'
import { publicRoute, route } from '../route.ts'
import type { Services } from '../services.ts'
import {
  accessDecision,
  checkRequestOf,
  configuration,
  evaluationIn,
  evaluationOf,
  faultyEvaluation,
  taskOf,
} from './authzen.ts'
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
    async answer(services, { caller, body, origin, alsoCount }) {
      const { evaluations = [] } = body
      if (evaluations.length === 0) return evaluate(services, caller, evaluationOf(body), origin)
      alsoCount(evaluations.length - 1)
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
    const decided = isFaulty ? faultyEvaluation(evaluation) : await evaluate(services, caller, evaluation, origin)
    decisions.push(decided)
    if (semantic === (decided.decision ? 'permit_on_first_permit' : 'deny_on_first_deny')) break
  }
  return decisions
}
