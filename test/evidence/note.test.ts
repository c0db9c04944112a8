import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCheckpoint } from '../../src/audit/checkpoint.ts'
import { encodeBase64 } from '../../src/base/bytes.ts'
import { verifySignature } from '../../src/evidence/ed25519.ts'
import { formatNote, keyIdOf, parseNote, parseVkey, signersOf, vkeyOf } from '../../src/evidence/note.ts'
import { publicKeyOf, signatureOf } from '../../src/evidence/signature.ts'
import { openCheckpoint } from '../../src/evidence/trust.ts'
import { aPrivateKey, pin, signCheckpoint } from './forge.ts'

// golang.org/x/mod/sumdb/note, its documented example.
const QUOTE = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const NEUMANN = { name: 'PeterNeumann', publicKey: 'GlzZBxQ8OExB6DDFvOEqqIF+xWSaqr8sMTiLNbLXRNY=' }
const QUOTED = `${QUOTE}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`
// c2sp.org/tlog-checkpoint, its example.
const SOFA = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`

test('a note of another implementation is read and verified', () => {
  assert.equal(keyIdOf(NEUMANN), 'c74f20a3')
  assert.equal(vkeyOf(NEUMANN), 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
  const note = parseNote(QUOTED)
  assert.equal(note?.text, QUOTE)
  assert.deepEqual(note && signersOf(note, [NEUMANN], verifySignature), [NEUMANN])
  const [signature] = note?.signatures ?? []
  assert.equal(formatNote(QUOTE, NEUMANN, signature?.signature ?? ''), QUOTED)
})

test('a checkpoint of another log is read', () => {
  const note = parseNote(SOFA)
  assert.deepEqual(
    note?.signatures.map(({ name, keyId }) => [name, keyId]),
    [['example.com/behind-the-sofa', '033de0ae']],
  )
  const { root, ...said } = parseCheckpoint(note?.text ?? '') ?? assert.fail('no checkpoint')
  assert.deepEqual(said, { origin: 'example.com', chain: 'behind-the-sofa', size: 20852163 })
  assert.equal(encodeBase64(root), 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=')
})

const key = aPrivateKey()
const ours = pin('gate.example', key)
const theirs = { name: 'witness.example', publicKey: publicKeyOf(aPrivateKey()) }
const sign = (text: string, privateKey = key): string => signatureOf(Buffer.from(text), privateKey)
const line = (note: string): string => note.slice(note.indexOf('\n— ') + 1)
const TEXT = 'one\n\ntwo\n'
const good = formatNote(TEXT, ours, sign(TEXT))
const stranger = line(formatNote(TEXT, theirs, sign(TEXT, aPrivateKey())))
const ourLine = line(good)
const encoded = ourLine.split(' ')[2]?.trim() ?? ''

const MALFORMED: [name: string, note: string][] = [
  ['nothing', ''],
  ['no signature', `${TEXT}\n`],
  ['no empty line', `one\n${ourLine}`],
  ['no text', `\n${ourLine}`],
  ['no line feed at the end', good.slice(0, -1)],
  ['an empty line at the end', `${good}\n`],
  ['a carriage return', good.replace('one\n', 'one\r\n')],
  ['a tabulator', good.replace('one', 'o\te')],
  ['a zero byte', good.replace('one', 'o\0e')],
  ['a lone surrogate', good.replace('one', 'o\ud800e')],
  ['a hyphen for the dash', good.replace('— ', '- ')],
  ['two spaces after the dash', good.replace('— ', '—  ')],
  ['a space at the end of the line', good.replace(/\n$/, ' \n')],
  ['a name with a plus', good.replace('— gate', '— ga+te')],
  ['a name with a space', good.replace('— gate', '— ga te')],
  ['a name with a space of Unicode', good.replace('— gate', '— ga\u2003te')],
  ['no name', good.replace('gate.example ', '')],
  ['base64 without padding', good.replace(/=+\n$/, '\n')],
  ['base64url', good.replace(encoded, encoded.replace(/[A-Za-z]/, '_'))],
  ['a key id and no signature', good.replace(encoded, encodeBase64(Buffer.alloc(4)))],
  ['a line that is no signature', `${good}comment\n`],
  ['17 signatures', `${good}${stranger.repeat(16)}`],
  ['16 KiB and a byte', formatNote(`${'x'.repeat(16_384)}\n`, ours, sign(TEXT))],
  ['16 KiB and a byte, in fewer letters', formatNote(`${'€'.repeat(5500)}\n`, ours, sign(TEXT))],
]
for (const [name, note] of MALFORMED) {
  test(`not a signed note: ${name}`, () => {
    assert.equal(parseNote(note) === undefined, true)
    assert.notEqual(note, good)
  })
}

const SIGNED: [name: string, note: string, signers: (typeof ours)[]][] = [
  ['as it was signed', good, [ours]],
  ['with 15 signatures of strangers', `${good}${stranger.repeat(15)}`, [ours]],
  ['after a signature of a stranger', `${TEXT}\n${stranger}${ourLine}`, [ours]],
  ['with another text', good.replace('two', 'twe'), []],
  ['with a signature of a stranger alone', `${TEXT}\n${stranger}`, []],
  ['with another name', good.replace('— gate.example', '— gate.example2'), []],
  ['with a good signature and one that does not fit', `${good}${line(formatNote(TEXT, ours, sign('other')))}`, []],
  ['with a signature that is too short', formatNote(TEXT, ours, encodeBase64(Buffer.alloc(63))), []],
  ['with one that is too long', formatNote(TEXT, ours, encodeBase64(Buffer.alloc(65))), []],
]
for (const [name, note, signers] of SIGNED) {
  test(`a note ${name}: signed by ${signers.length}`, () => {
    const parsed = parseNote(note)
    assert.ok(parsed !== undefined)
    assert.deepEqual(signersOf(parsed, [ours], verifySignature), signers)
  })
}

const root = new Uint8Array(32).fill(7)
const checkpoint = { origin: 'gate.example', chain: 'acme/live', size: 3, root }
const [LOG, SIZE, ROOT] = ['gate.example/acme/live', '3', encodeBase64(root)]
const noteOf = (...lines: (string | undefined)[]): string => {
  const text = lines.map((one) => `${one}\n`).join('')
  return formatNote(text, ours, sign(text))
}
const CHECKPOINTS: [name: string, note: string, isGood: boolean][] = [
  ['as it is made', signCheckpoint(checkpoint, key), true],
  ['made by hand', noteOf(LOG, SIZE, ROOT), true],
  ['of nothing', noteOf(LOG, '0', ROOT), true],
  ['under the name of the chain', signCheckpoint(checkpoint, key, LOG), false],
  ['with an extension line', noteOf(LOG, SIZE, ROOT, 'more'), false],
  ['without a root', noteOf(LOG, SIZE), false],
  ['with a leading zero', noteOf(LOG, '03', ROOT), false],
  ['with a sign', noteOf(LOG, '+3', ROOT), false],
  ['with a size of hexadecimal digits', noteOf(LOG, '0x3', ROOT), false],
  ['with a size beyond 2^53', noteOf(LOG, '9007199254740992', ROOT), false],
  ['with a root of 31 bytes', noteOf(LOG, SIZE, encodeBase64(root.subarray(1))), false],
  ['with a root in hexadecimal', noteOf(LOG, SIZE, Buffer.from(root).toString('hex')), false],
  ['with a root without padding', noteOf(LOG, SIZE, ROOT.replace('=', '')), false],
  ['without a chain', noteOf('gate.example', SIZE, ROOT), false],
  ['without an origin', noteOf('/acme/live', SIZE, ROOT), false],
  ['of another origin', noteOf('gate.elsewhere/acme/live', SIZE, ROOT), false],
  ['with a space after the size', noteOf(LOG, '3 ', ROOT), false],
]
for (const [name, note, isGood] of CHECKPOINTS) {
  test(`a checkpoint ${name} is ${isGood ? 'opened' : 'none'}`, () => {
    assert.equal(openCheckpoint(note, [ours]) !== undefined, isGood)
  })
}

const vkey = vkeyOf(ours)
const weak = (hex: string): string => vkeyOf({ name: 'gate.example', publicKey: encodeBase64(Buffer.from(hex, 'hex')) })
const VKEYS: [name: string, text: string, isGood: boolean][] = [
  ['as it is made', vkey, true],
  ['with another id', vkey.replace(keyIdOf(ours), '00000000'), false],
  [
    'with the id in capitals',
    vkey.replace(
      keyIdOf(ours),
      keyIdOf(ours)
        .toUpperCase()
        .replace(/^[0-9]*$/, 'AAAAAAAA'),
    ),
    false,
  ],
  ['under another name', vkey.replace('gate.example', 'gate.exampla'), false],
  ['with a line feed after it', `${vkey}\n`, false],
  ['with a space before it', ` ${vkey}`, false],
  ['with padding that it does not need', `${vkey}=`, false],
  ['of another type', vkeyOfType(0x02), false],
  ['of 31 bytes', vkey.slice(0, -4), false],
  ['of a name with capitals', vkeyOf({ ...ours, name: 'Gate.example' }), false],
  ['of a name with a slash', vkeyOf({ ...ours, name: 'gate.example/acme' }), false],
  ['of a name that is too long', vkeyOf({ ...ours, name: 'g'.repeat(65) }), false],
  ['of the point of order 1', weak(`01${'00'.repeat(31)}`), false],
  ['of the point of order 2', weak(`ec${'ff'.repeat(30)}7f`), false],
  ['of a point of order 4', weak('00'.repeat(32)), false],
  ['of a point of order 8', weak('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'), false],
  ['of the point of order 1, not canonical', weak(`ee${'ff'.repeat(30)}7f`), false],
  ['of y = p, not canonical', weak(`ed${'ff'.repeat(30)}7f`), false],
  ['of mixed order', weak('cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d'), false],
  ['of no point', weak(`02${'00'.repeat(31)}`), false],
]
for (const [name, text, isGood] of VKEYS) {
  test(`a vkey ${name} is ${isGood ? 'read' : 'refused'}`, () => {
    assert.deepEqual(parseVkey(text), isGood ? { name: 'gate.example', publicKey: ours.publicKey } : undefined)
  })
}

function vkeyOfType(type: number): string {
  const bytes = Buffer.from(vkey.split('+').slice(2).join('+'), 'base64')
  bytes[0] = type
  return `${vkey.split('+').slice(0, 2).join('+')}+${encodeBase64(bytes)}`
}
