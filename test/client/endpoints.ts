import { type Call, type Expected, MAIL } from './cases.ts'

/** A call of a conversation with one sidecar. Texts such as `$approval` stand for what was kept of an earlier answer. */
export interface Exchange extends Call, Pick<Expected, 'value' | 'error'> {
  as?: 'approver'
  /** The one client that has it. */
  only?: 'TypeScript'
  /** Members of the answer to keep: the path of each, by name. */
  keep?: Record<string, string>
}

const pay = (amount: number) => ({ action: 'payment.transfer', context: { amount } })

/** Every endpoint once at least, in an order in which each finds what it is about. */
export const ENDPOINTS: readonly Exchange[] = [
  { call: 'service.health', value: { status: 'ok' } },
  { call: 'service.readiness', value: { ready: true } },
  { call: 'service.usage', value: { plan: 'enterprise', remaining: null, environment: 'live' } },
  { call: 'service.metrics', value: /^# HELP gate_sidecar_/ },
  { call: 'service.openApi', value: { openapi: '3.1.0' } },
  { call: 'risk', with: pay(5000), value: { score: 15, factors: [{ name: 'amount', contribution: 15 }] } },
  { call: 'decide', with: pay(5000), value: { decision: 'require_approval' }, keep: { approval: 'approvalId' } },
  { call: 'approvals.get', with: { id: '$approval' }, value: { status: 'pending', action: 'payment.transfer' } },
  { call: 'approvals.list', with: { limit: 1 }, value: { data: [{ status: 'pending' }], page: { limit: 1 } } },
  {
    call: 'approvals.background',
    with: { id: '$approval' },
    value: {
      rule: { id: 'large' },
      agent: { principal: 'otto' },
      mayVote: { allowed: false, reason: /^The requester, or/ },
    },
  },
  {
    call: 'approvals.approve',
    with: { id: '$approval', approverId: '$me' },
    error: { name: 'GateError', code: 'self_approval', status: 403 },
  },
  {
    call: 'approvals.approve',
    as: 'approver',
    with: { id: '$approval', approverId: 'ann', comment: 'fine' },
    value: { id: '$approval', status: 'approved', votes: [{ comment: 'fine' }] },
  },
  { call: 'waitForApproval', with: { id: '$approval' }, value: { status: 'approved' } },
  { call: 'decide', with: pay(5000), value: { decision: 'allow' }, keep: { decision: 'decisionId' } },
  {
    call: 'outcome',
    with: { decisionId: '$decision', status: 'succeeded', durationMs: 3 },
    value: { decisionId: '$decision', status: 'succeeded', possibleBypass: false },
  },
  {
    call: 'outcome',
    with: { decisionId: '$decision', status: 'failed' },
    error: { name: 'GateError', code: 'outcome_conflict', status: 409 },
  },
  {
    call: 'decisions.get',
    with: { id: '$decision' },
    value: { decision: 'allow', outcome: { status: 'succeeded' }, reproduced: true },
  },
  {
    call: 'decisions.list',
    with: { limit: 1 },
    value: { data: [{ id: '$decision', decision: 'allow' }], page: { searchedTo: /Z$/ } },
  },
  {
    call: 'decisions.list',
    with: { action: 'payment.**', decision: 'require_approval', minRisk: 15, agent: 'otto' },
    value: { data: [{ decision: 'require_approval', rule: 'large' }], page: { next: null } },
  },
  {
    call: 'decisions.timeline',
    with: { id: '$decision' },
    value: {
      decisionId: '$decision',
      approval: { id: '$approval', status: 'consumed' },
      items: { 5: { event: /^outcome/ } },
    },
  },
  {
    call: 'decisions.get',
    with: { id: 'dec_../keys' },
    error: { name: 'GateError', code: 'not_found', status: 404 },
  },
  { call: 'decide', with: pay(6000), value: { decision: 'require_approval' }, keep: { other: 'approvalId' } },
  {
    call: 'approvals.reject',
    as: 'approver',
    with: { id: '$other', approverId: 'ann', reason: 'no' },
    value: { status: 'rejected' },
  },
  { call: 'waitForApproval', with: { id: '$other', timeout: 5000 }, value: { status: 'rejected' } },
  { call: 'decide', with: pay(7000), value: { decision: 'require_approval' }, keep: { third: 'approvalId' } },
  { call: 'approvals.cancel', with: { id: '$third' }, value: { id: '$third', status: 'cancelled' } },
  { call: 'audit.log', with: { eventType: 'invoice.read', data: { page: 2 } }, value: { eventType: 'invoice.read' } },
  {
    call: 'audit.chain',
    with: { eventType: 'invoice.read', limit: 1 },
    value: { data: [{ data: { page: 2 } }], page: { limit: 1 } },
  },
  { call: 'audit.verify', with: { startDate: '2020-01-01', endDate: '2099-12-31' }, value: { valid: true } },
  {
    call: 'audit.verifyLive',
    only: 'TypeScript',
    with: { startDate: '2020-01-01', endDate: '2099-12-31' },
    value: [
      { type: 'progress', checked: 0 },
      { type: 'verified', verification: { valid: true } },
    ],
  },
  {
    call: 'audit.verifyLive',
    only: 'TypeScript',
    with: { startDate: '2020-01-02', endDate: '2020-01-01' },
    error: { name: 'GateError', code: 'invalid_request', status: 400 },
  },
  {
    call: 'evidence.bundle',
    with: { id: '$decision' },
    value: { decision: { id: '$decision' } },
    keep: { bundle: '' },
  },
  { call: 'killSwitch.preview', with: { level: 'L3' }, value: { scope: /./, allowed: true, refusal: null } },
  { call: 'killSwitch.trigger', with: { level: 'L3', reason: 'test', triggeredBy: 'x' }, value: { active: true } },
  { call: 'killSwitch.status', value: { active: true, level: 'L3' } },
  { call: 'decide', with: MAIL, value: { decision: 'deny', decidedBy: 'kill_switch' } },
  { call: 'killSwitch.recover', with: { recoveredBy: 'x', comment: 'over' }, value: { active: false } },
  { call: 'killSwitch.history', with: { limit: 1 }, value: { data: [{ comment: 'over' }], page: { limit: 1 } } },
  { call: 'evidence.verify', with: { bundle: '$bundle' }, value: { valid: true } },
  { call: 'keys.create', with: { name: 'made', roles: ['agent'] }, value: { name: 'made' }, keep: { key: 'id' } },
  { call: 'keys.list', value: { 0: { id: /^key_/ } } },
  { call: 'keys.rotate', with: { id: '$key', overlapMinutes: 60 }, value: { replaces: { id: '$key' } } },
  { call: 'keys.revoke', with: { id: '$key' }, value: { id: '$key' } },
  { call: 'sessions.current', value: { principal: 'otto', roles: ['owner'], session: null } },
  { call: 'sessions.signInLink', value: { url: /\/console\/#code=/ } },
  { call: 'policies.list', value: { digest: /^sha256:/ } },
  {
    call: 'policies.validate',
    with: { files: [{ name: 'main.yaml', text: '$policy' }] },
    value: { valid: true },
  },
  { call: 'policies.reload', value: { digest: /^sha256:/ } },
  {
    call: 'policies.source',
    value: { digest: /^sha256:/, files: [{ name: /yaml$/, text: /tenant/ }] },
    keep: { inForce: 'digest' },
  },
  {
    call: 'evidence.policyChange',
    with: { id: '$inForce' },
    value: { kind: 'policy-change', policyDigest: '$inForce', entries: { 0: { header: { type: 'policy.loaded' } } } },
    keep: { change: '' },
  },
  { call: 'evidence.verify', with: { bundle: '$change' }, value: { valid: true, erasedSince: [] } },
  { call: 'policies.shadow', value: { digest: null, comparison: null, faults: [] } },
  { call: 'policies.dryRun', with: pay(5000), value: { verdict: { decision: 'require_approval' }, diagnostics: [] } },
  {
    call: 'policies.dryRun',
    with: { ...MAIL, files: [{ name: 'main.yaml', text: 'rules: 3' }] },
    value: { verdict: null, diagnostics: { 0: { excerpt: 'rules: 3' } } },
  },
  {
    call: 'replays.begin',
    with: { files: [{ name: 'main.yaml', text: '$policy' }], action: 'nothing.*' },
    value: { status: /waiting|running|done/, history: 'recorded', action: 'nothing.*' },
    keep: { replay: 'id' },
  },
  { call: 'replays.get', with: { id: '$replay' }, value: { id: '$replay', diagnostics: [] } },
  { call: 'replays.changes', with: { id: '$replay', limit: 5 }, value: { data: [], page: { limit: 5, total: 0 } } },
  { call: 'replays.cancel', with: { id: '$replay' }, value: { id: '$replay' } },
  {
    call: 'replays.seal',
    with: { id: '$replay' },
    error: { name: 'GateError', code: 'not_found', status: 404 },
  },
  { call: 'service.overview', with: { hours: 2 }, value: { bucketMs: 120_000, posture: { environment: 'live' } } },
  {
    call: 'events',
    with: { count: 3, lastEventId: '0-0' },
    value: [{ id: /^aud_/ }, { eventType: /\./ }, { data: {} }],
  },
]
