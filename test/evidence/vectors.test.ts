import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as ed25519 from '@noble/ed25519'
import { verifySignature as verifyInBrowser } from '../../src/client/verify/ed25519.ts'
import { verifySignature } from '../../src/evidence/ed25519.ts'
import { verifyStrictly } from '../../src/evidence/ed25519-strict.ts'

const FOLDER = new URL('../testdata/vectors/ed25519/', import.meta.url)
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))
const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
/** As Node and the library say together, and as the library says alone, which is what a browser has. */
function accepts(message: string, key: string, signature: string): boolean {
  const claim = [Buffer.from(message, 'hex'), base64(key), base64(signature)] as const
  const isAccepted = verifySignature(...claim)
  assert.equal(verifyInBrowser(...claim), isAccepted, 'the browser says otherwise')
  return isAccepted
}

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
 * Signatures on which verifiers differ ("Taming the many EdDSAs", table 5): none is accepted. Case 3 alone fits the equation
 * with and without cofactor, with a canonical key and R of large order; its key has a component of small order, which an honest
 * signer's never has.
 */
const ACCEPTED: readonly number[] = []

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
    assert.equal(verifyInBrowser(MESSAGE, key, signature), false)
  })
}

/** Order of the base point (RFC 8032, 5.1). */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

test('a signature that only the equation with the cofactor fits is refused by Node and by the browser alike', () => {
  const seed = Buffer.alloc(32, 7)
  const { prefix, scalar, pointBytes: key } = ed25519.utils.getExtendedPublicKey(seed)
  const order8 = ed25519.Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')
  const numberOf = (...parts: Uint8Array[]): bigint => {
    const digest = createHash('sha512').update(Buffer.concat(parts)).digest()
    return BigInt(`0x${digest.reverse().toString('hex')}`) % ORDER
  }
  const made = (aside: ed25519.Point): Uint8Array => {
    const nonce = numberOf(prefix, MESSAGE)
    const r = ed25519.Point.BASE.multiply(nonce).add(aside).toBytes()
    const s = (nonce + numberOf(r, key, MESSAGE) * scalar) % ORDER
    return Buffer.concat([r, Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()])
  }
  const accepted = (signature: Uint8Array): boolean =>
    accepts(MESSAGE.toString('hex'), Buffer.from(key).toString('hex'), Buffer.from(signature).toString('hex'))
  assert.equal(accepted(made(ed25519.Point.ZERO)), true)
  const crafted = made(order8)
  assert.equal(verifyStrictly(MESSAGE, key, crafted), true, 'the equation with the cofactor holds')
  assert.equal(accepted(crafted), false)
})
