import type { Answer } from './answer.ts'
import type { Api } from './api.ts'
import type { CallOptions, Connection, Input, RouteName } from './connection.ts'
import { type Days, verifyLive } from './verification.ts'

/** Body without the tenant, which the client adds. */
export type Body<N extends RouteName> = Api[N] extends { body?: infer B } ? Omit<NonNullable<B>, 'tenantId'> : never
type Query<N extends RouteName> = Api[N] extends { query: infer Q } ? Q : never
export type Data<N extends RouteName> = Promise<Api[N]['data']>

/** Groups of all endpoints that are no methods of their own. */
export function endpoints(connection: Connection) {
  const calls = callsOf(connection)
  return { ...ofActions(calls), ...ofTheTenant(calls) }
}

export type Endpoints = ReturnType<typeof endpoints>

function callsOf(connection: Connection) {
  const { call } = connection
  return {
    connection,
    call,
    /** Like `call`, without the page of a list. */
    data: async <N extends RouteName>(name: N, input: Input<N>, options?: CallOptions): Data<N> =>
      (await call(name, input, options)).data,
  }
}

type Calls = ReturnType<typeof callsOf>

/** Endpoints of decisions and of their records. */
function ofActions({ connection, call, data }: Calls) {
  return {
    approvals: {
      /** Pending approvals unless `status` is given, oldest deadline first. */
      list: (query: Query<'listApprovals'> = {}, options?: CallOptions): Promise<Answer<'listApprovals'>> =>
        call('listApprovals', { query }, options),
      get: (id: string, options?: CallOptions) => data('getApproval', { params: { id }, query: {} }, options),
      /** Background for the decision, and whether this key may vote. */
      background: (id: string, options?: CallOptions) => data('approvalBackground', { params: { id } }, options),
      approve: (id: string, vote: Body<'approve'>, options?: CallOptions) =>
        data('approve', { params: { id }, body: vote }, options),
      reject: (id: string, vote: Body<'reject'>, options?: CallOptions) =>
        data('reject', { params: { id }, body: vote }, options),
    },
    audit: {
      /** Newest first, unless `order` is given. */
      chain: (query: Query<'auditChain'> = {}, options?: CallOptions): Promise<Answer<'auditChain'>> =>
        call('auditChain', { query }, options),
      verify: (range: Body<'auditVerify'>, options?: CallOptions) => data('auditVerify', { body: range }, options),
      /** Like `verify`, with progress: for chains that take longer than a call may. */
      verifyLive: (range: Days, options?: Pick<CallOptions, 'signal'>) => verifyLive(connection, range, options),
      log: (entry: Body<'auditLog'>, options?: CallOptions) => data('auditLog', { body: entry }, options),
    },
    decisions: {
      /** Newest first. A page can be empty although its `next`, passed as `before`, leads to more. */
      list: (query: Query<'listDecisions'> = {}, options?: CallOptions) => data('listDecisions', { query }, options),
      get: (id: string, options?: CallOptions) => data('getDecision', { params: { id } }, options),
      timeline: (id: string, options?: CallOptions) => data('decisionTimeline', { params: { id } }, options),
    },
    evidence: {
      bundle: (id: string, query: Query<'exportBundle'> = {}, options?: CallOptions) =>
        data('exportBundle', { params: { id }, query }, options),
      /** Verification by the service. `@gate-sidecar/client/verify` verifies here, without trusting the service. */
      verify: (bundle: Body<'verifyBundle'>['bundle'], options?: CallOptions) =>
        data('verifyBundle', { body: { bundle } }, options),
    },
  }
}

/** Endpoints of the tenant, its keys and its settings. */
function ofTheTenant({ call, data }: Calls) {
  return {
    killSwitch: {
      status: (options?: CallOptions) => data('killSwitchStatus', {}, options),
      /** All stops, newest first, ended ones too. */
      history: (query: Query<'killSwitchHistory'> = {}, options?: CallOptions): Promise<Answer<'killSwitchHistory'>> =>
        call('killSwitchHistory', { query }, options),
      /** Scope that a trigger would have. Stops nothing. */
      preview: (stop: Body<'previewStop'>, options?: CallOptions) => data('previewStop', { body: stop }, options),
      trigger: (stop: Body<'trigger'>, options?: CallOptions) => data('trigger', { body: stop }, options),
      recover: (recovery: Body<'recover'>, options?: CallOptions) => data('recover', { body: recovery }, options),
    },
    keys: {
      list: (options?: CallOptions) => data('listKeys', {}, options),
      /** Never retried by itself: only one answer holds the secret. */
      create: (key: Body<'createKey'>, options?: CallOptions) => data('createKey', { body: key }, options),
      /**
       * The old secret works for another day, unless `overlapMinutes` is given. Never retried by itself, like `create`.
       */
      rotate: (id: string, overlap: Body<'rotateKey'> = {}, options?: CallOptions) =>
        data('rotateKey', { params: { id }, body: overlap }, options),
      revoke: (id: string, options?: CallOptions) => data('revokeKey', { params: { id } }, options),
    },
    policies: {
      list: (options?: CallOptions) => data('listPolicies', {}, options),
      validate: (texts: Body<'validatePolicies'>, options?: CallOptions) =>
        data('validatePolicies', { body: texts }, options),
      reload: (options?: CallOptions) => data('reloadPolicies', { body: {} }, options),
      source: (options?: CallOptions) => data('policySource', {}, options),
      /** Decides without recording. `files` are used in place of the policies in force. */
      dryRun: (question: Body<'dryRun'>, options?: CallOptions) => data('dryRun', { body: question }, options),
    },
    sessions: {
      /** The caller: what its key may do, and for which tenants. */
      current: (options?: CallOptions) => data('getSession', {}, options),
      /** Link that signs a browser in with this key, once within five minutes. */
      signInLink: (options?: CallOptions) => data('signInCode', {}, options),
    },
    service: {
      /** Plan of the tenant, and its remaining quota. */
      usage: (options?: CallOptions) => data('usage', {}, options),
      health: (options?: CallOptions) => data('healthz', {}, options),
      /** @throws GateError `not_ready` */
      readiness: (options?: CallOptions) => data('readyz', {}, options),
      /** Metrics for Prometheus. */
      metrics: (options?: CallOptions) => data('metrics', {}, options),
      openApi: (options?: CallOptions) => data('openapi', {}, options),
      /** Overview of the last 24 hours, unless `hours` is given. */
      overview: (query: Query<'overview'> = {}, options?: CallOptions) => data('overview', { query }, options),
    },
  }
}
