import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { canonicalJson } from '../../src/base/canonical.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { FULL } from '../tier.ts'
import { archive, notOk, verifyOverHttp } from './bundles.ts'
import { type Mutation, mutations, type Value } from './mutations.ts'

const { gate, owner, ask, decide, approved, bundleOf, verify, resign } = await archive()

/** An allow after the vote of an admin, whose key another chain has made. */
async function approvedByAdmin(amount: number): Promise<string> {
  const admin = await gate.key({ roles: ['admin'], identity: 'root' })
  const { approvalId } = await ask('payment.transfer', amount)
  await gate.call(admin, 'POST', `/approvals/${approvalId}/approve`, { approverId: 'root' })
  return (await ask('payment.transfer', amount)).decisionId
}

const DECISIONS: Readonly<Record<string, string>> = {
  allow: await decide(1),
  hold: await decide(4000),
  deny: await decide(200_000),
  'allow after one vote': await approved('payment.transfer', 5000),
  'allow after two votes': await approved('payment.refund', 3),
  'allow after the vote of an admin': await approvedByAdmin(6000),
}
const bundles: Record<string, Bundle> = {}
for (const [name, id] of Object.entries(DECISIONS)) bundles[name] = await bundleOf(id)

/** Entries of the approval, keys, and other chains in which these were made. */
const SHOWN: Readonly<Record<string, readonly number[]>> = {
  'allow after one vote': [2, 2, 0],
  'allow after two votes': [3, 3, 0],
  'allow after the vote of an admin': [2, 2, 1],
}

/** Reversing a list of one item, say, changes nothing. */
const changesOf = (bundle: Bundle) =>
  [...mutations(bundle as unknown as Value)].filter(({ value }) => canonicalJson(value) !== canonicalJson(bundle))

/** Returns one change of each member, of another kind than that of the member before. */
function oneOfEachMember(changes: Mutation[]): Mutation[] {
  const byMember = new Map<string, Mutation[]>()
  for (const change of changes) {
    const [member = ''] = change.name.split(' ')
    byMember.set(member, [...(byMember.get(member) ?? []), change])
  }
  return [...byMember.values()].flatMap((of, i) => of[i % of.length] ?? [])
}

/** Members that no chain commits to: with both private keys, these can be set to anything of their form. */
const NOT_COMMITTED =
  /^\/(bundleId|exportedAt|signatures|proof\/certificate)\b|^ without signatures$|^\/proof without certificate$/

for (const [name, bundle] of Object.entries(bundles)) {
  // All of the first; of the others some, but for what the first does not have. In the fast tier, one of each member of those.
  const isFirst = name === 'allow'
  const every = (isFirst ? 1 : 7) * (FULL ? 1 : 10)
  const isNew = (mutation: string): boolean =>
    isFirst ||
    (name === 'allow after two votes' && mutation.startsWith('/proof/approval')) ||
    (name === 'allow after the vote of an admin' && /^\/proof\/(keys|beside)/.test(mutation))
  const all = changesOf(bundle)
  const each = new Set(FULL ? all : oneOfEachMember(all))
  const changed = all.filter((mutation, i) => i % every === 0 || (isNew(mutation.name) && each.has(mutation)))

  test(`${name}: the bundle that is changed below is valid, and there are many ways to change it`, () => {
    const result = verify(bundle)
    assert.deepEqual([result.verdict, result.assurance, result.reasons], ['valid', 'self-asserted', []])
    assert.deepEqual(notOk(verify(resign(bundle))), {})
    assert.equal(bundle.auditChain.length, 2)
    const { approval, keys, beside } = bundle.proof
    assert.deepEqual([approval.length, keys.length, beside.length], SHOWN[name] ?? [0, 0, 0])
    assert.ok(changed.length > 700 / every, String(changed.length))
  })

  test(`${name}: no change of a bundle is valid, and none throws`, () => {
    for (const { name: mutation, value } of changed) {
      const result = verify(value)
      assert.deepEqual([result.valid, result.verdict, result.signatureValid], [false, 'invalid', false], mutation)
      assert.notEqual(result.reasons.length, 0, mutation)
    }
  })

  test(`${name}: even with both private keys, nothing that the chain commits to can be changed`, () => {
    let tried = 0
    for (const { name: mutation, value } of changed) {
      if (NOT_COMMITTED.test(mutation) || !canBeSigned(value)) continue
      const result = verify(resign(value))
      assert.deepEqual([result.valid, result.verdict, result.chainValid], [false, 'invalid', false], mutation)
      tried += 1
    }
    assert.ok(tried > 500 / every, String(tried))
  })
}

/** Returns whether the value has an origin; without one there is no place for a certificate. */
function canBeSigned(value: unknown): value is Bundle {
  return isObject(value) && typeof (value as Bundle).proof?.origin === 'string'
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

test('over HTTP a changed bundle is answered, not refused, and not valid', async () => {
  // The tests above let nothing else run: connections that are over must be seen to be, before one is used again.
  await sleep(200)
  for (const [name, bundle] of Object.entries(bundles)) {
    const samples = changesOf(bundle).filter(({ value }, i) => i % 60 === 0 && isObject(value))
    for (const { name: mutation, value } of samples)
      assert.equal((await verifyOverHttp(gate, owner, value)).valid, false, mutation)
    assert.equal((await verifyOverHttp(gate, owner, bundle)).valid, true, name)
  }
})

test('members in another order are the same bundle', () => {
  const reversed = (value: Value): Value => {
    if (Array.isArray(value)) return value.map(reversed)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, item]) => [key, reversed(item)]),
    )
  }
  for (const bundle of Object.values(bundles))
    assert.equal(verify(reversed(bundle as unknown as Value)).verdict, 'valid')
})
