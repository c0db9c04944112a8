import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ApiKey, isActive, principalOf } from '../../src/keys/apikey.ts'
import { formatSecret, hashSecret, isSecret, SECRET_BYTES } from '../../src/keys/secret.ts'
import { aKey } from '../store/drafts.ts'

const environment = fc.constantFrom('live', 'test')
const random = fc.uint8Array({ minLength: SECRET_BYTES, maxLength: SECRET_BYTES })
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const SECRET = formatSecret('live', new Uint8Array(SECRET_BYTES).fill(7))

test('a secret has the prefix of its environment, one length, and base62 only', () => {
  fc.assert(
    fc.property(environment, random, (env, bytes) => {
      assert.match(formatSecret(env, bytes), new RegExp(`^sk_${env}_[0-9A-Za-z]{49}$`))
    }),
  )
})

test('different random bytes give different secrets', () => {
  fc.assert(
    fc.property(random, random, (a, b) => {
      assert.equal(formatSecret('live', a) === formatSecret('live', b), Buffer.compare(a, b) === 0)
    }),
  )
})

test('all 256 bits are in the secret: the extremes differ and fit', () => {
  const [low, high] = [0, 255].map((byte) => formatSecret('test', new Uint8Array(SECRET_BYTES).fill(byte)))
  assert.ok(isSecret(low ?? '') && isSecret(high ?? ''))
  assert.match(low ?? '', /^sk_test_0{43}/)
  assert.notEqual(low, high)
})

for (const bytes of [0, 31, 33]) {
  test(`a secret is not made from ${bytes} random bytes`, () => {
    assert.throws(() => formatSecret('live', new Uint8Array(bytes)), TypeError)
  })
}

test('every secret passes its checksum, and no secret with one other character does', () => {
  const position = fc.integer({ min: 8, max: SECRET.length - 1 })
  fc.assert(
    fc.property(environment, random, position, fc.constantFrom(...BASE62), (env, bytes, at, letter) => {
      const secret = formatSecret(env, bytes)
      const typo = secret.slice(0, at) + letter + secret.slice(at + 1)
      assert.equal(isSecret(typo), typo === secret)
    }),
    { numRuns: 500 },
  )
})

const NOT_SECRETS: [name: string, text: string][] = [
  ['empty', ''],
  ['prefix only', 'sk_live_'],
  ['another environment under the same checksum', SECRET.replace('sk_live_', 'sk_test_')],
  ['one character less', SECRET.slice(0, -1)],
  ['one character more', `${SECRET}0`],
  ['a line feed after it', `${SECRET}\n`],
  ['a space before it', ` ${SECRET}`],
  ['upper-case prefix', SECRET.replace('sk_live', 'SK_LIVE')],
  ['two neighbours swapped', swapFirstDifferent(SECRET)],
  ['two secrets joined, as duplicate headers are', `${SECRET}, ${SECRET}`],
  ['no checksum', SECRET.slice(0, -6)],
]

for (const [name, text] of NOT_SECRETS) {
  test(`is no secret: ${name}`, () => assert.equal(isSecret(text), false))
}

function swapFirstDifferent(text: string): string {
  const at = [...text].findIndex((letter, i) => i >= 8 && text[i + 1] !== letter)
  return text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2)
}

test('what is stored is a digest that does not hold the secret', () => {
  const hash = hashSecret(SECRET)
  assert.match(hash, /^sha256:[0-9a-f]{64}$/)
  assert.equal(hashSecret(SECRET), hash)
  assert.notEqual(hashSecret(`${SECRET} `), hash)
})

const KEY = aKey({ id: 'key_1', hash: hashSecret(SECRET) })
const NOON = Date.parse('2026-01-02T12:00:00.000Z')

const ACTIVITY: [name: string, change: Partial<ApiKey>, active: boolean][] = [
  ['without end', {}, true],
  ['a millisecond before its end', { expiresAt: '2026-01-02T12:00:00.001Z' }, true],
  ['at its end', { expiresAt: '2026-01-02T12:00:00.000Z' }, false],
  ['after its end', { expiresAt: '2026-01-02T11:59:59.999Z' }, false],
  ['revoked', { revokedAt: '2026-01-02T11:00:00.000Z' }, false],
  ['revoked by a clock that was ahead', { revokedAt: '2026-01-03T00:00:00.000Z' }, false],
]

for (const [name, change, active] of ACTIVITY) {
  test(`a key ${name} is ${active ? 'active' : 'not active'}`, () => {
    assert.equal(isActive({ ...KEY, ...change }, NOON), active)
  })
}

test('who acts is the identity, else the key', () => {
  assert.equal(principalOf(KEY), 'key_1')
  assert.equal(principalOf({ ...KEY, identity: 'ann' }), 'ann')
})
