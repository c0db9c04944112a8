import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { verifySignature } from '../../src/evidence/sign.ts'

const FOLDER = new URL('../testdata/vectors/ed25519/', import.meta.url)
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))
const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
const accepts = (message: string, key: string, signature: string): boolean =>
  verifySignature(Buffer.from(message, 'hex'), base64(key), base64(signature))

interface Wycheproof {
  numberOfTests: number
  testGroups: {
    publicKey: { pk: string }
    tests: { tcId: number; comment: string; msg: string; sig: string; result: 'valid' | 'invalid' }[]
  }[]
}

const wycheproof = read('wycheproof_ed25519_test.json') as Wycheproof
const cases = wycheproof.testGroups.flatMap(({ publicKey, tests }) =>
  tests.map((item) => ({ ...item, key: publicKey.pk })),
)

test('Wycheproof is there as a whole', () => {
  assert.equal(cases.length, wycheproof.numberOfTests)
  assert.equal(cases.filter(({ result }) => result === 'valid').length, 88)
  assert.equal(cases.filter(({ result }) => result === 'invalid').length, 63)
})

for (const { tcId, comment, key, msg, sig, result } of cases) {
  test(`Wycheproof ${tcId} is ${result}: ${comment}`, () => {
    assert.equal(accepts(msg, key, sig), result === 'valid')
  })
}

interface Condition {
  index: number
  S: string
  A_order: string
  R_order: string
  comment: string
}
const speccheck = read('speccheck_cases.json') as { message: string; pub_key: string; signature: string }[]
const conditions = read('speccheck_conditions.json') as Condition[]

/**
 * Signatures on which verifiers differ ("Taming the many EdDSAs", table 5). Case 3 has a canonical key and R, neither of
 * small order, S in range, and fits the equation without cofactor: every verifier after RFC 8032 takes it. Its key is of
 * mixed order, which an honest signer's never is. Case 2 differs in R, of small order: OpenSSL takes it before 3.5 only.
 */
const ACCEPTED = [3]

test('speccheck is there as a whole', () => {
  assert.deepEqual([speccheck.length, conditions.length], [12, 12])
})

for (const [i, { message, pub_key, signature }] of speccheck.entries()) {
  const { S, A_order, R_order, comment } = conditions[i] as Condition
  const accepted = ACCEPTED.includes(i)
  test(`speccheck ${i} is ${accepted ? 'accepted' : 'refused'}: ${S}, key ${A_order}, R ${R_order} ${comment}`, () => {
    assert.equal(accepts(message, pub_key, signature), accepted)
  })
}

const [good] = cases.filter(({ result, msg }) => result === 'valid' && msg !== '')
const KEY = base64(good?.key ?? '')
const SIGNATURE = base64(good?.sig ?? '')
const MESSAGE = Buffer.from(good?.msg ?? '', 'hex')

test('the signature that the rows below spoil is a good one', () => {
  assert.equal(verifySignature(MESSAGE, KEY, SIGNATURE), true)
})

const SPOILT: [name: string, key: string, signature: string][] = [
  ['an empty key', '', SIGNATURE],
  ['an empty signature', KEY, ''],
  ['a key without padding', KEY.replace('=', ''), SIGNATURE],
  ['a signature without padding', KEY, SIGNATURE.replaceAll('=', '')],
  ['a line feed after the signature', KEY, `${SIGNATURE}\n`],
  [
    'base64url',
    KEY,
    SIGNATURE.replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/[A-Za-z]/, '-'),
  ],
  ['hexadecimal', good?.key ?? '', good?.sig ?? ''],
  ['key and signature swapped', SIGNATURE, KEY],
  ['a key of 33 bytes', Buffer.concat([Buffer.from(KEY, 'base64'), Buffer.of(0)]).toString('base64'), SIGNATURE],
  ['the key of nothing', Buffer.alloc(32).toString('base64'), SIGNATURE],
  ['the signature of nothing', KEY, Buffer.alloc(64).toString('base64')],
  ['a key beyond the field', Buffer.alloc(32, 0xff).toString('base64'), SIGNATURE],
]

for (const [name, key, signature] of SPOILT) {
  test(`is no signature, and does not throw: ${name}`, () => {
    assert.equal(verifySignature(MESSAGE, key, signature), false)
  })
}
