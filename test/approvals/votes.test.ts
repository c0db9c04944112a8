import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Approval } from '../../src/approvals/approval.ts'
import { assertMayVote, countedVotes, type VotingTerms } from '../../src/approvals/votes.ts'
import type { ApiKey } from '../../src/keys/apikey.ts'
import { T0 } from '../killswitch/stops.ts'
import { approvalOf, keyOf, keysOf, voteBy } from './records.ts'

const AGENT = keyOf('agent', { roles: ['agent'] })
const ANN = keyOf('ann-key', { identity: 'ann' })
const BOB = keyOf('bob-key')
const OPEN = { selfApproval: true }
const ANN_VOTED = { votes: [voteBy('ann-key', 'ann')] }

const chain = (id: string, createdBy: string): ApiKey => keyOf(id, { createdBy })

const MAY_VOTE: [
  name: string,
  voter: ApiKey,
  approverId: string,
  approval: Partial<Approval>,
  refused: string | undefined,
][] = [
  ['another person', BOB, 'whoever', {}, undefined],
  ['an identity by its own name', ANN, 'ann', {}, undefined],
  ['an identity by another name', ANN, 'bob', {}, 'approver_mismatch'],
  ['an identity in another case', ANN, 'Ann', {}, 'approver_mismatch'],
  ['who asked', AGENT, 'agent', {}, 'self_approval'],
  ['who asked, allowed', AGENT, 'agent', OPEN, undefined],
  ['another key of who asked', keyOf('k', { identity: 'agent' }), 'agent', {}, 'self_approval'],
  ['a key that the asking key made', chain('k', 'agent'), 'x', {}, 'self_approval'],
  ['a key that a key of the asking key made', chain('grandchild', 'child'), 'x', {}, 'self_approval'],
  ['a key that the asking key made, allowed', chain('k', 'agent'), 'x', OPEN, undefined],
  ['a key outside the groups', BOB, 'bob', { approvers: [['treasury']] }, 'forbidden'],
  ['a key in the group', keyOf('k', { groups: ['x', 'treasury'] }), 'k', { approvers: [['treasury']] }, undefined],
  ['a key in one of the groups', keyOf('k', { groups: ['b'] }), 'k', { approvers: [['a', 'b']] }, undefined],
  ['a key in one of two lists', keyOf('k', { groups: ['b'] }), 'k', { approvers: [['a'], ['b']] }, 'forbidden'],
  ['a key made by a voter', chain('k', 'ann-key'), 'x', ANN_VOTED, 'forbidden'],
  ['a key made by a voter, with self-approval', chain('k', 'ann-key'), 'x', { ...ANN_VOTED, ...OPEN }, 'forbidden'],
]

// Lines of rotated keys: agent → agent-2 → agent-3, ann-key → ann-key-2, child (which agent made) → child-2.
const rotated = (id: string, rotatedFrom: string, more: Partial<ApiKey> = {}): ApiKey =>
  keyOf(id, { rotatedFrom, ...more })
const LINES = [
  rotated('agent-2', 'agent'),
  rotated('agent-3', 'agent'),
  rotated('ann-key-2', 'ann-key', { identity: 'ann' }),
  rotated('child-2', 'child', { createdBy: 'agent' }),
  rotated('taken-2', 'taken', { rotatedBy: 'agent' }),
]
const BY_AGENT_2 = { requestedByKey: 'agent-2' }
const ANN_VOTED_2 = { votes: [voteBy('ann-key-2', 'ann')] }
const ROTATED: typeof MAY_VOTE = [
  ['what replaced the asking key', rotated('agent-2', 'agent'), 'x', {}, 'self_approval'],
  ['what replaced what replaced the asking key', rotated('agent-3', 'agent'), 'x', {}, 'self_approval'],
  ['the key that the asking key replaced', AGENT, 'x', BY_AGENT_2, 'self_approval'],
  [
    'another successor of the key that the asking key replaced',
    rotated('agent-3', 'agent'),
    'x',
    BY_AGENT_2,
    'self_approval',
  ],
  ['a key that the old key made, when the new one asked', chain('k', 'agent'), 'x', BY_AGENT_2, 'self_approval'],
  ['a key that the new key made, when the old one asked', chain('k', 'agent-2'), 'x', {}, 'self_approval'],
  [
    'a rotated key that the asking key made',
    rotated('child-2', 'child', { createdBy: 'agent' }),
    'x',
    {},
    'self_approval',
  ],
  ['a key that such a rotated key made', chain('k', 'child-2'), 'x', BY_AGENT_2, 'self_approval'],
  ['a key made by what replaced the key of a voter', chain('k', 'ann-key-2'), 'x', ANN_VOTED, 'forbidden'],
  ['a key made by what the key of a voter replaced', chain('k', 'ann-key'), 'x', ANN_VOTED_2, 'forbidden'],
  ['a key whose secret the asking key had made', rotated('x-2', 'x', { rotatedBy: 'agent' }), 'x', {}, 'self_approval'],
  [
    'a key whose secret was made by a key that the asking key made',
    rotated('x-2', 'x', { rotatedBy: 'child' }),
    'x',
    {},
    'self_approval',
  ],
  ['a key made by one whose secret the asking key had made', chain('k', 'taken-2'), 'x', {}, 'self_approval'],
  [
    'a key whose secret was made by one whose secret the asking key had made',
    rotated('x-2', 'x', { rotatedBy: 'taken-2' }),
    'x',
    BY_AGENT_2,
    'self_approval',
  ],
  [
    "a key that the asking key made, whose secret another's key had made",
    rotated('x-2', 'x', { createdBy: 'agent', rotatedBy: 'bob-key' }),
    'x',
    {},
    'self_approval',
  ],
  ['a key whose secret a voter had made', rotated('x-2', 'x', { rotatedBy: 'ann-key' }), 'x', ANN_VOTED, 'forbidden'],
  ["a key whose secret another's key had made", rotated('x-2', 'x', { rotatedBy: 'bob-key' }), 'x', {}, undefined],
  ['a rotated key of another person', rotated('bob-key-2', 'bob-key'), 'x', {}, undefined],
]

for (const [name, voter, approverId, approval, refused] of [...MAY_VOTE, ...ROTATED]) {
  test(`${name} ${refused === undefined ? 'may vote' : `is refused: ${refused}`}`, () => {
    const keys = keysOf(AGENT, ANN, BOB, chain('child', 'agent'), ...LINES, voter)
    const cast = (): void => assertMayVote(approvalOf(approval), voter, approverId, keys)
    if (refused === undefined) cast()
    else assert.throws(cast, { name: 'GateError', code: refused })
  })
}

const ANN_2 = keyOf('ann-key-2', { identity: 'ann' })
const TERMS: VotingTerms = { quorum: 1, selfApproval: false, approvers: [] }

const COUNTED: [name: string, voters: ApiKey[], terms: Partial<VotingTerms>, counted: string[]][] = [
  ['nobody', [], {}, []],
  ['two people', [ANN, BOB], {}, ['ann', 'bob-key']],
  ['one person with two keys once', [ANN, ANN_2], {}, ['ann']],
  ['a revoked key not', [ANN, { ...BOB, revokedAt: new Date(T0).toISOString() }], {}, ['ann']],
  ['an expired key not', [ANN, { ...BOB, expiresAt: new Date(T0).toISOString() }], {}, ['ann']],
  ["the asker's other key not", [ANN, keyOf('k', { identity: 'agent' })], {}, ['ann']],
  ["the asker's made key not", [ANN, chain('k', 'agent')], {}, ['ann']],
  ['the asker, when allowed', [ANN, AGENT], OPEN, ['agent', 'ann']],
  ['a key and what replaced it once', [BOB, rotated('bob-key-2', 'bob-key')], {}, ['bob-key']],
  ['what replaced the asking key not', [ANN, rotated('agent-2', 'agent')], {}, ['ann']],
  ["a key made by what replaced a voter's key not", [ANN, chain('k', 'ann-key-2')], {}, ['ann']],
  ['a key whose secret a voter had made not', [rotated('x-2', 'x', { rotatedBy: 'ann-key' }), ANN], {}, ['ann']],
  ['a key that a voter made not', [ANN, chain('k', 'ann-key')], {}, ['ann']],
  ['a key that a voter made not, whoever voted first', [chain('k', 'ann-key'), ANN], {}, ['ann']],
  ['a key of a key that a voter made not', [chain('k2', 'child-of-ann'), ANN], {}, ['ann']],
  [
    'who is no longer in the group not',
    [ANN, keyOf('t', { groups: ['treasury'] })],
    { approvers: [['treasury']] },
    ['t'],
  ],
]

for (const [name, voters, terms, counted] of COUNTED) {
  test(`counts ${name}`, () => {
    const keys = keysOf(AGENT, chain('child-of-ann', 'ann-key'), ...LINES, ...voters)
    const approval = approvalOf({ votes: voters.map(({ id, identity }) => voteBy(id, identity ?? id)) })
    const rules = { ...TERMS, ...terms }
    assert.deepEqual([...countedVotes(approval, rules, keys, T0).keys()].sort(), counted)
  })
}

test('a vote by a key that is not known does not count', () => {
  const approval = approvalOf({ votes: [voteBy('gone')] })
  assert.equal(countedVotes(approval, TERMS, keysOf(AGENT), T0).size, 0)
})
