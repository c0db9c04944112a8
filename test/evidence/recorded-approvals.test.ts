import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { archive, notOk } from './bundles.ts'
import { keysAs, withApproval } from './forge.ts'

const { approved, bundleOf, verify, resign, logKey } = await archive()
const two = await bundleOf(await approved('payment.refund', 3))

type Changes = Parameters<typeof withApproval>[1]
const inRequest =
  (changed: JsonObject): Changes =>
  (changes, i) =>
    i === 0 ? { ...changes, ...changed } : changes
const inLastVote =
  (changed: (votes: JsonObject[]) => JsonObject): Changes =>
  (changes, i) =>
    i === 2 ? { ...changes, ...changed(changes.votes as JsonObject[]) } : changes
const ONE_PERSON = inLastVote(([first = {}, second]) => ({
  votes: [first, { ...second, principal: first.principal ?? null }],
}))

/** Approvals that a service would sign if it recorded something else itself, each with the reason against it. */
const RECORDED: [name: string, change: Changes, why: RegExp | undefined][] = [
  ['as it was', (changes) => changes, undefined],
  ['both votes by one person', ONE_PERSON, /1 of 2 votes count/],
  ['a quorum of three', inRequest({ quorum: 3 }), /2 of 3 votes count/],
  ['a quorum of none', inRequest({ quorum: 0 }), /no votes/],
  ['a vote by nobody', inLastVote(([first = {}]) => ({ votes: [first, { principal: null }] })), /by nobody/],
  ['no votes', inLastVote(() => ({ votes: null })), /no votes/],
  ['a rejection', inLastVote(() => ({ status: 'rejected' })), /not approved/],
  ['another digest', inRequest({ digest: `sha256:${'0'.repeat(64)}` }), /another request/],
  ['a member left out that was not', inRequest({ unbound: ['context.amount'] }), /another request/],
  ['the whole context left out', inRequest({ unbound: ['context'] }), /cannot be determined/],
]
for (const [name, change, why] of RECORDED) {
  test(`even with both private keys, an approval that says of itself: ${name}`, () => {
    const result = verify(resign(withApproval(two, change, logKey)))
    assert.deepEqual(notOk(result), why === undefined ? {} : { approval: 'failed' })
    assert.match(result.reasons.join(), why ?? /^$/)
  })
}

test('even without the keys of its voters, an approval has votes of as many persons as it needs', () => {
  for (const [change, why] of [
    [(changes: JsonObject) => changes, /^$/],
    [ONE_PERSON, /fewer votes/],
  ] as const) {
    const { proof, ...bundle } = withApproval(two, change, logKey, () => [])
    const result = verify(resign({ ...bundle, proof: { ...proof, beside: [], redacted: ['keys'] } }))
    assert.match(result.reasons.join(), why)
  }
})

type Keys = Bundle['proof']['keys']
const idOf = ({ data }: Keys[number]): Json => (data.changes as JsonObject).identity ?? null
/** Changes the key of this person, or of the requester, who has no identity. */
const ofKey = (identity: string | null, changed: JsonObject) => (keys: Keys) =>
  keysAs((changes) => (changes.identity === identity ? { ...changes, ...changed } : changes))(keys)
const requester = two.proof.keys.find((entry) => idOf(entry) === null)?.data.id ?? assert.fail()
const keyOf = (identity: string): Json => two.proof.keys.find((entry) => idOf(entry) === identity)?.data.id ?? null

/** A place after the decision, where nothing else is shown. */
const later = (two.proof.entries.at(-1)?.seq ?? 0) + 1

/** Keys that a service would sign if it had made others, each with the reason against them. */
const KEYS: [name: string, keys: (keys: Keys) => Keys, why: RegExp | undefined][] = [
  ['as they were', (keys) => keys, undefined],
  ['none', () => [], /is not shown/],
  ['no key of a voter', (keys) => keys.filter((entry) => idOf(entry) !== 'ann'), /is not shown/],
  ['no key of the requester', (keys) => keys.filter((entry) => idOf(entry) !== null), /is not shown/],
  ['one of them twice', (keys) => [...keys, ...keys.slice(0, 1)], /makes no key, or again/],
  ['a voter who is no approver', ofKey('ann', { roles: ['agent', 'auditor'] }), /1 of 2 votes count/],
  ['a voter who is an approver', ofKey('ann', { roles: ['approver'] }), undefined],
  ['a voter with another identity', ofKey('ann', { identity: 'eve' }), /1 of 2 votes count/],
  ['a voter whose key had expired', ofKey('ann', { expiresAt: '2026-01-01T00:00:00.000Z' }), /1 of 2 votes count/],
  ['a voter whom the requester made', ofKey('ann', { createdBy: requester }), /1 of 2 votes count/],
  ['a voter whose key the requester rotated', ofKey('ann', { rotatedBy: requester }), /1 of 2 votes count/],
  ['a voter whom the other one made', ofKey('ann', { createdBy: keyOf('bob') }), /1 of 2 votes count/],
  ['a voter whom a key made that is not shown', ofKey('ann', { createdBy: 'key_other' }), /key_other is not shown/],
  [
    'a voter of the line of the requester',
    ofKey('ann', { identity: null, rotatedFrom: requester }),
    /1 of 2 votes count/,
  ],
  ['a key that is revoked as it is made', ofKey('bob', { revokedAt: '2026-01-01T00:00:00.000Z' }), /makes no key/],
  ['a key under another id', ofKey('bob', { id: 'key_other' }), /makes no key/],
  ['roles that are no list', ofKey('bob', { roles: 'owner' }), /makes no key/],
  [
    'a key that was made after its vote',
    (keys) =>
      keys.map((entry) => (idOf(entry) === 'ann' ? { ...entry, header: { ...entry.header, seq: later } } : entry)),
    /1 of 2 votes count/,
  ],
]
for (const [name, keys, why] of KEYS) {
  test(`even with both private keys, keys behind an approval: ${name}`, () => {
    const result = verify(resign(withApproval(two, (changes) => changes, logKey, keys)))
    assert.deepEqual(notOk(result), why === undefined ? {} : { approval: 'failed' })
    assert.match(result.reasons.join(), why ?? /^$/)
  })
}

/** What the requester's policies asked for, and who asked, by the same keys. */
const ASKED: [name: string, change: Changes, why: RegExp | undefined][] = [
  ['a group that no voter has', inRequest({ approvers: [['treasury']] }), /0 of 2 votes count/],
  ['no group', inRequest({ approvers: [] }), undefined],
  ['a requester who is one of the voters', inRequest({ requestedBy: 'ann' }), /another requester/],
  ['a requesting key that is not shown', inRequest({ requestedByKey: 'key_other' }), /key_other is not shown/],
  ['a voter as the requesting key', inRequest({ requestedByKey: keyOf('ann') }), /nothing to do/],
  ['votes of other entries', inLastVote((votes) => ({ votes: votes.toReversed() })), /by nobody/],
]
for (const [name, change, why] of ASKED) {
  test(`even with both private keys, votes of the same keys for what has: ${name}`, () => {
    const result = verify(resign(withApproval(two, change, logKey)))
    assert.deepEqual(notOk(result), why === undefined ? {} : { approval: 'failed' })
    assert.match(result.reasons.join(), why ?? /^$/)
  })
}
