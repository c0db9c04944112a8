import * as Type from '#typebox'
import { RANGE_STATUSES, type RangeStatus } from '../../audit/range.ts'
import { AnyObject, Digest, EXAMPLE, id, nullable, oneOf, Timestamp, titled } from '../common-shapes.ts'

export const AuditEntry = titled('AuditEntry', 'One entry of the hash-chained trail.', {
  id: id('entry', 'Id of the entry; for a decision, its id with another prefix.'),
  timestamp: Timestamp,
  eventType: Type.String({ description: "One of the service's types, or a caller's own." }),
  data: nullable(AnyObject),
  hash: Digest,
  chain: Type.String({ description: 'Its chain: that of the tenant, or a lane of it.' }),
  seq: Type.Integer({ minimum: 0, description: 'Its place in the chain, without gaps.' }),
  previousHash: Digest,
  actor: nullable(AnyObject),
})

export const RangeVerification = titled('RangeVerification', {
  valid: Type.Boolean(),
  status: oneOf(Object.keys(RANGE_STATUSES) as RangeStatus[], statuses()),
  entriesChecked: Type.Integer({ minimum: 0 }),
  firstEntry: Type.String({ description: 'Empty for an empty range.' }),
  lastEntry: Type.String({ description: 'Empty for an empty range.' }),
  fault: nullable(Type.String({ description: 'The first fault.' })),
  firstBadSeq: nullable(Type.Integer()),
  firstBadChain: nullable(
    Type.String({ description: 'The chain of that entry: of the tenant, a lane, or `_system`.' }),
  ),
  unlawfulEntries: Type.Integer({
    minimum: 0,
    description: 'Entries that record something that was not permitted, besides any other fault.',
  }),
  redactedEntries: Type.Integer({
    minimum: 0,
    description: 'Entries of the range with a section that was erased by a command.',
  }),
  unanchoredEntries: Type.Integer({ minimum: 0, description: 'Entries of the range that no anchor holds.' }),
  unsignedEntries: Type.Integer({
    minimum: 0,
    description: 'Entries of the range after the newest checkpoint that counts.',
  }),
  signedEntries: Type.Integer({ minimum: 0, description: 'Number of entries, from the first one on, that it covers.' }),
  anchoredEntries: Type.Integer({
    minimum: 0,
    description: 'Number of entries, from the first one on, that an anchor covers.',
  }),
  sealed: nullable(
    Type.Boolean({ description: 'Whether the holder of the log key appended the newest entry; null without the key.' }),
  ),
})

export const VerificationText = Type.String({
  description:
    'Server-sent events, of which `data` is one line of JSON. `progress`, at most some a second: `{checked, of}`, entries. At the end `verified`, with `data` of `POST /audit/verify`, or `failed`: `{error, message}`, as every failure has them.',
})

const decision: Type.Static<typeof AuditEntry> = {
  id: EXAMPLE.entry,
  timestamp: EXAMPLE.time,
  eventType: 'gate.decision',
  data: {
    id: EXAMPLE.decision,
    action: 'payment.transfer',
    decision: 'require_approval',
    rule: 'steered-transfer',
    reason: EXAMPLE.verdict.reason,
    riskScore: 35.1,
    policyDigest: EXAMPLE.policyDigest,
  },
  hash: EXAMPLE.hash,
  chain: 'acme/live',
  seq: 7,
  previousHash: EXAMPLE.previousHash,
  actor: { kind: 'key', id: EXAMPLE.key, roles: ['agent'] },
}

export const auditChainExample = { data: [decision] }
export const auditVerifyExample = {
  body: { startDate: '2026-11-01', endDate: '2026-11-30' },
  data: {
    valid: true,
    status: 'unanchored' as const,
    entriesChecked: 1,
    firstEntry: EXAMPLE.entry,
    lastEntry: EXAMPLE.entry,
    fault: null,
    firstBadSeq: null,
    firstBadChain: null,
    unlawfulEntries: 0,
    redactedEntries: 0,
    unanchoredEntries: 1,
    unsignedEntries: 0,
    signedEntries: 3,
    anchoredEntries: 2,
    sealed: true,
  },
}
const { data: verified } = auditVerifyExample
export const auditVerifyLiveExample = {
  data: [
    ['progress', { checked: 0, of: 1 }],
    ['verified', verified],
  ]
    .map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    .join(''),
}
const logged = { invoice: '2026-0117', pages: 2 }
export const auditLogExample = {
  body: { eventType: 'invoice.read', data: logged, userId: 'joe' },
  data: {
    ...decision,
    eventType: 'invoice.read',
    data: logged,
    actor: { kind: 'key', id: EXAMPLE.key, identity: null, roles: ['agent'], claimedUserId: 'joe' },
  },
}

function statuses(): string {
  return Object.entries(RANGE_STATUSES)
    .map(([status, meaning]) => `\`${status}\`: ${meaning}.`)
    .join(' ')
}
