import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { exportRange } from '../../src/actions/audit/export-range.ts'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import type { Approval } from '../../src/approvals/approval.ts'
import { type EntryDraft, SERVICE } from '../../src/audit/draft.ts'
import { RULES, type RuleName } from '../../src/audit/replay/place.ts'
import type { Json } from '../../src/base/json.ts'
import { MANIFEST_FILE } from '../../src/evidence/export.ts'
import { verifyExport } from '../../src/evidence/verify-export.ts'
import { exportFolder, readExport } from '../../src/files/export-folder.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { change, creation } from '../../src/store/records.ts'
import { temporaryFolder } from '../helpers.ts'
import { aKey, anApproval, aStop, aTenant, commit, LIVE } from '../store/drafts.ts'
import { tamper } from '../store/used-folder.ts'
import { HOST } from './acting.ts'
import { type Forger, forger, TERMS } from './replay-forge.ts'
import { honestTrail, LATER_MS, type Opened, opened } from './replay-scene.ts'
import { snapshot } from './trail.ts'

const SYSTEM = '_system'
const honest = await honestTrail()
const { keys, approvals } = honest

interface Forgery {
  name: string
  rule: RuleName
  /** Done by the actions of the service, before. */
  first?(scene: Opened): Promise<unknown>
  entries(forged: Forger): EntryDraft[] | Promise<EntryDraft[]>
  /** Number of the entry that is named; the first by default. */
  at?: number
  chain?: string
}

const one =
  (make: (forged: Forger) => EntryDraft | Promise<EntryDraft>) =>
  async (forged: Forger): Promise<EntryDraft[]> => [await make(forged)]
const aDayLater = async ({ time }: Opened): Promise<void> => {
  time.ms += 24 * 3_600_000
}
const ghost = aKey({ id: 'key_ghost', roles: ['approver', 'owner', 'agent', 'operator'], identity: 'ghost' })
const voteBy = (id: string, keyId: string, changes = {}, told = {}) =>
  one((forged) => forged.vote(id, forged.keyOf(keyId), changes, told))
const created = (forged: Forger, by: string, key: Partial<Parameters<typeof aKey>[0]> = {}) =>
  forged.entry(
    'key.created',
    creation('key', aKey({ createdBy: by, createdAt: forged.now(), ...key })).data,
    forged.by(by),
  )
/** A decision that holds, and an approval with a digest of another request. */
const heldBy = (forged: Forger, changed = (approval: Approval): Approval => approval): EntryDraft[] => {
  const id = forged.newId('approval')
  const terms = { decision: 'require_approval', decidedBy: 'hold_rule', approvalId: id } as const
  const decided = forged.decision(keys.bot, 'payment.transfer', terms)
  const from = { decisionId: decided.decision.id, requestedBy: 'bot', requestedByKey: keys.bot, domain: 'finance' }
  const { data } = creation('approval', changed(anApproval({ id, ...from })))
  return [decided, forged.entry('approval.requested', data, forged.by(keys.bot))]
}
const stopOf = (forged: Forger, changes: Parameters<typeof aStop>[0] = {}) =>
  creation('switch', aStop({ triggeredAt: forged.now(), ...changes })).data
const typed = (type: string, chain = LIVE): EntryDraft => ({
  kind: 'event',
  id: `aud_${'0'.repeat(26)}`,
  chain,
  type,
  data: {},
  actor: SERVICE,
})

/** Each forgery is appended to the honest trail, hashed and linked as the service does. */
const FORGERIES: Forgery[] = [
  // Who acts.
  {
    name: 'an allow for a key that nobody made',
    rule: 'actor',
    entries: one((f) => f.decision('key_ghost', 'email.send', {}, { key: ghost })),
  },
  {
    name: 'an allow for an agent that the key is not',
    rule: 'actor',
    entries: one((f) => f.decision(keys.bot, 'email.send', {}, { key: f.keyOf(keys.other) })),
  },
  { name: 'an allow for a revoked key', rule: 'active', entries: one((f) => f.decision(keys.revoked, 'email.send')) },
  { name: 'an allow for an expired key', rule: 'active', entries: one((f) => f.decision(keys.expired, 'email.send')) },
  { name: 'an allow for an approver', rule: 'role', entries: one((f) => f.decision(keys.ann, 'email.send')) },
  {
    name: 'an allow for a key of the test world',
    rule: 'actor',
    entries: one((f) => f.decision(keys.tester, 'email.send')),
  },
  {
    name: 'an outcome told by an auditor',
    rule: 'role',
    entries: one((f) => f.entry('outcome.recorded', { reportedBy: keys.auditor }, f.by(keys.auditor))),
  },
  {
    name: 'an outcome told in the name of another agent',
    rule: 'actor',
    entries: one((f) => f.entry('outcome.recorded', { reportedBy: 'bot' }, f.by(keys.other))),
  },
  {
    name: 'a session of another key',
    rule: 'actor',
    entries: one((f) => f.entry('session.started', { keyId: keys.owner }, f.by(keys.bot))),
  },
  {
    name: 'an entry of a caller, by the host',
    rule: 'role',
    entries: one(() => ({ ...typed('custom.note'), actor: HOST }) as EntryDraft),
  },
  // What is allowed.
  {
    name: 'an allow by a rule that denies',
    rule: 'decision',
    entries: one((f) => f.decision(keys.bot, 'email.send', { decidedBy: 'deny_rule' })),
  },
  {
    name: 'an observed allow of something that policies cannot decide',
    rule: 'decision',
    entries: one((f) => f.decision(keys.bot, 'email.send', { decidedBy: 'deny_rule', observed: 'fine' })),
  },
  {
    name: 'an observed allow by a rule that denies, said to be allowed',
    rule: 'decision',
    entries: one((f) => f.decision(keys.bot, 'email.send', { decidedBy: 'deny_rule', observed: 'allow' })),
  },
  {
    name: 'an observed allow of what a stop denies',
    rule: 'decision',
    entries: one((f) => f.decision(keys.bot, 'email.send', { decidedBy: 'kill_switch', observed: 'deny' })),
  },
  {
    name: 'a denial of policies that are only observed',
    rule: 'decision',
    entries: one((f) =>
      f.decision(keys.bot, 'email.send', { decision: 'deny', decidedBy: 'deny_rule', observed: 'deny' }),
    ),
  },
  {
    name: 'an observed allow by policies that were loaded to be enforced',
    rule: 'decision',
    at: 1,
    entries: (f) => [
      f.entry('policy.loaded', { ...creation('policy', policy('acme')).data, mode: 'enforce' }, SERVICE),
      f.decision(keys.bot, 'email.send', { decidedBy: 'deny_rule', observed: 'deny', policyDigest: 'sha256:' }),
    ],
  },
  {
    name: 'an observed use of an approval that is unknown',
    rule: 'order',
    entries: one((f) =>
      f.decision(keys.bot, 'email.send', { decidedBy: 'approval', observed: 'allow', approvalId: 'apr_none' }),
    ),
  },
  {
    name: 'an allow that does not count as taken',
    rule: 'decision',
    entries: one((f) => f.decision(keys.bot, 'email.send', { taken: null })),
  },
  {
    name: 'an observed allow of a request that nobody could check, counted as taken',
    rule: 'decision',
    entries: one((f) => f.decision(keys.bot, 'email.send', { decidedBy: 'invalid_context', observed: 'deny' })),
  },
  {
    name: 'a denial that counts as taken',
    rule: 'decision',
    entries: one((f) => f.decision(keys.bot, 'email.send', { decision: 'deny', taken: 'email.send' })),
  },
  {
    name: 'an allow under a stop of its action',
    rule: 'stopped',
    first: (scene) => scene.stop(keys.operator, { level: 'L1', scope: 'email.*' }),
    entries: one((f) => f.decision(keys.bot, 'email.send')),
  },
  {
    name: 'an allow under a stop of its domain, of which the pattern says nothing',
    rule: 'stopped',
    first: (scene) => scene.stop(keys.operator, { level: 'L2', scope: 'communication' }),
    entries: one((f) => f.decision(keys.bot, 'letter.send', { domain: 'communication' })),
  },
  {
    name: 'an allow under a stop of the tenant',
    rule: 'stopped',
    first: (scene) => scene.stop(keys.operator, { level: 'L3' }),
    entries: one((f) => f.decision(keys.bot, 'email.send')),
  },
  {
    name: 'an allow under a stop of every tenant, which another chain records',
    rule: 'stopped',
    first: (scene) => scene.stop(keys.admin, { level: 'L4' }),
    entries: one((f) => f.decision(keys.bot, 'email.send')),
  },
  // Approvals.
  { name: 'a vote by a key that nobody made', rule: 'actor', entries: one((f) => f.vote(approvals.pending, ghost)) },
  { name: 'a vote by a revoked key', rule: 'active', entries: voteBy(approvals.pending, keys.revoked) },
  { name: 'a vote by an expired key', rule: 'active', entries: voteBy(approvals.pending, keys.expired) },
  { name: 'a vote by an auditor', rule: 'role', entries: voteBy(approvals.pending, keys.auditor) },
  { name: 'a vote of the requester', rule: 'vote', entries: voteBy(approvals.own, keys.both) },
  { name: 'a vote without the group', rule: 'vote', entries: voteBy(approvals.group, keys.ann) },
  {
    name: 'a vote as somebody else',
    rule: 'vote',
    entries: voteBy(approvals.pending, keys.ann, {}, { principal: 'bob' }),
  },
  {
    name: 'a vote for somebody else',
    rule: 'vote',
    entries: voteBy(approvals.pending, keys.ann, {}, { approverId: 'bob' }),
  },
  {
    name: 'a vote in the name of another key',
    rule: 'vote',
    entries: voteBy(approvals.pending, keys.ann, {}, { keyId: keys.bob }),
  },
  {
    name: 'a vote that another entry records',
    rule: 'vote',
    entries: voteBy(approvals.pending, keys.ann, {}, { entryId: 'aud_1' }),
  },
  {
    name: 'a vote that leaves out those before',
    rule: 'vote',
    entries: one(async (f) => {
      const vote = await f.vote(approvals.pair, f.keyOf(keys.bob))
      const data = structuredClone('data' in vote ? vote.data : null) as { changes: { votes: Json[] } }
      data.changes.votes.shift()
      return { ...vote, data } as EntryDraft
    }),
  },
  { name: 'an approval with one vote of two', rule: 'quorum', entries: voteBy(approvals.pair, keys.ann) },
  { name: 'a vote for what was rejected', rule: 'record', entries: voteBy(approvals.rejected, keys.bob) },
  { name: 'a vote for what was approved', rule: 'state', entries: voteBy(approvals.approved, keys.bob) },
  {
    name: 'a vote that rejects and says it approves',
    rule: 'form',
    entries: voteBy(approvals.pending, keys.ann, { status: 'rejected' }),
  },
  {
    name: 'an approval from a place to come',
    rule: 'order',
    entries: voteBy(approvals.pending, keys.ann, { decidedEnd: 1_000_000 }),
  },
  { name: 'a vote that changes the quorum', rule: 'form', entries: voteBy(approvals.pair, keys.bob, { quorum: 1 }) },
  {
    name: 'a vote after the deadline',
    rule: 'state',
    first: aDayLater,
    entries: voteBy(approvals.pending, keys.ann),
  },
  {
    name: 'a vote under a stop',
    rule: 'stopped',
    first: (scene) => scene.stop(keys.operator, { level: 'L3' }),
    entries: voteBy(approvals.pending, keys.ann),
  },
  {
    name: 'a rejection by an agent',
    rule: 'role',
    entries: voteBy(approvals.pending, keys.bot, { status: 'rejected' }, { type: 'approval.rejected' }),
  },
  {
    name: 'a rejection of what was used',
    rule: 'record',
    entries: voteBy(approvals.consumed, keys.bob, { status: 'rejected' }, { type: 'approval.rejected' }),
  },
  {
    name: 'an expiry before its time',
    rule: 'state',
    entries: one((f) => f.changed('approval.expired', approvals.pending, { status: 'expired' }, SERVICE)),
  },
  {
    name: 'an expiry by a key',
    rule: 'role',
    entries: one((f) => f.changed('approval.expired', approvals.pending, { status: 'expired' }, f.by(keys.owner))),
  },
  {
    name: 'an expiry that approves',
    rule: 'form',
    entries: one((f) => f.changed('approval.expired', approvals.pending, { status: 'approved' }, SERVICE)),
  },
  {
    name: 'a cancellation without a stop',
    rule: 'state',
    entries: one((f) => f.changed('approval.cancelled', approvals.approved, { status: 'cancelled' }, SERVICE)),
  },
  {
    name: 'a cancellation by another agent',
    rule: 'role',
    entries: one((f) =>
      f.changed('approval.cancelled', approvals.pending, { status: 'cancelled', decidedAt: f.now() }, f.by(keys.other)),
    ),
  },
  {
    name: 'a cancellation of what was used',
    rule: 'record',
    entries: one((f) => f.changed('approval.cancelled', approvals.consumed, { status: 'cancelled' }, SERVICE)),
  },
  // Uses.
  {
    name: 'a use of what is pending',
    rule: 'state',
    entries: (f) => f.use(approvals.pending, keys.bot, { amount: 1 }),
  },
  {
    name: 'a use of what was rejected',
    rule: 'state',
    entries: (f) => f.use(approvals.rejected, keys.bot, { amount: 3 }),
  },
  { name: 'a second use', rule: 'state', entries: (f) => f.use(approvals.consumed, keys.bot, { amount: 4 }) },
  {
    name: 'a use after a stop came over it',
    rule: 'state',
    entries: (f) =>
      f.use(approvals.stopped, keys.bot, { amount: 9, action: 'payment.refund', terms: { ...TERMS, quorum: 2 } }),
  },
  {
    name: 'a use after the deadline',
    rule: 'state',
    first: aDayLater,
    entries: (f) => f.use(approvals.approved, keys.bot),
  },
  {
    name: 'a use for another request',
    rule: 'bound',
    entries: (f) => f.use(approvals.approved, keys.bot, { amount: 200 }),
  },
  {
    name: 'a use for another action',
    rule: 'bound',
    entries: (f) => f.use(approvals.approved, keys.bot, { action: 'payment.refund' }),
  },
  { name: 'a use by another agent', rule: 'bound', entries: (f) => f.use(approvals.approved, keys.other) },
  {
    name: 'a use of an approval that there is not',
    rule: 'order',
    entries: async (f) =>
      (await f.use(approvals.approved, keys.bot)).map((entry) =>
        'grounds' in entry ? { ...entry, grounds: { ...entry.grounds, approvalId: 'apr_1' } } : entry,
      ),
  },
  {
    name: 'a use that leaves the approval open',
    rule: 'order',
    entries: async (f) => (await f.use(approvals.approved, keys.bot)).slice(0, 1),
  },
  {
    name: 'a use that no decision makes',
    rule: 'order',
    entries: one((f) => f.consumed(approvals.approved, keys.bot, 'dec_1')),
  },
  {
    name: 'a use whose vote is by a key revoked since',
    rule: 'quorum',
    at: 1,
    entries: (f) => f.use(approvals.byRevoked, keys.bot, { amount: 8 }),
  },
  {
    name: 'a use without the votes that the policy asked for',
    rule: 'quorum',
    at: 1,
    entries: (f) => f.use(approvals.approved, keys.bot, { terms: { ...TERMS, quorum: 2 } }),
  },
  {
    name: 'a use by terms that ask for no vote',
    rule: 'quorum',
    at: 1,
    entries: (f) => f.use(approvals.approved, keys.bot, { terms: { ...TERMS, quorum: 0 } }),
  },
  {
    name: 'a use that does not say its terms',
    rule: 'form',
    at: 1,
    entries: (f) => f.use(approvals.approved, keys.bot, { terms: {} }),
  },
  {
    name: 'an approval that nothing was held for',
    rule: 'order',
    at: 1,
    entries: (f) => [
      f.entry('auth.refused', {}, SERVICE),
      f.entry('approval.requested', creation('approval', anApproval()).data, f.by(keys.bot)),
    ],
  },
  {
    name: 'an approval of another request than was held',
    rule: 'bound',
    at: 1,
    entries: (f) => heldBy(f),
  },
  {
    name: 'an approval of an earlier version, whose form is lawful, of another request than was held',
    rule: 'bound',
    at: 1,
    entries: (f) => heldBy(f, ({ requestedEnd: _, ...older }) => older as Approval),
  },
  {
    name: 'an approval that was requested at a later place',
    rule: 'order',
    at: 1,
    entries: (f) => heldBy(f, (approval) => ({ ...approval, requestedEnd: 1_000_000 })),
  },
  // Keys.
  { name: 'a key made by an agent', rule: 'role', entries: one((f) => created(f, keys.bot)) },
  { name: 'a key made by a revoked owner', rule: 'active', entries: one((f) => created(f, keys.revoked)) },
  { name: 'a live key made by a test key', rule: 'actor', entries: one((f) => created(f, keys.tester)) },
  {
    name: 'a key that names another maker',
    rule: 'form',
    entries: one((f) => f.entry('key.created', creation('key', aKey({ createdBy: keys.owner })).data, HOST)),
  },
  { name: 'a key made twice', rule: 'record', entries: one((f) => created(f, keys.owner, { id: keys.bot })) },
  {
    name: 'a key with the name of a key',
    rule: 'form',
    entries: one((f) => created(f, keys.owner, { identity: keys.bot })),
  },
  {
    name: 'a key that an attacker says was rotated',
    rule: 'order',
    entries: one((f) => created(f, keys.owner, { rotatedFrom: keys.bot })),
  },
  {
    name: 'an admin key made over HTTP',
    rule: 'role',
    chain: SYSTEM,
    entries: one((f) =>
      f.entry(
        'key.created',
        creation('key', aKey({ tenantId: null, roles: ['admin'], createdBy: keys.admin })).data,
        f.by(keys.admin),
        SYSTEM,
      ),
    ),
  },
  {
    name: 'an admin key in the chain of a tenant',
    rule: 'type',
    entries: one((f) =>
      f.entry(
        'key.created',
        creation('key', aKey({ tenantId: null, roles: ['admin'], createdBy: HOST.id })).data,
        HOST,
      ),
    ),
  },
  {
    name: 'a revocation by an agent',
    rule: 'role',
    entries: one((f) =>
      f.entry('key.revoked', change('key', f.keyOf(keys.ann), { revokedAt: f.now() }).data, f.by(keys.bot)),
    ),
  },
  {
    name: 'a revoked key that comes back',
    rule: 'record',
    entries: one((f) => f.entry('key.revoked', change('key', f.keyOf(keys.revoked), { revokedAt: null }).data, HOST)),
  },
  {
    name: 'a revocation that adds a role',
    rule: 'form',
    entries: one((f) =>
      f.entry('key.revoked', change('key', f.keyOf(keys.bot), { revokedAt: f.now(), roles: ['owner'] }).data, HOST),
    ),
  },
  {
    name: 'a rotation without a successor',
    rule: 'order',
    entries: one((f) =>
      f.entry('key.rotated', change('key', f.keyOf(keys.bot), { expiresAt: f.now(), replacedBy: 'key_1' }).data, HOST),
    ),
  },
  {
    name: 'a rotation that gives the successor another role',
    rule: 'record',
    at: 1,
    entries(f) {
      const old = f.keyOf(keys.bot)
      const next = { ...old, id: f.newId('key'), roles: ['owner' as const], rotatedFrom: old.id, createdAt: f.now() }
      return [
        f.entry('key.rotated', change('key', old, { expiresAt: f.now(), replacedBy: next.id }).data, HOST),
        f.entry('key.created', creation('key', next).data, HOST),
      ]
    },
  },
  {
    name: 'a rotation that prolongs a key',
    rule: 'record',
    entries: one((f) =>
      f.entry(
        'key.rotated',
        change('key', f.keyOf(keys.expired), { expiresAt: '2030-01-01T00:00:00.000Z', replacedBy: 'key_1' }).data,
        HOST,
      ),
    ),
  },
  // Stops, tenants, policies, signing keys.
  {
    name: 'a stop by an agent',
    rule: 'role',
    entries: one((f) => f.entry('killswitch.triggered', stopOf(f), f.by(keys.bot))),
  },
  {
    name: 'a stop of another tenant',
    rule: 'type',
    entries: one((f) => f.entry('killswitch.triggered', stopOf(f, { target: 'other/live' }), HOST)),
  },
  {
    name: 'a stop of every tenant by an operator',
    rule: 'actor',
    chain: SYSTEM,
    entries: one((f) =>
      f.entry(
        'killswitch.triggered',
        stopOf(f, { level: 'L4', target: 'global', scope: 'global' }),
        f.by(keys.operator),
        SYSTEM,
      ),
    ),
  },
  {
    name: 'an end of a stop by an agent',
    rule: 'role',
    first: (scene) => scene.stop(keys.operator, { level: 'L3' }),
    entries: one((f) => f.entry('killswitch.recovered', recovery(f, f.stops()[0]), f.by(keys.bot))),
  },
  {
    name: 'an end of a stop by a revoked operator',
    rule: 'active',
    first: (scene) => scene.stop(keys.operator, { level: 'L3' }),
    entries: one((f) => f.entry('killswitch.recovered', recovery(f, f.stops()[0]), f.by(keys.revoked))),
  },
  {
    name: 'an end of what was ended',
    rule: 'stopped',
    entries: one((f) => f.entry('killswitch.recovered', recovery(f, f.ended()[0]), HOST)),
  },
  {
    name: 'a stop that comes back to life',
    rule: 'stopped',
    entries: one((f) =>
      f.entry('killswitch.triggered', change('switch', f.ended()[0] ?? assert.fail(), {}).data, HOST),
    ),
  },
  {
    name: 'a tenant made by a key',
    rule: 'role',
    chain: SYSTEM,
    entries: one((f) =>
      f.entry('tenant.created', creation('tenant', aTenant({ id: 'mine' })).data, f.by(keys.admin), SYSTEM),
    ),
  },
  {
    name: 'a tenant made twice',
    rule: 'record',
    chain: SYSTEM,
    entries: one((f) => f.entry('tenant.created', creation('tenant', aTenant()).data, HOST, SYSTEM)),
  },
  {
    name: 'policies loaded by an agent',
    rule: 'role',
    entries: one((f) => f.entry('policy.loaded', creation('policy', policy('acme')).data, f.by(keys.bot))),
  },
  {
    name: 'policies of another tenant',
    rule: 'type',
    entries: one((f) => f.entry('policy.loaded', creation('policy', policy('other')).data, SERVICE)),
  },
  {
    name: 'an erasure by a key',
    rule: 'role',
    entries: one((f) => f.entry('audit.redaction', { targets: [] }, f.by(keys.owner))),
  },
  { name: 'a pruning by a key', rule: 'role', entries: one((f) => f.entry('audit.prune', {}, f.by(keys.owner))) },
  // Types and places.
  { name: 'a type that the service has not', rule: 'type', entries: one(() => typed('approval.granted')) },
  { name: 'a second beginning', rule: 'type', entries: one(() => typed('audit.genesis')) },
  { name: 'a checkpoint in the chain of a tenant', rule: 'type', entries: one(() => typed('audit.checkpoint')) },
  {
    name: 'a note of a caller in the chain of the service',
    rule: 'type',
    chain: SYSTEM,
    entries: one(() => typed('custom.note', SYSTEM)),
  },
  {
    name: 'a record by an entry of another type',
    rule: 'type',
    entries: one((f) => f.entry('policy.loaded', creation('key', aKey()).data, SERVICE)),
  },
  {
    name: 'a change of nothing',
    rule: 'form',
    entries: one((f) => f.entry('killswitch.triggered', { record: 'switch' }, HOST)),
  },
  {
    name: 'an actor that there is not',
    rule: 'form',
    entries: one((f) => f.entry('audit.redaction', {}, { kind: 'root', id: '0' } as never)),
  },
]

const policy = (id: string) => ({ id, revision: 1, digest: 'sha256:', loadedAt: '2026-01-01T00:00:00.000Z' })
const recovery = (forged: Forger, stop: ReturnType<typeof aStop> = assert.fail()) =>
  change('switch', stop, { recoveredAt: forged.now(), recoveredBy: 'ann', comment: 'over' }).data

test('what the actions of the service write is lawful', async () => {
  const scene = await opened(await snapshot(honest.dir), LATER_MS)
  for (const chain of [SYSTEM, LIVE]) {
    const { status, fault } = await verifySeqs(scene.trail.store, chain, undefined)
    assert.deepEqual([chain, status, fault], [chain, 'unanchored', null])
  }
  await scene.trail.close()
})

for (const { name, rule, first, entries, at = 0, chain = LIVE } of FORGERIES) {
  test(`${rule}: ${name}`, async () => {
    const scene = await opened(await snapshot(honest.dir), LATER_MS + 1000)
    const { store } = scene.trail
    await first?.(scene)
    const length = await lengthOf(store, chain)
    await commit(store, { guards: [], writes: [], entries: await entries(forger(scene)) })
    const { valid, status, firstBadSeq, fault } = await verifySeqs(store, chain, undefined)
    assert.deepEqual(
      { valid, status, firstBadSeq, rule: /\(rule (\w+)\)/.exec(fault ?? '')?.[1] },
      { valid: false, status: 'unlawful', firstBadSeq: length + at, rule },
      fault ?? '',
    )
    await scene.trail.close()
  })
}

test('every rule has a forgery that breaks it', () => {
  const broken = new Set(FORGERIES.map(({ rule }) => rule))
  assert.deepEqual(
    (Object.keys(RULES) as RuleName[]).filter((rule) => !broken.has(rule)),
    [],
  )
})

/** Appends a ghost's vote and the allow that came of it, and a note after both. */
async function ghostApproved(scene: Opened): Promise<number> {
  const { store } = scene.trail
  const forged = forger(scene)
  const length = await lengthOf(store, LIVE)
  const vote = await forged.vote(approvals.pending, ghost)
  const used = await forged.use(approvals.pending, keys.bot, { amount: 1 })
  const [decided, use] = used as [EntryDraft, EntryDraft]
  const data = structuredClone('data' in use ? use.data : null) as { changes: { revision: number } }
  data.changes.revision = 3
  const note = forged.entry('auth.refused', {}, SERVICE)
  await commit(store, { guards: [], writes: [], entries: [vote, decided, { ...use, data } as EntryDraft, note] })
  return length
}

test('a ghost approver is found twice: where it voted, and where its vote was used', async () => {
  const scene = await opened(await snapshot(honest.dir), LATER_MS)
  const first = await ghostApproved(scene)
  const whole = await verifySeqs(scene.trail.store, LIVE, undefined)
  assert.deepEqual([whole.status, whole.firstBadSeq, whole.unlawfulEntries], ['unlawful', first, 2])
  assert.match(whole.fault ?? '', /^key key_ghost had not been made \(rule actor\); 1 more break rules$/)
  const use = await verifySeqs(scene.trail.store, LIVE, { first: first + 1, end: first + 3 })
  assert.deepEqual([use.firstBadSeq, /rule (\w+)/.exec(use.fault ?? '')?.[1]], [first + 2, 'quorum'])
  const after = await verifySeqs(scene.trail.store, LIVE, { first: first + 3, end: first + 4 })
  assert.deepEqual([after.valid, after.unlawfulEntries], [true, 0])
  const bare = await verifySeqs(scene.trail.store, LIVE, undefined, { sections: false })
  assert.deepEqual([bare.valid, bare.unlawfulEntries], [true, 0], 'without contents nothing is judged')
  await scene.trail.close()
})

test('what was altered later is told before what broke a rule, which hides nothing', async () => {
  const scene = await opened(await snapshot(honest.dir), LATER_MS)
  const first = await ghostApproved(scene)
  await scene.trail.close()
  const { dir } = scene
  tamper(dir, (db) => db.prepare("UPDATE section SET json = '{}' WHERE chain = ? AND seq = ?").run(LIVE, first + 3))
  const again = await opened(dir, LATER_MS)
  const { status, firstBadSeq, unlawfulEntries } = await verifySeqs(again.trail.store, LIVE, undefined)
  assert.deepEqual([status, firstBadSeq, unlawfulEntries], ['tampered', first + 3, 2])
  await again.trail.close()
})

test('an export says what breaks a rule beside its checks, and what it cannot judge', async () => {
  const scene = await opened(await snapshot(honest.dir), LATER_MS)
  const first = await ghostApproved(scene)
  const { trail } = scene
  const exported = async (from: number) => {
    const out = join(temporaryFolder(), 'range')
    const folder = exportFolder(out)
    const manifest = await exportRange(trail, LIVE, { first: from, end: first + 3 }, folder)
    folder.writeText(MANIFEST_FILE, JSON.stringify(manifest))
    return verifyExport(readExport(out), { trust: trustOf(trail.store), nowMs: LATER_MS })
  }
  const whole = await exported(0)
  assert.deepEqual([whole.verdict, whole.rules?.unlawfulEntries, whole.rules?.first?.rule], ['valid', 1, 'actor'])
  // Whether the ghost's vote counts is not judged: an admin key would be in another chain.
  assert.equal(whole.rules?.unjudged, 1)
  const part = await exported(first - 1)
  assert.deepEqual([part.verdict, part.rules?.unlawfulEntries, (part.rules?.unjudged ?? 0) > 0], ['valid', 0, true])
  await trail.close()
})
