import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { canonicalJson } from '../../src/base/canonical.ts'
import { archive, verifyOverHttp } from './bundles.ts'

type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

interface Mutation {
  /** Where, as a JSON pointer, and what. */
  name: string
  value: Value
}

/** Every way to change one thing of a value. */
function* mutations(value: Value, at = ''): Generator<Mutation> {
  for (const other of replacements(value)) yield { name: `${at} = ${JSON.stringify(other).slice(0, 40)}`, value: other }
  if (Array.isArray(value)) yield* arrayMutations(value, at)
  else if (typeof value === 'object' && value !== null) yield* objectMutations(value, at)
}

function replacements(value: Value): Value[] {
  if (typeof value === 'string') return [`${value}x`, value.slice(1), flipped(value), null, value.toUpperCase()]
  if (typeof value === 'number') return [value + 1, -value - 1, value + 0.5, String(value)]
  if (typeof value === 'boolean') return [!value, null]
  if (value === null) return [false, {}, '']
  return [null, Array.isArray(value) ? {} : []]
}

function flipped(text: string): string {
  const middle = Math.floor(text.length / 2)
  return text.slice(0, middle) + (text[middle] === '0' ? '1' : '0') + text.slice(middle + 1)
}

function* arrayMutations(items: Value[], at: string): Generator<Mutation> {
  for (const [i, item] of items.entries()) {
    yield { name: `${at} without ${i}`, value: items.toSpliced(i, 1) }
    yield { name: `${at} with ${i} twice`, value: items.toSpliced(i, 0, item) }
    for (const inner of mutations(item, `${at}/${i}`)) yield { ...inner, value: items.with(i, inner.value) }
  }
  yield { name: `${at} reversed`, value: items.toReversed() }
  yield { name: `${at} empty`, value: [] }
  yield { name: `${at} longer`, value: [...items, null] }
}

function* objectMutations(object: { [key: string]: Value }, at: string): Generator<Mutation> {
  for (const [key, item] of Object.entries(object)) {
    const { [key]: _, ...others } = object
    yield { name: `${at} without ${key}`, value: others }
    yield { name: `${at} with ${key} renamed`, value: { ...others, [`${key}_`]: item } }
    for (const inner of mutations(item, `${at}/${key}`)) yield { ...inner, value: { ...object, [key]: inner.value } }
  }
  // A further signature takes nothing from the service's own.
  if (at !== '/signatures') yield { name: `${at} with one member more`, value: { ...object, more: 1 } }
}

const { gate, owner, decide, bundleOf, verify, resign } = await archive()
await decide(1)
const middle = await decide(4000)
await decide(2)
const bundle = await bundleOf(middle)
// Lists in `context` may be empty or have one item: reversing such a one changes nothing.
const changed = [...mutations(bundle as unknown as Value)].filter(
  ({ value }) => canonicalJson(value) !== canonicalJson(bundle),
)

test('the bundle that is changed below is valid, has three entries, and there are many ways to change it', () => {
  assert.deepEqual(verify(bundle), {
    valid: true,
    signatureValid: true,
    chainValid: true,
    timestampValid: true,
    reasons: [],
  })
  assert.equal(bundle.auditChain.length, 3)
  assert.ok(changed.length > 500, String(changed.length))
})

test('no change of a bundle is valid, and none throws', () => {
  for (const { name, value } of changed) {
    const result = verify(value)
    assert.equal(result.valid, false, name)
    assert.ok(result.reasons.length > 0, name)
    assert.equal(result.signatureValid, false, name)
  }
})

/** What the signature alone protects: with the service's own key, these can be set to anything of their form. */
const SIGNATURE_ONLY = /^\/(bundleId|exportedAt|version|proof\/origin|signatures)\b|^ without signatures$/

test('even with the stolen signing key, nothing that the chain commits to can be changed', () => {
  let tried = 0
  for (const { name, value } of changed) {
    if (SIGNATURE_ONLY.test(name) || !canBeSigned(value)) continue
    const result = verify(resign(value as never))
    assert.equal(result.valid, false, name)
    assert.equal(result.chainValid, false, name)
    tried += 1
  }
  assert.ok(tried > 300, String(tried))
})

/** What is no object has no place for a signature. */
function canBeSigned(value: Value): value is { [key: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

test('over HTTP a changed bundle is answered, not refused, and not valid', async () => {
  // The tests above let nothing else run: connections that are over must be seen to be, before one is used again.
  await sleep(200)
  const samples = changed.filter(
    ({ value }, i) => i % 40 === 0 && typeof value === 'object' && value !== null && !Array.isArray(value),
  )
  for (const { name, value } of samples) assert.equal((await verifyOverHttp(gate, owner, value)).valid, false, name)
  assert.equal((await verifyOverHttp(gate, owner, bundle)).valid, true)
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
  assert.equal(verify(reversed(bundle as unknown as Value)).valid, true)
})
