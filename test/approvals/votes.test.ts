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

for (const [name, voter, approverId, approval, refused] of MAY_VOTE) {
  test(`${name} ${refused === undefined ? 'may vote' : `is refused: ${refused}`}`, () => {
    const keys = keysOf(AGENT, ANN, BOB, chain('child', 'agent'), voter)
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
    const keys = keysOf(AGENT, chain('child-of-ann', 'ann-key'), ...voters)
    const approval = approvalOf({ votes: voters.map(({ id, identity }) => voteBy(id, identity ?? id)) })
    const rules = { ...TERMS, ...terms }
    assert.deepEqual([...countedVotes(approval, rules, keys, T0).keys()].sort(), counted)
  })
}

test('a vote by a key that is not known does not count', () => {
  const approval = approvalOf({ votes: [voteBy('gone')] })
  assert.equal(countedVotes(approval, TERMS, keysOf(AGENT), T0).size, 0)
})
