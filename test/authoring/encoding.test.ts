import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeText } from '../../src/authoring/yaml/encoding.ts'
import { HEADER, load, spots } from './sources.ts'

const BIG_ENDIAN = Buffer.from(`\ufeff${HEADER}`, 'utf16le').swap16()
const rows: [name: string, bytes: Uint8Array, reason: RegExp | undefined][] = [
  ['UTF-8', Buffer.from(`\ufeff${HEADER}`), undefined],
  ['UTF-16', Buffer.from(`\ufeff${HEADER}`, 'utf16le'), /it is UTF-16;/],
  ['UTF-16, big end first', BIG_ENDIAN, /it is UTF-16;/],
  ['UTF-16 without BOM', Buffer.from(HEADER, 'utf16le'), /UTF-16 without a BOM/],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), /UTF-32/],
  ['a binary file', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0xff, 0xfe]), /binary file/],
  ['Windows-1252', Buffer.from('caf\u00e9', 'latin1'), /the byte 0xE9 is "é"/],
]
for (const [name, bytes, reason] of rows) {
  test(`encoding: ${name}`, () => {
    const { fault } = decodeText(bytes)
    if (reason === undefined) assert.equal(fault, undefined)
    else assert.match(fault?.reason ?? '', reason)
  })
}

test('encoding: every sequence that is no UTF-8 is found where it begins', () => {
  for (const bytes of [
    [0xc0, 0x80],
    [0xe0, 0x9f, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xe2, 0x82],
    [0x80],
  ]) {
    const { fault } = decodeText(Buffer.from([0x61, 0x0a, 0xc3, 0xa9, ...bytes]))
    assert.deepEqual([fault?.place?.line, fault?.place?.column], [2, 2], bytes.join())
  }
})

test('encoding: what a guess at its bytes makes of a text is no further fault', () => {
  const text = `${HEADER}timezone: Z\u00fcrich\ntimezon: UTC\n`
  const { diagnostics } = load({ 'a.yaml': Buffer.from(text, 'latin1') })
  assert.deepEqual(spots(diagnostics), [
    ['GATE1002', 3, 12],
    ['GATE1101', 4, 1],
  ])
})
