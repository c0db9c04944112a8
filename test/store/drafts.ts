import { randomBytes } from 'node:crypto'
import { actorOf } from '../../src/actions/deps.ts'
import type { Approval } from '../../src/approvals/approval.ts'
import { ownerOf, SYSTEM_CHAIN, trailOf } from '../../src/audit/chain.ts'
import { type Actor, type DecisionEntry, type EventEntry, SERVICE } from '../../src/audit/draft.ts'
import { isReservedType } from '../../src/audit/events.ts'
import { digestOf } from '../../src/base/digest.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Json } from '../../src/base/json.ts'
import type { ApiKey } from '../../src/keys/apikey.ts'
import type { Tenant } from '../../src/keys/tenant.ts'
import type { KillSwitch } from '../../src/killswitch/killswitch.ts'
import {
  type Change,
  chainOfRecord,
  change,
  creation,
  type RecordKind,
  type Records,
  type SigningKey,
} from '../../src/store/records.ts'
import type { Store } from '../../src/store/store.ts'
import type { Submission } from '../../src/store/submission.ts'

export const LIVE = 'acme/live'
export const START_MS = Date.parse('2026-01-01T00:00:00.000Z')
const HOST: Actor = { kind: 'host', id: 'host:0' }
const AT = '2026-01-01T00:00:00.000Z'

const newId = idMaker(() => START_MS, randomBytes)

interface NoteOptions {
  chain?: string
  type?: string
  actor?: Actor
}

/** An entry of a caller: the agent of the chain, whom `enrolment` makes; or of the service, where only that writes. */
export function note(data: Json = {}, { chain = LIVE, type = 'custom.note', actor }: NoteOptions = {}): EventEntry {
  const by = isReservedType(type) || chain === SYSTEM_CHAIN ? SERVICE : actorOf(agentOf(chain))
  return { kind: 'event', id: newId('entry'), chain, type, data, actor: actor ?? by }
}

/** The agent of a chain; of `acme/live`, the one of `aDecision`. */
export function agentOf(chain: string): ApiKey {
  const { tenantId, environment } = ownerOf(chain)
  const id = trailOf(chain) === LIVE ? 'key_a' : `key_${tenantId}_${environment}`
  return aKey({ id, tenantId, environment, hash: digestOf(id) })
}

/** Makes the agent of a chain, so that what it does there is lawful. */
export function enrolment(chain: string = LIVE): Submission {
  return creating('key', agentOf(chain))
}

/** A decision by any rule, of which what matters is the action, the decision and the id. */
export function aDecision(
  decision: DecisionEntry['decision']['decision'],
  { action = 'payment.transfer', id = newId('decision') } = {},
): DecisionEntry {
  return {
    kind: 'decision',
    id: id.replace('dec', 'aud'),
    chain: LIVE,
    decision: { id, action, decision },
    request: { action },
    risk: { score: 0, factors: [] },
    grounds: {
      rule: null,
      reason: '',
      decidedBy: decision === 'allow' ? 'allow_rule' : 'default',
      retry: 'never',
      policyDigest: null,
      evaluatedAt: AT,
      caller: { keyId: 'key_a', roles: ['agent'], agent: 'key_a' },
      domain: null,
      session: null,
      taken: decision === 'allow' ? action : null,
      historyEnd: null,
      unevaluable: [],
      approvalId: null,
      planValidated: false,
    },
  }
}

/** Appends one entry and nothing else. */
export function only(...entries: EventEntry[]): Submission {
  return { guards: [], writes: [], entries }
}

const TYPES: Record<RecordKind, string> = {
  tenant: 'tenant.created',
  key: 'key.created',
  signingKey: 'key.created',
  policy: 'policy.loaded',
  switch: 'killswitch.triggered',
  approval: 'approval.requested',
}

/** The change of a record, with the entry that records it, in the chain where it belongs. */
export function changing<K extends RecordKind>(made: Change<K>, type?: string): Submission {
  const { write, data } = made
  const chain = chainOfRecord(write)
  const actor = data.record === 'policy' ? SERVICE : HOST
  return {
    guards: [],
    writes: [write],
    entries: [note(data as Json, { type: type ?? TYPES[data.record], chain, actor })],
  }
}

export function creating<K extends RecordKind>(kind: K, record: Records[K]): Submission {
  return changing(creation(kind, record))
}

/** Commits, and fails when it was refused. */
export async function commit(store: Store, submission: Submission): Promise<void> {
  const { conflict } = await store.commit(submission)
  if (conflict !== null) throw new Error(`refused: ${conflict}`)
}

export function aTenant(changes: Partial<Tenant> = {}): Tenant {
  return { id: 'acme', revision: 1, plan: 'enterprise', createdAt: AT, ...changes }
}

export function aKey(changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id: newId('key'),
    revision: 1,
    hash: `sha256:${randomBytes(32).toString('hex')}`,
    tenantId: 'acme',
    environment: 'live',
    roles: ['agent'],
    identity: null,
    groups: [],
    name: null,
    createdAt: AT,
    createdBy: 'host:0',
    expiresAt: null,
    revokedAt: null,
    ...changes,
  }
}

/** A log key in use, which nobody has the private half of. */
export function aSigningKey(changes: Partial<SigningKey> = {}): SigningKey {
  return {
    id: `sha256:${'0'.repeat(64)}`,
    revision: 1,
    purpose: 'log',
    algorithm: 'ed25519',
    publicKey: `${'A'.repeat(43)}=`,
    createdAt: AT,
    retiredAt: null,
    revokedAt: null,
    certificate: null,
    rotation: null,
    ...changes,
  }
}

export function aStop(changes: Partial<KillSwitch> = {}): KillSwitch {
  return {
    id: newId('killSwitch'),
    revision: 1,
    level: 'L3',
    target: LIVE,
    scope: 'acme',
    patterns: [],
    reason: 'odd transfers',
    triggeredBy: 'ann',
    triggeredAt: AT,
    recoveredBy: null,
    recoveredAt: null,
    comment: null,
    ...changes,
  }
}

export function recovered(stop: KillSwitch, recoveredAt = AT): Submission {
  return changing(change('switch', stop, { recoveredBy: 'ann', recoveredAt, comment: 'fine' }))
}

export function anApproval(changes: Partial<Approval> = {}): Approval {
  return {
    id: newId('approval'),
    revision: 1,
    chain: LIVE,
    action: 'payment.transfer',
    domain: null,
    status: 'pending',
    createdAt: AT,
    requestedEnd: 0,
    context: { amount: 2000 },
    plan: null,
    decisionId: newId('decision'),
    riskScore: 6,
    factors: [],
    reason: 'Large payments need a person.',
    rule: 'large',
    explain: 'full',
    requestedBy: 'bot',
    requestedByKey: 'key_bot',
    quorum: 1,
    selfApproval: false,
    approvers: [],
    unbound: [],
    votes: [],
    expiresAt: '2026-01-01T01:00:00.000Z',
    decidedAt: null,
    decidedEnd: null,
    digest: `sha256:${'0'.repeat(64)}`,
    ...changes,
  }
}
