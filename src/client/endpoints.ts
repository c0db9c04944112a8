import type { Answer } from './answer.ts'
import type { Api } from './api.ts'
import type { CallOptions, Connection, Input, RouteName } from './connection.ts'
import { type Days, verifyLive } from './verification.ts'

/** A body without the tenant, which the client adds. */
export type Body<N extends RouteName> = Api[N] extends { body?: infer B } ? Omit<NonNullable<B>, 'tenantId'> : never
type Query<N extends RouteName> = Api[N] extends { query: infer Q } ? Q : never
export type Data<N extends RouteName> = Promise<Api[N]['data']>

/** Every endpoint but those that are methods of their own, in groups. */
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
    /** Without the page of a list. */
    data: async <N extends RouteName>(name: N, input: Input<N>, options?: CallOptions): Data<N> =>
      (await call(name, input, options)).data,
  }
}

type Calls = ReturnType<typeof callsOf>

/** What was decided about actions, and what is on record of it. */
function ofActions({ connection, call, data }: Calls) {
  return {
    approvals: {
      /** Pending ones unless `status` says otherwise, oldest deadline first. */
      list: (query: Query<'listApprovals'> = {}, options?: CallOptions): Promise<Answer<'listApprovals'>> =>
        call('listApprovals', { query }, options),
      get: (id: string, options?: CallOptions) => data('getApproval', { params: { id }, query: {} }, options),
      /** What helps to decide it, and whether this key may vote. */
      background: (id: string, options?: CallOptions) => data('approvalBackground', { params: { id } }, options),
      approve: (id: string, vote: Body<'approve'>, options?: CallOptions) =>
        data('approve', { params: { id }, body: vote }, options),
      reject: (id: string, vote: Body<'reject'>, options?: CallOptions) =>
        data('reject', { params: { id }, body: vote }, options),
    },
    audit: {
      /** Newest first unless `order` says otherwise. */
      chain: (query: Query<'auditChain'> = {}, options?: CallOptions): Promise<Answer<'auditChain'>> =>
        call('auditChain', { query }, options),
      verify: (range: Body<'auditVerify'>, options?: CallOptions) => data('auditVerify', { body: range }, options),
      /** As `verify`, told as it goes: for chains that take longer than a call may. */
      verifyLive: (range: Days, options?: Pick<CallOptions, 'signal'>) => verifyLive(connection, range, options),
      log: (entry: Body<'auditLog'>, options?: CallOptions) => data('auditLog', { body: entry }, options),
    },
    decisions: {
      /** Newest first. A page can be empty while its `next`, as `before` of the next one, goes on. */
      list: (query: Query<'listDecisions'> = {}, options?: CallOptions) => data('listDecisions', { query }, options),
      get: (id: string, options?: CallOptions) => data('getDecision', { params: { id } }, options),
      timeline: (id: string, options?: CallOptions) => data('decisionTimeline', { params: { id } }, options),
    },
    evidence: {
      bundle: (id: string, query: Query<'exportBundle'> = {}, options?: CallOptions) =>
        data('exportBundle', { params: { id }, query }, options),
      /** By the service. To trust nobody else, `@gate-sidecar/client/verify` does it here. */
      verify: (bundle: Body<'verifyBundle'>['bundle'], options?: CallOptions) =>
        data('verifyBundle', { body: { bundle } }, options),
    },
  }
}

/** What the tenant has, and who may do what in it. */
function ofTheTenant({ call, data }: Calls) {
  return {
    killSwitch: {
      status: (options?: CallOptions) => data('killSwitchStatus', {}, options),
      /** Every stop, newest first, ended ones too. */
      history: (query: Query<'killSwitchHistory'> = {}, options?: CallOptions): Promise<Answer<'killSwitchHistory'>> =>
        call('killSwitchHistory', { query }, options),
      /** What a trigger would cover. Stops nothing. */
      preview: (stop: Body<'previewStop'>, options?: CallOptions) => data('previewStop', { body: stop }, options),
      trigger: (stop: Body<'trigger'>, options?: CallOptions) => data('trigger', { body: stop }, options),
      recover: (recovery: Body<'recover'>, options?: CallOptions) => data('recover', { body: recovery }, options),
    },
    keys: {
      list: (options?: CallOptions) => data('listKeys', {}, options),
      /** Never repeated by itself: its secret is in one answer only. */
      create: (key: Body<'createKey'>, options?: CallOptions) => data('createKey', { body: key }, options),
      /** The old secret still works for a day unless `overlapMinutes` says otherwise. Never repeated by itself, as `create`. */
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
      /** What would be decided; nothing is recorded. With `files`, by those in place of the policies in force. */
      dryRun: (question: Body<'dryRun'>, options?: CallOptions) => data('dryRun', { body: question }, options),
    },
    sessions: {
      /** Who asks: what the key may do, and for which tenants. */
      current: (options?: CallOptions) => data('getSession', {}, options),
      /** A link that signs a browser in with this key, once within five minutes. */
      signInLink: (options?: CallOptions) => data('signInCode', {}, options),
    },
    service: {
      /** The plan of the tenant, and what is left of it. */
      usage: (options?: CallOptions) => data('usage', {}, options),
      health: (options?: CallOptions) => data('healthz', {}, options),
      /** @throws GateError `not_ready` */
      readiness: (options?: CallOptions) => data('readyz', {}, options),
      /** For Prometheus. */
      metrics: (options?: CallOptions) => data('metrics', {}, options),
      openApi: (options?: CallOptions) => data('openapi', {}, options),
      /** Of the last 24 hours, unless `hours` says otherwise. */
      overview: (query: Query<'overview'> = {}, options?: CallOptions) => data('overview', { query }, options),
    },
  }
}
