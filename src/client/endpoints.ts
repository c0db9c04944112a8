import type { Answer } from './answer.ts'
import type { Api } from './api.ts'
import type { CallOptions, Connection, Input, RouteName } from './connection.ts'
import { type Days, verifyLive } from './verification.ts'

/** Body without the tenant, which the client adds. */
export type Body<N extends RouteName> = Api[N] extends { body?: infer B } ? Omit<NonNullable<B>, 'tenantId'> : never
type Query<N extends RouteName> = Api[N] extends { query: infer Q } ? Q : never
export type Data<N extends RouteName> = Promise<Api[N]['data']>

/** Groups of all endpoints that are not methods of their own. */
export class Endpoints {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  readonly approvals = {
    /** Pending approvals unless `status` is given, earliest deadline first. */
    list: (query: Query<'listApprovals'> = {}, options?: CallOptions): Promise<Answer<'listApprovals'>> =>
      this.#connection.call('listApprovals', { query }, options),
    get: (id: string, options?: CallOptions) => this.#data('getApproval', { params: { id }, query: {} }, options),
    /** Background for the decision, and whether this key may vote. */
    background: (id: string, options?: CallOptions) => this.#data('approvalBackground', { params: { id } }, options),
    approve: (id: string, vote: Body<'approve'>, options?: CallOptions) =>
      this.#data('approve', { params: { id }, body: vote }, options),
    reject: (id: string, vote: Body<'reject'>, options?: CallOptions) =>
      this.#data('reject', { params: { id }, body: vote }, options),
    /** Takes back an approval that was not used. For its requester, and for every voter. */
    cancel: (id: string, options?: CallOptions) => this.#data('cancelApproval', { params: { id }, body: {} }, options),
  }

  readonly audit = {
    /** Newest first, unless `order` is given. */
    chain: (query: Query<'auditChain'> = {}, options?: CallOptions): Promise<Answer<'auditChain'>> =>
      this.#connection.call('auditChain', { query }, options),
    verify: (range: Body<'auditVerify'>, options?: CallOptions) => this.#data('auditVerify', { body: range }, options),
    /** Like `verify`, with progress: for chains that take longer than a call may. */
    verifyLive: (range: Days, options?: Pick<CallOptions, 'signal'>) => verifyLive(this.#connection, range, options),
    log: (entry: Body<'auditLog'>, options?: CallOptions) => this.#data('auditLog', { body: entry }, options),
  }

  readonly decisions = {
    /** Newest first. A page can be empty although its `page.next`, passed as `before`, leads to more. */
    list: async (query: Query<'listDecisions'> = {}, options?: CallOptions) => {
      const { items: data, ...page } = await this.#data('listDecisions', { query }, options)
      return { data, page }
    },
    get: (id: string, options?: CallOptions) => this.#data('getDecision', { params: { id } }, options),
    timeline: (id: string, options?: CallOptions) => this.#data('decisionTimeline', { params: { id } }, options),
  }

  readonly evidence = {
    policyChange: (digest: string, options?: CallOptions) =>
      this.#data('exportPolicyChange', { params: { id: digest } }, options),
    bundle: (id: string, query: Query<'exportBundle'> = {}, options?: CallOptions) =>
      this.#data('exportBundle', { params: { id }, query }, options),
    /** Verification by the service. `@gate-sidecar/client/verify` verifies here, without trusting the service. */
    verify: (bundle: Body<'verifyBundle'>['bundle'], options?: CallOptions) =>
      this.#data('verifyBundle', { body: { bundle } }, options),
  }

  readonly killSwitch = {
    status: (options?: CallOptions) => this.#data('killSwitchStatus', {}, options),
    /** All stops, newest first, ended ones too. */
    history: (query: Query<'killSwitchHistory'> = {}, options?: CallOptions): Promise<Answer<'killSwitchHistory'>> =>
      this.#connection.call('killSwitchHistory', { query }, options),
    /** Reports what a trigger would cover. Stops nothing. */
    preview: (stop: Body<'previewStop'>, options?: CallOptions) => this.#data('previewStop', { body: stop }, options),
    trigger: (stop: Body<'trigger'>, options?: CallOptions) => this.#data('trigger', { body: stop }, options),
    recover: (recovery: Body<'recover'>, options?: CallOptions) => this.#data('recover', { body: recovery }, options),
  }

  readonly keys = {
    list: (options?: CallOptions) => this.#data('listKeys', {}, options),
    /** Never retried by itself: only one answer holds the secret. */
    create: (key: Body<'createKey'>, options?: CallOptions) => this.#data('createKey', { body: key }, options),
    /**
     * The old secret works for another day, unless `overlapMinutes` is given. Never retried by itself, like `create`.
     */
    rotate: (id: string, overlap: Body<'rotateKey'> = {}, options?: CallOptions) =>
      this.#data('rotateKey', { params: { id }, body: overlap }, options),
    revoke: (id: string, options?: CallOptions) => this.#data('revokeKey', { params: { id } }, options),
  }

  readonly policies = {
    list: (options?: CallOptions) => this.#data('listPolicies', {}, options),
    validate: (texts: Body<'validatePolicies'>, options?: CallOptions) =>
      this.#data('validatePolicies', { body: texts }, options),
    reload: (options?: CallOptions) => this.#data('reloadPolicies', { body: {} }, options),
    source: (options?: CallOptions) => this.#data('policySource', {}, options),
    /** The set in shadow, and its decisions beside those that were made. */
    shadow: (options?: CallOptions) => this.#data('shadowPolicies', {}, options),
    /** Decides without recording. `files` are used in place of the policies in force. */
    dryRun: (question: Body<'dryRun'>, options?: CallOptions) => this.#data('dryRun', { body: question }, options),
  }

  readonly replays = {
    /** Begins to decide recorded requests again with `files`; \`get\` has the progress, and in the end the report. */
    begin: (draft: Body<'replayPolicies'>, options?: CallOptions) =>
      this.#data('replayPolicies', { body: draft }, options),
    get: (id: string, options?: CallOptions) => this.#data('getReplay', { params: { id } }, options),
    /** Decisions that the draft changes, oldest first. */
    changes: (
      id: string,
      query: Query<'replayChanges'> = {},
      options?: CallOptions,
    ): Promise<Answer<'replayChanges'>> => this.#connection.call('replayChanges', { params: { id }, query }, options),
    /** Ends a replay, and forgets it. */
    cancel: (id: string, options?: CallOptions) => this.#data('cancelReplay', { params: { id } }, options),
    seal: (id: string, options?: CallOptions) => this.#data('sealReplay', { params: { id } }, options),
  }

  readonly sessions = {
    /** The caller: what its key may do, and for which tenants. */
    current: (options?: CallOptions) => this.#data('getSession', {}, options),
    /** Link that signs a browser in with this key, once within five minutes. */
    signInLink: (options?: CallOptions) => this.#data('signInCode', {}, options),
  }

  readonly service = {
    /** Plan of the tenant, and its remaining quota. */
    usage: (options?: CallOptions) => this.#data('usage', {}, options),
    health: (options?: CallOptions) => this.#data('healthz', {}, options),
    /** @throws GateError `not_ready` */
    readiness: (options?: CallOptions) => this.#data('readyz', {}, options),
    /** Metrics for Prometheus. */
    metrics: (options?: CallOptions) => this.#data('metrics', {}, options),
    openApi: (options?: CallOptions) => this.#data('openapi', {}, options),
    /** Overview of the last 24 hours, unless `hours` is given. */
    overview: (query: Query<'overview'> = {}, options?: CallOptions) => this.#data('overview', { query }, options),
  }

  /** Like `call`, without the page of a list. */
  async #data<N extends RouteName>(name: N, input: Input<N>, options?: CallOptions): Data<N> {
    return (await this.#connection.call(name, input, options)).data
  }
}
