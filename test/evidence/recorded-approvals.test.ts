import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json.ts'
import { archive, notOk } from './bundles.ts'
import { withApproval } from './forge.ts'

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
  ['both votes by one person', ONE_PERSON, /fewer votes/],
  ['a quorum of three', inRequest({ quorum: 3 }), /fewer votes/],
  ['a quorum of none', inRequest({ quorum: 0 }), /fewer votes/],
  ['a vote by nobody', inLastVote(([first = {}]) => ({ votes: [first, { principal: null }] })), /by nobody/],
  ['no votes', inLastVote(() => ({ votes: null })), /no votes/],
  ['a rejection', inLastVote(() => ({ status: 'rejected' })), /not approved/],
  ['another digest', inRequest({ digest: `sha256:${'0'.repeat(64)}` }), /another request/],
  ['a member left out that was not', inRequest({ unbound: ['context.amount'] }), /another request/],
  ['the whole context left out', inRequest({ unbound: ['context'] }), /cannot be told/],
]
for (const [name, change, why] of RECORDED) {
  test(`even with both private keys, an approval that says of itself: ${name}`, () => {
    const result = verify(resign(withApproval(two, change, logKey)))
    assert.deepEqual(notOk(result), why === undefined ? {} : { approval: 'failed' })
    assert.match(result.reasons.join(), why ?? /^$/)
  })
}
