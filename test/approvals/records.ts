import type { Approval, Vote } from '../../src/approvals/approval.ts'
import type { ApiKey } from '../../src/keys/apikey.ts'
import { at } from '../killswitch/stops.ts'

/** A key of the host's making, by id. */
export function keyOf(id: string, change: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    revision: 1,
    hash: '',
    tenantId: 'acme',
    environment: 'live',
    roles: ['approver'],
    identity: null,
    groups: [],
    name: null,
    createdAt: at(0),
    createdBy: 'host:0',
    expiresAt: null,
    revokedAt: null,
    ...change,
  }
}

export function keysOf(...keys: readonly ApiKey[]): ReadonlyMap<string, ApiKey> {
  return new Map(keys.map((key) => [key.id, key]))
}

export function voteBy(keyId: string, principal = keyId): Vote {
  return { keyId, principal, approverId: principal, comment: null, votedAt: at(1), entryId: `aud_${keyId}` }
}

/** A pending approval that `agent` asked for at T0, for an hour. */
export function approvalOf(change: Partial<Approval> = {}): Approval {
  return {
    id: 'apr_1',
    revision: 1,
    chain: 'acme/live',
    action: 'payment.transfer',
    domain: 'finance',
    status: 'pending',
    createdAt: at(0),
    requestedEnd: 9,
    context: {},
    plan: null,
    decisionId: 'dec_1',
    riskScore: 0,
    factors: [],
    reason: 'Large.',
    rule: 'large',
    explain: 'full',
    requestedBy: 'agent',
    requestedByKey: 'agent',
    quorum: 1,
    selfApproval: false,
    approvers: [],
    unbound: [],
    votes: [],
    expiresAt: at(3_600_000),
    decidedAt: null,
    decidedEnd: null,
    digest: 'sha256:0',
    ...change,
  }
}
