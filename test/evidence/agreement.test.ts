import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Anchor, anchorLine, parseAnchor } from '../../src/evidence/anchor.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { readTrust, trustFile } from '../../src/evidence/trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { temporaryFolder } from '../helpers.ts'
import { fullTest } from '../tier.ts'
import { archive } from './bundles.ts'
import { aPrivateKey, checkpointOf, pin, rotate, signCheckpoint, underLogKey } from './forge.ts'
import { byPython, ours } from './python.ts'

// Each row is one sentence of docs/evidence.md that a reader could take in two ways: both verifiers take it in this one.

const { gate, decide, approved, bundleOf, resign, logKey } = await archive()
const { origin } = gate.server.store
const bundle = await bundleOf(await approved('payment.refund', 8))
const plain = await bundleOf(await decide(9))
const now = new Date().toISOString()
const [a, b, c, d] = [aPrivateKey(), aPrivateKey(), aPrivateKey(), aPrivateKey()]

interface Row {
  name: string
  evidence: unknown
  checks: Readonly<Record<string, 'failed' | 'unknown'>>
  trust?: string
  anchors?: string
}
type Proof = Bundle['proof']
const FORM = { form: 'failed' } as const
const ownTrust = JSON.stringify(trustFile({ logKeys: [pin(origin, logKey)], revoked: new Map() }))
const trustIn = (...keys: (typeof a)[]): string =>
  JSON.stringify(trustFile({ logKeys: keys.map((key) => pin(origin, key)), revoked: new Map() }))
const withProof = (changes: Partial<Proof>, of = bundle): Bundle =>
  resign({ ...of, proof: { ...of.proof, ...changes } })
/** With something in place of the last entry's header: the commitment, and all that follows from it, is another then. */
const withHeader = (changes: Partial<Proof['entries'][number]>): Bundle => {
  const last = bundle.proof.entries.at(-1) ?? assert.fail('no entries')
  return withProof({ entries: bundle.proof.entries.with(-1, { ...last, ...changes }) })
}
const CHANGED = { segment: 'failed', openings: 'failed', inclusion: 'failed' } as const

const FORMS: [name: string, evidence: unknown][] = [
  ...['0000-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '2026-02-30T00:00:00.000Z', '2025-02-29T00:00:00.000Z']
    .concat(
      '2026-12-31T23:59:60.000Z',
      '2026-01-01T24:00:00.000Z',
      '2026-13-01T00:00:00.000Z',
      '2026-00-01T00:00:00.000Z',
    )
    .concat(
      '2026-01-01T00:00:00.000+00:00',
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00.000Z\n',
      '+12026-01-01T00:00:00.000Z',
    )
    .map((time): [string, unknown] => [`a time ${JSON.stringify(time)}`, resign({ ...bundle, exportedAt: time })]),
  ...['sha256:0', `SHA256:${'0'.repeat(64)}`, `sha256:${'A'.repeat(64)}`, '0'.repeat(64)].map(
    (hash): [string, unknown] => [
      `a digest ${hash.slice(0, 12)}`,
      { ...bundle, auditChain: bundle.auditChain.map((one) => ({ ...one, hash })) },
    ],
  ),
  ...[`${'A'.repeat(42)}B=`, 'A'.repeat(43), `${'-'.repeat(43)}=`, ` ${'A'.repeat(42)}A=`].map(
    (hash): [string, unknown] => [`a hash ${hash}`, withProof({ inclusion: [hash] })],
  ),
  ['65 hashes of a path', withProof({ inclusion: Array.from({ length: 65 }, () => `${'A'.repeat(43)}=`) })],
  ...[0.5, -1, 2 ** 53, '1', null, true].map((seq): [string, unknown] => [
    `a seq ${seq}`,
    withHeader({ seq: seq as number }),
  ]),
  ...[
    'acme',
    'acme/prod',
    'a b/live',
    '-a/live',
    '_a/live',
    'é/live',
    `${'a'.repeat(64)}/live`,
    'a/b/live',
    '_SYSTEM',
  ].map((chain): [string, unknown] => [`a chain ${chain}`, withHeader({ chain })]),
  ...['', 'Gate', 'a b', 'a/b', 'a+b', 'a'.repeat(65), 'ä'].map((name): [string, unknown] => [
    `an origin ${name}`,
    { ...bundle, proof: { ...bundle.proof, origin: name } },
  ]),
  ...['', 'aud', 'aud_', 'AUD_1', 'audi_1', 'aud_A', 'aud_1-1', `aud_${'1'.repeat(61)}`].map(
    (id): [string, unknown] => [`an id ${id}`, withHeader({ id })],
  ),
  ...['', '.a', 'a b', 'ä', 'a'.repeat(129)].map((type): [string, unknown] => [`a type ${type}`, withHeader({ type })]),
  ...['', 'Data', 'a-b', 'a1', 'a\n', 'é', 'a'.repeat(33)].map((name): [string, unknown] => [
    `a section ${JSON.stringify(name)}`,
    withHeader({ commits: { [name]: bundle.auditChain[0]?.hash ?? '' } }),
  ]),
  [
    'nine sections',
    withHeader({ commits: Object.fromEntries(Array.from('abcdefghi', (name) => [name, `sha256:${'0'.repeat(64)}`])) }),
  ],
  ['a decision of another word', resign({ ...bundle, decision: { ...bundle.decision, decision: 'ALLOW' } })],
  ['a name erased twice', withProof({ redacted: ['approval', 'approval'] })],
  ['a rotation twice', withProof({ rotations: Array.from({ length: 2 }, () => rotate(origin, [logKey, a], now)) })],
  [
    '17 signatures',
    {
      ...bundle,
      signatures: { ...bundle.signatures, ...Object.fromEntries(Array.from({ length: 16 }, (_, i) => [i, {}])) },
    },
  ],
  ['a signature that is no object', { ...bundle, signatures: { ...bundle.signatures, auditor: 1 } }],
  ...notes().map(([name, checkpoint]): [string, unknown] => [`a checkpoint with ${name}`, withProof({ checkpoint })]),
]

function notes(): [name: string, note: string][] {
  const { checkpoint } = bundle.proof
  const line = checkpoint.split('\n')[4] ?? ''
  return [
    ['no text', ''],
    ['a leading zero', checkpoint.replace(/\n([0-9]+)\n/, '\n0$1\n')],
    ['a size of 2^53', checkpoint.replace(/\n[0-9]+\n/, '\n9007199254740992\n')],
    ['an extension line', checkpoint.replace('\n\n', '\nmore\n\n')],
    ['a chain of another form', checkpoint.replace('/live\n', '/prod\n')],
    ['no chain', checkpoint.replace('/acme/live\n', '\n')],
    ['an origin in capitals', checkpoint.toUpperCase()],
    ['a line in other letters', `${checkpoint}— ä AAAAAAA=\n`],
    ['a space without a break', `${checkpoint}— a\u00a0b AAAAAAA=\n`],
    ['a next line', `${checkpoint}— a\u0085b AAAAAAA=\n`],
    ['four bytes of a signature', `${checkpoint}— a AAAAAA==\n`],
    ['17 lines', `${checkpoint}${`${line}\n`.repeat(16)}`],
    ['over 16 KiB', `${checkpoint}— ${'a'.repeat(16_384)} AAAAAAA=\n`],
    ['no line feed at the end', checkpoint.slice(0, -1)],
  ]
}

const at = (seconds: number): string => new Date(Date.parse(bundle.decision.timestamp) + 1000 * seconds).toISOString()
const signed = checkpointOf(bundle)
const otherRoot = new Uint8Array(32).fill(1)
const lineOf = (checkpoint: string, time = at(1)): string =>
  `${anchorLine({ at: time, checkpoint } satisfies Anchor)}\n`
const other = (size: number, by = logKey, root = otherRoot): string =>
  lineOf(signCheckpoint({ ...signed, size, root }, by))
const SPLIT = { anchors: 'failed' } as const
const ANCHORS: Row[] = [
  { name: 'this very checkpoint', anchors: lineOf(bundle.proof.checkpoint), checks: {} },
  { name: 'another tree of this size', anchors: other(signed.size), checks: SPLIT },
  {
    name: 'this checkpoint, and another tree of this size',
    anchors: lineOf(bundle.proof.checkpoint) + other(signed.size),
    checks: SPLIT,
  },
  { name: 'another tree of this size by a stranger', anchors: other(signed.size, a), checks: {} },
  {
    name: 'another tree of this size, of another chain',
    anchors: lineOf(signCheckpoint({ ...signed, chain: 'other/live', root: otherRoot }, logKey)),
    checks: {},
  },
  { name: 'a smaller tree, with which nothing can be compared', anchors: other(1), checks: {} },
  { name: 'two trees of a smaller size', anchors: other(1) + other(1, logKey, new Uint8Array(32)), checks: SPLIT },
  {
    name: 'two trees of a larger size',
    anchors: other(10_000) + other(10_000, logKey, new Uint8Array(32)),
    checks: SPLIT,
  },
  {
    name: 'two trees of a smaller size, one by a stranger',
    anchors: other(1) + other(1, a, new Uint8Array(32)),
    checks: {},
  },
  { name: 'one tree of a smaller size twice', anchors: other(1).repeat(2), checks: {} },
  {
    name: 'the earliest of two counts',
    anchors: lineOf(bundle.proof.checkpoint, at(9)) + lineOf(bundle.proof.checkpoint, at(-301)),
    checks: { times: 'failed' },
  },
  { name: 'one on no day is none', anchors: lineOf(bundle.proof.checkpoint, '2020-02-30T00:00:00.000Z'), checks: {} },
  {
    name: 'lines that are none are passed over',
    anchors: `\n{}\n[]\nx\n${lineOf('x')}${other(signed.size)}{"at`,
    checks: SPLIT,
  },
  {
    name: 'two histories for who pinned nothing',
    anchors: other(signed.size),
    trust: trustIn(),
    checks: { ...SPLIT, certificate: 'unknown', checkpoint: 'unknown' },
  },
].map((row) => ({ evidence: bundle, ...row, name: `anchors: ${row.name}` }) as Row)

const epochs = [rotate(origin, [a, b], at(-20)), rotate(origin, [b, c], at(-10))]
const rival = rotate(origin, [b, d], at(-5))
const UNTRUSTED = { certificate: 'failed', checkpoint: 'failed' } as const
const KEYS: Row[] = [
  {
    name: 'rotations in another order',
    evidence: underLogKey(plain, c, epochs.toReversed()),
    trust: trustIn(a),
    checks: {},
  },
  // The first pass adds b by the second one, and then d by the third: c comes too late.
  ...(
    [
      [epochs[1], epochs[0], rival],
      [epochs[0], rival, epochs[1]],
    ] as const
  ).flatMap((list, i): Row[] => [
    {
      name: `of two keys after one, the first that a pass comes to: ${i}`,
      evidence: underLogKey(
        plain,
        d,
        list.flatMap((one) => one ?? []),
      ),
      trust: trustIn(a),
      checks: {},
    },
    {
      name: `of two keys after one, not the other: ${i}`,
      evidence: underLogKey(
        plain,
        c,
        list.flatMap((one) => one ?? []),
      ),
      trust: trustIn(a),
      checks: UNTRUSTED,
    },
  ]),
  {
    name: 'nothing pinned',
    evidence: plain,
    trust: trustIn(),
    checks: { certificate: 'unknown', checkpoint: 'unknown' },
  },
  {
    name: 'nothing pinned, and a checkpoint by a key that a rotation names, good or not',
    evidence: resign({
      ...plain,
      proof: {
        ...plain.proof,
        checkpoint: underLogKey(plain, a).proof.checkpoint,
        rotations: [{ ...rotate(origin, [a, logKey], at(-1)), signatures: rotate(origin, [b, c], at(-1)).signatures }],
      },
    }),
    trust: trustIn(),
    checks: { certificate: 'unknown', checkpoint: 'unknown' },
  },
  { name: 'everything by a key that is not the pinned one', evidence: underLogKey(plain, a), checks: UNTRUSTED },
  {
    name: 'a good line and one of the same key that does not verify',
    evidence: withProof({
      checkpoint: `${bundle.proof.checkpoint}${signCheckpoint({ ...signed, size: 1 }, logKey).split('\n')[4]}\n`,
    }),
    checks: { checkpoint: 'failed' },
  },
].map((row) => ({ ...row, name: `keys: ${row.name}` }) as Row)

const MEANT: Row[] = [
  {
    name: 'lists of different lengths are of the form',
    evidence: resign({ ...bundle, auditChain: bundle.auditChain.slice(1) }),
    checks: { segment: 'failed' },
  },
  {
    name: 'a salt left out is of the form',
    evidence: withProof({
      openings: { decision: bundle.proof.openings.decision, grounds: bundle.proof.openings.grounds },
    }),
    checks: { openings: 'failed' },
  },
  {
    name: 'an approval both erased and shown is of the form',
    evidence: withProof({ redacted: ['approval'] }),
    checks: { approval: 'failed' },
  },
  { name: 'a header of another type', evidence: withHeader({ type: 'gate.other' }), checks: { ...CHANGED } },
  {
    name: 'an algorithm that is not ours',
    evidence: { ...bundle, signatures: { service: { ...bundle.signatures.service, algorithm: 'rsa' } } },
    checks: { signature: 'failed' },
  },
]
const ROWS: Row[] = [
  ...FORMS.map(([name, evidence]) => ({ name: `form: ${name}`, evidence, checks: FORM })),
  ...ANCHORS,
  ...KEYS,
  ...MEANT.map((row) => ({ ...row, name: `no matter of form: ${row.name}` })),
]
const told = await byPython(
  ROWS.map(({ evidence, trust = ownTrust, anchors = '' }) => ({
    evidence: JSON.stringify(evidence),
    trust,
    anchors,
    now,
  })),
)

for (const [i, { name, evidence, checks, trust = ownTrust, anchors = '' }] of ROWS.entries()) {
  test(name, () => {
    const means = {
      trust: readTrust(trust),
      nowMs: Date.parse(now),
      anchors: anchors.split('\n').flatMap((line) => parseAnchor(line) ?? []),
    }
    const here = ours(verifyBundle(JSON.parse(JSON.stringify(evidence)), means))
    const notOk = here.checks.filter((check) => !check.endsWith(': ok')).sort()
    assert.deepEqual(
      notOk,
      Object.entries(checks)
        .map(([check, result]) => `${check}: ${result}`)
        .sort(),
    )
    assert.deepEqual(told[i], here)
  })
}

test('what policies decided that were only observed is told if it is a decision, and nothing else is', async () => {
  const told = ['allow', 'deny', 'require_approval', 'DENY', 'deny\u001b[2J', '', 7, null, ['deny']]
  const bundles = told.map((observed) => withProof({ grounds: { ...bundle.proof.grounds, observed } }))
  const cases = bundles.map((evidence) => ({ evidence: JSON.stringify(evidence), trust: ownTrust, now }))
  const means = { trust: readTrust(ownTrust), nowMs: Date.parse(now), anchors: [] }
  const here = bundles.map((evidence) => ours(verifyBundle(evidence, means)))
  assert.deepEqual(
    here.map(({ observed }) => observed),
    ['allow', 'deny', 'require_approval', null, null, null, null, null, null],
  )
  assert.deepEqual(await byPython(cases), here)
})

fullTest('the commands end with the same code', () => {
  const dir = temporaryFolder()
  const trust = join(dir, 'trust.json')
  writeFileSync(trust, ownTrust)
  const commands = [
    [process.execPath, fileURLToPath(new URL('../../bin/gate-sidecar.js', import.meta.url)), 'evidence', 'verify'],
    ['python3', '-m', 'gate_sidecar.verify'],
  ] as const
  const env = { ...process.env, PYTHONPATH: fileURLToPath(new URL('../../python', import.meta.url)) }
  for (const [evidence, means, code] of [
    [bundle, ['--trust', trust], 0],
    [{ ...bundle, bundleId: 'bun_1' }, ['--trust', trust], 1],
    [{}, ['--trust', trust], 1],
    [bundle, [], 2],
    [bundle, ['--trust', dir], 3],
  ] as const) {
    const file = join(dir, 'bundle.json')
    writeFileSync(file, JSON.stringify(evidence))
    for (const [program, ...args] of commands)
      assert.equal(spawnSync(program, [...args, file, ...means], { env }).status, code, `${program} ${means.join(' ')}`)
  }
})
