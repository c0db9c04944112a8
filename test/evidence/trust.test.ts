import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Anchor } from '../../src/evidence/anchor.ts'
import type { VerifyInputs } from '../../src/evidence/attestation.ts'
import { vkeyOf } from '../../src/evidence/note.ts'
import { type LogKey, logKeysFor, type Rotation, readTrust, trustFile } from '../../src/evidence/trust.ts'
import { UnusableTrust } from '../../src/evidence/unusable-trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { processorMs } from '../processor.ts'
import { archive, notOk } from './bundles.ts'
import { aPrivateKey, certified, checkpointOf, pin, rotate, signCheckpoint, underLogKey } from './forge.ts'

const { gate, decide, bundleOf, logKey: current } = await archive()
const { origin } = gate.server.store
const bundle = await bundleOf(await decide(1))
const MADE = Date.parse(bundle.decision.timestamp)
/** Seconds after the decision. */
const at = (seconds: number): string => new Date(MADE + 1000 * seconds).toISOString()

interface Given {
  logKeys: LogKey[]
  revoked?: [publicKey: string, since: string][]
  anchors?: Anchor[]
}
/** As it is read from a file; the clock is an hour after the decision. */
function means({ logKeys, revoked = [], anchors = [] }: Given): VerifyInputs {
  const file = trustFile({ logKeys, revoked: new Map(revoked) })
  return { trust: readTrust(JSON.stringify(file)), nowMs: MADE + 3_600_000, anchors }
}
type Checks = Record<string, 'failed' | 'unknown'>
interface Row {
  name: string
  given: Given
  checks: Checks
  assurance?: 'self-asserted' | 'bracketed'
}
function verdictOfChecks(checks: Checks): string {
  const results = Object.values(checks)
  return results.includes('failed') ? 'invalid' : results.length > 0 ? 'incomplete' : 'valid'
}
function tell({ name, given, checks, assurance = 'self-asserted' }: Row, of = bundle): void {
  test(name, () => {
    const result = verifyBundle(of, means(given))
    assert.deepEqual([notOk(result), result.verdict, result.assurance], [checks, verdictOfChecks(checks), assurance])
  })
}

const ours = pin(origin, current)
const { publicKey: bundleKey } = bundle.signatures.service
const anchor = (seconds: number, checkpoint = bundle.proof.checkpoint): Anchor => ({ at: at(seconds), checkpoint })
const shorter = signCheckpoint({ ...checkpointOf(bundle), size: 1 }, current)
const elsewhere = signCheckpoint({ ...checkpointOf(bundle), origin: 'gate-elsewhere' }, current)
const otherRoot = signCheckpoint({ ...checkpointOf(bundle), root: new Uint8Array(32) }, current)
const since = (seconds: number): [string, string][] => [[ours.publicKey, at(seconds)]]
const revoked = { revocation: 'unknown' } as const

const REVOKED: Row[] = [
  { name: 'a pinned key', given: { logKeys: [ours] }, checks: {} },
  { name: 'a key beside others', given: { logKeys: [pin('other.example', aPrivateKey()), ours] }, checks: {} },
  { name: 'a revoked bundle key', given: { logKeys: [ours], revoked: [[bundleKey, at(100)]] }, checks: revoked },
  {
    name: 'a revoked bundle key, anchored before',
    given: { logKeys: [ours], revoked: [[bundleKey, at(100)]], anchors: [anchor(1)] },
    checks: revoked,
    assurance: 'bracketed',
  },
  { name: 'a revoked log key', given: { logKeys: [ours], revoked: since(100) }, checks: revoked },
  {
    name: 'a revoked log key, anchored before',
    given: { logKeys: [ours], revoked: since(100), anchors: [anchor(99)] },
    checks: {},
    assurance: 'bracketed',
  },
  {
    name: 'a revoked log key, anchored just then',
    given: { logKeys: [ours], revoked: since(100), anchors: [anchor(100)] },
    checks: revoked,
    assurance: 'bracketed',
  },
  {
    name: 'a revoked log key, anchored after',
    given: { logKeys: [ours], revoked: since(100), anchors: [anchor(101)] },
    checks: revoked,
    assurance: 'bracketed',
  },
  {
    name: 'a revoked log key, anchored after and before',
    given: { logKeys: [ours], revoked: since(100), anchors: [anchor(101), anchor(2)] },
    checks: {},
    assurance: 'bracketed',
  },
  ...Object.entries({ shorter, elsewhere, nonsense: 'x' }).map(([name, checkpoint]) => ({
    name: `a revoked log key, and before it only another checkpoint was anchored: ${name}`,
    given: { logKeys: [ours], revoked: since(100), anchors: [anchor(1, checkpoint)] },
    checks: revoked,
  })),
  {
    name: 'a revoked log key, and before it another tree of this size was anchored',
    given: { logKeys: [ours], revoked: since(100), anchors: [anchor(1, otherRoot)] },
    checks: { ...revoked, anchors: 'failed' },
  },
  {
    name: 'another revoked key',
    given: { logKeys: [ours], revoked: [[pin('', aPrivateKey()).publicKey, at(0)]] },
    checks: {},
  },
  { name: 'a log key that was used until then', given: { logKeys: [{ ...ours, until: at(0) }] }, checks: {} },
  {
    name: 'a log key that was used until before',
    given: { logKeys: [{ ...ours, until: at(-1) }] },
    checks: { times: 'failed' },
  },
  {
    name: 'an anchor 300 seconds before',
    given: { logKeys: [ours], anchors: [anchor(-300)] },
    checks: {},
    assurance: 'bracketed',
  },
  {
    name: 'an anchor 301 seconds before',
    given: { logKeys: [ours], anchors: [anchor(-301)] },
    checks: { times: 'failed' },
    assurance: 'bracketed',
  },
]
// Under a certificate that was made long before.
const earlier = certified(bundle, current)
for (const row of REVOKED)
  tell({ ...row, name: `trust: ${row.name}` }, row.given.revoked?.[0]?.[0] === bundleKey ? bundle : earlier)
tell({
  name: 'trust: a log key whose certificate was made after its time',
  given: { logKeys: [{ ...ours, until: at(0) }] },
  checks: { certificate: 'failed' },
})

test('a log key whose time was over makes timestampValid false, and nothing else', () => {
  const result = verifyBundle(earlier, means({ logKeys: [{ ...ours, until: at(-1) }] }))
  assert.deepEqual([result.signatureValid, result.chainValid, result.timestampValid], [true, true, false])
})

// Three log keys, one after the other; the decision was made at second 0.
const [a, b, c, thief] = [aPrivateKey(), aPrivateKey(), aPrivateKey(), aPrivateKey()]
const [A, B, C] = [pin(origin, a), pin(origin, b), pin(origin, c)]
const epochs = (first: number, second: number): Rotation[] => [
  rotate(origin, [a, b], at(first)),
  rotate(origin, [b, c], at(second)),
]
/** The same decision, as evidence of it was made under each of the keys. */
const UNDER: Record<string, [key: typeof a, rotations: Rotation[]]> = {
  'the oldest key, before any rotation': [a, []],
  'the oldest key, exported after two rotations': [a, epochs(10, 20)],
  'the second key': [b, epochs(-10, 20).slice(0, 1)],
  'the second key, exported after two rotations': [b, epochs(-10, 20)],
  'the newest key': [c, epochs(-20, -10)],
  'the newest key, rotations in another order': [c, epochs(-20, -10).reverse()],
}
const hasRotations = ([, rotations]: [unknown, Rotation[]]): boolean => rotations.length > 0
for (const [name, made] of Object.entries(UNDER)) {
  const evidence = underLogKey(bundle, ...made)
  const [key, rotations] = made
  tell({ name: `rotation: ${name}, which is pinned`, given: { logKeys: [pin(origin, key)] }, checks: {} }, evidence)
  if (!hasRotations(made)) continue
  tell({ name: `rotation: ${name}; the oldest is pinned`, given: { logKeys: [A] }, checks: {} }, evidence)
  if (rotations.length < 2) continue
  tell({ name: `rotation: ${name}; the newest is pinned`, given: { logKeys: [C] }, checks: {} }, evidence)
  tell({ name: `rotation: ${name}; all are pinned`, given: { logKeys: [A, B, C] }, checks: {} }, evidence)
}

const UNTRUSTED = { certificate: 'failed', checkpoint: 'failed' } as const
const newest = underLogKey(bundle, c, epochs(-20, -10))
const oldest = underLogKey(bundle, a, epochs(10, 20))
const forged = (rotation: Rotation): Rotation => ({
  ...rotation,
  signatures: { ...rotation.signatures, from: rotation.signatures.to },
})
const ROTATED: [row: Row, evidence: typeof bundle][] = [
  [{ name: 'no rotation is at hand', given: { logKeys: [A] }, checks: UNTRUSTED }, underLogKey(bundle, c)],
  [
    { name: 'a rotation is missing in between', given: { logKeys: [A] }, checks: UNTRUSTED },
    underLogKey(bundle, c, epochs(-20, -10).slice(1)),
  ],
  [
    {
      name: 'the pinned key was retired before: it vouches for none',
      given: { logKeys: [{ ...A, until: at(-20) }] },
      checks: UNTRUSTED,
    },
    newest,
  ],
  [
    {
      name: 'the pinned key is revoked: it vouches for none',
      given: { logKeys: [A], revoked: [[A.publicKey, at(50)]] },
      checks: UNTRUSTED,
    },
    newest,
  ],
  [
    {
      name: 'a key in between is revoked',
      given: { logKeys: [A], revoked: [[B.publicKey, at(50)]] },
      checks: UNTRUSTED,
    },
    newest,
  ],
  [
    {
      name: 'an old key is revoked, and the newest pinned',
      given: { logKeys: [C], revoked: [[A.publicKey, at(50)]] },
      checks: {},
    },
    newest,
  ],
  [
    {
      name: 'the oldest is revoked, which the newest vouches for',
      given: { logKeys: [C], revoked: [[A.publicKey, at(50)]] },
      checks: revoked,
    },
    oldest,
  ],
  [
    {
      name: 'the newest is revoked: it vouches for none before it',
      given: { logKeys: [C], revoked: [[C.publicKey, at(50)]] },
      checks: UNTRUSTED,
    },
    oldest,
  ],
  [
    { name: 'the old key went on being used', given: { logKeys: [C] }, checks: { times: 'failed' } },
    underLogKey(bundle, a, epochs(-20, -10)),
  ],
  [
    { name: 'the same, for who pinned the old key', given: { logKeys: [A] }, checks: { times: 'failed' } },
    underLogKey(bundle, a, epochs(-20, -10)),
  ],
  [
    { name: 'the newer key has not signed', given: { logKeys: [A] }, checks: UNTRUSTED },
    underLogKey(bundle, b, [
      { ...rotate(origin, [a, b], at(-1)), signatures: rotate(origin, [a, thief], at(-1)).signatures },
    ]),
  ],
  [
    { name: 'the older key has not signed', given: { logKeys: [A] }, checks: UNTRUSTED },
    underLogKey(bundle, b, [forged(rotate(origin, [a, b], at(-1)))]),
  ],
  [
    { name: 'the rotation is of another instance', given: { logKeys: [A] }, checks: UNTRUSTED },
    underLogKey(bundle, b, [rotate('gate-elsewhere', [a, b], at(-1))]),
  ],
  [
    { name: 'the rotation is on no day', given: { logKeys: [A] }, checks: { form: 'failed' } },
    underLogKey(bundle, b, [rotate(origin, [a, b], '2026-02-30T00:00:00.000Z')]),
  ],
  [
    {
      name: 'a thief has another key follow a retired one',
      given: { logKeys: [{ ...A, until: at(-5) }, B] },
      checks: UNTRUSTED,
    },
    underLogKey(bundle, thief, [rotate(origin, [a, thief], at(-1))]),
  ],
  [
    {
      name: 'a thief of a retired key has it follow his own, after its time',
      given: { logKeys: [{ ...A, until: at(-5) }, B] },
      checks: UNTRUSTED,
    },
    underLogKey(bundle, thief, [rotate(origin, [thief, a], at(5))]),
  ],
  [
    {
      name: 'a thief of a retired key has it follow his own, before its end: as with the key itself, he is too late',
      given: { logKeys: [{ ...A, until: at(-5) }, B] },
      checks: { times: 'failed' },
    },
    underLogKey(bundle, thief, [rotate(origin, [thief, a], at(-5))]),
  ],
  [
    {
      name: 'the key is pinned for another instance',
      given: { logKeys: [pin('gate-elsewhere', c)] },
      checks: { certificate: 'unknown', checkpoint: 'unknown' },
    },
    newest,
  ],
]
for (const [row, evidence] of ROTATED) tell({ ...row, name: `rotation: ${row.name}` }, evidence)

const BOTH_REVOKED: [ofCertificate: number, ofCheckpoint: number][] = [
  [50, 100],
  [100, 50],
]
const byTwo = certified(underLogKey(bundle, b), a)
for (const [first, second] of BOTH_REVOKED) {
  const row: Row = {
    name: `trust: log keys of certificate and checkpoint revoked since ${first} and ${second}: the earlier time counts`,
    given: {
      logKeys: [A, B],
      revoked: [
        [A.publicKey, at(first)],
        [B.publicKey, at(second)],
      ],
      anchors: [anchor(70, byTwo.proof.checkpoint)],
    },
    checks: revoked,
    assurance: 'bracketed',
  }
  tell(row, byTwo)
}

const vkey = vkeyOf(ours)
const FILES: [name: string, text: string, isGood: boolean][] = [
  ['no key', '{"v":1,"logKeys":[],"revoked":[]}', true],
  ['one key', `{"v":1,"logKeys":[{"vkey":"${vkey}","until":null}],"revoked":[]}`, true],
  ['a key with its end', `{"v":1,"logKeys":[{"vkey":"${vkey}","until":"${at(1)}"}],"revoked":[]}`, true],
  ['a revoked key', `{"v":1,"logKeys":[],"revoked":[{"publicKey":"${bundleKey}","since":"${at(1)}"}]}`, true],
  ['another version', '{"v":2,"logKeys":[],"revoked":[]}', false],
  ['no list of keys', '{"v":1,"revoked":[]}', false],
  ['a member more', '{"v":1,"logKeys":[],"revoked":[],"more":1}', false],
  ['a member twice', '{"v":1,"v":1,"logKeys":[],"revoked":[]}', false],
  ['text after it', '{"v":1,"logKeys":[],"revoked":[]} x', false],
  ['no end given', `{"v":1,"logKeys":[{"vkey":"${vkey}"}],"revoked":[]}`, false],
  [
    'a key twice',
    `{"v":1,"logKeys":[${`{"vkey":"${vkey}","until":null},`.repeat(2).slice(0, -1)}],"revoked":[]}`,
    false,
  ],
  [
    'a revoked key twice',
    `{"v":1,"logKeys":[],"revoked":[${`{"publicKey":"${bundleKey}","since":"${at(1)}"},`.repeat(2).slice(0, -1)}]}`,
    false,
  ],
  ['an end on no day', `{"v":1,"logKeys":[{"vkey":"${vkey}","until":"2026-02-30T00:00:00.000Z"}],"revoked":[]}`, false],
  [
    'a revocation on no day',
    `{"v":1,"logKeys":[],"revoked":[{"publicKey":"${bundleKey}","since":"2026-02-30T00:00:00.000Z"}]}`,
    false,
  ],
  [
    'an end in another zone',
    `{"v":1,"logKeys":[{"vkey":"${vkey}","until":"2026-01-01T00:00:00.000+01:00"}],"revoked":[]}`,
    false,
  ],
  [
    'a public key in place of a vkey',
    `{"v":1,"logKeys":[{"vkey":"${ours.publicKey}","until":null}],"revoked":[]}`,
    false,
  ],
  ['nothing', '', false],
  ['a list', '[]', false],
]
for (const [name, text, isGood] of FILES) {
  test(`a trust file with ${name} is ${isGood ? 'read' : 'refused'}`, () => {
    if (!isGood) return assert.throws(() => readTrust(text), UnusableTrust)
    assert.deepEqual(trustFile(readTrust(text)), JSON.parse(text))
  })
}

test('a thousand rotations that lead nowhere take no longer than a few', () => {
  const [x, y] = [aPrivateKey(), aPrivateKey()]
  const many = Array.from({ length: 1000 }, (_, i) => rotate(origin, [x, y], at(-i - 1)))
  const began = processorMs()
  const { keys } = logKeysFor(means({ logKeys: [ours] }).trust, { origin, signedBy: '', rotations: many })
  assert.equal(keys.length, 1)
  // Verifying them takes seconds.
  assert.equal(processorMs() - began < 500, true)
})
