import type { Answer } from './answer.ts'
import type { Api } from './api.ts'
import type { CallOptions, Connection, Input, RouteName } from './connection.ts'

/** A body without the tenant, which the client adds. */
export type Body<N extends RouteName> = Api[N] extends { body?: infer B } ? Omit<NonNullable<B>, 'tenantId'> : never
type Query<N extends RouteName> = Api[N] extends { query: infer Q } ? Q : never
export type Data<N extends RouteName> = Promise<Api[N]['data']>

/** Every endpoint but those that are methods of their own, in groups. */
export function endpoints(connection: Connection) {
  const { call } = connection
  const data = async <N extends RouteName>(name: N, input: Input<N>, options?: CallOptions): Data<N> =>
    (await call(name, input, options)).data

  return {
    approvals: {
      /** Pending ones unless `status` says otherwise, oldest deadline first. */
      list: (query: Query<'listApprovals'> = {}, options?: CallOptions): Promise<Answer<'listApprovals'>> =>
        call('listApprovals', { query }, options),
      get: (id: string, options?: CallOptions) => data('getApproval', { params: { id }, query: {} }, options),
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
      log: (entry: Body<'auditLog'>, options?: CallOptions) => data('auditLog', { body: entry }, options),
    },
    decisions: {
      get: (id: string, options?: CallOptions) => data('getDecision', { params: { id } }, options),
    },
    evidence: {
      bundle: (id: string, query: Query<'exportBundle'> = {}, options?: CallOptions) =>
        data('exportBundle', { params: { id }, query }, options),
      /** By the service. To trust nobody else, `@gate-sidecar/client/verify` does it here. */
      verify: (bundle: Body<'verifyBundle'>['bundle'], options?: CallOptions) =>
        data('verifyBundle', { body: { bundle } }, options),
    },
    killSwitch: {
      status: (options?: CallOptions) => data('killSwitchStatus', {}, options),
      trigger: (stop: Body<'trigger'>, options?: CallOptions) => data('trigger', { body: stop }, options),
      recover: (recovery: Body<'recover'>, options?: CallOptions) => data('recover', { body: recovery }, options),
    },
    keys: {
      list: (options?: CallOptions) => data('listKeys', {}, options),
      /** Never repeated by itself: its secret is in one answer only. */
      create: (key: Body<'createKey'>, options?: CallOptions) => data('createKey', { body: key }, options),
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
    service: {
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

export type Endpoints = ReturnType<typeof endpoints>
