import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cidrContains, parseCidr } from '../../src/policies/cidr.ts'

const isIn = (range: string, address: string): boolean | undefined =>
  cidrContains([parseCidr(range) ?? assert.fail(`${range} is a range`)], address)

/** Texts by which an IPv4 address is reached; some can name it in hexadecimal alone. */
const FORMS: readonly ((address: string) => string)[] = [
  (address) => address,
  (address) => `::ffff:${address}`,
  (address) => `0:0:0:0:0:FFFF:${hex(address)}`,
  (address) => `::${address}`,
  (address) => `::ffff:0:${address}`,
  (address) => `64:ff9b::${address}`,
  (address) => `64:ff9b:1::${address}`,
  (address) => `64:ff9b:1:fffe::${address}`,
  (address) => `2001:0:4136:e378:8000:63bf:${inverted(address)}`,
  (address) => `fe80::5efe:${address}`,
  (address) => `2001:db8::200:5efe:${address}`,
  (address) => `2002:${hex(address)}::`,
  (address) => `2002:${hex(address)}:1:2:3:4:5`,
]

function hex(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(':')
}

function inverted(address: string): string {
  return hex(
    address
      .split('.')
      .map((part) => 255 - Number(part))
      .join('.'),
  )
}

const address = fc
  .tuple(fc.integer({ min: 1, max: 255 }), fc.nat(255), fc.nat(255), fc.nat(255))
  .map((parts) => parts.join('.'))

test('an IPv4 address is in a range however it is written, and its range as well', () => {
  fc.assert(
    fc.property(address, address, fc.nat(32), (one, other, prefix) => {
      for (const near of [one, other]) {
        const expected = isIn(`${one}/${prefix}`, near)
        for (const form of FORMS) assert.equal(isIn(`${one}/${prefix}`, form(near)), expected, form(near))
        for (const mapped of [`::ffff:${one}`, `::ffff:${hex(one)}`])
          for (const form of FORMS) assert.equal(isIn(`${mapped}/${prefix + 96}`, form(near)), expected, form(near))
      }
    }),
  )
})

const CASES: readonly (readonly [range: string, address: string, expected: boolean | undefined])[] = [
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['::ffff:10.0.0.0/104', '11.1.2.3', false],
  ['10.0.0.0/8', '64:ff9b::10.0.0.1', true],
  ['10.0.0.0/8', '::10.0.0.1', true],
  ['10.0.0.0/8', '2002:0a00:1::', true],
  ['10.0.0.0/8', '2002:0b00:1::', false],
  ['10.0.0.0/8', '64:ff9c::10.0.0.1', false],
  ['10.0.0.0/8', '2003:0a00:1::', false],
  ['10.0.0.0/8', '64:ff9b:2::10.0.0.1', false],
  // The example of RFC 4380, section 4.
  ['192.0.2.45/32', '2001:0:4136:e378:8000:63bf:3fff:fdd2', true],
  ['10.0.0.0/8', '2001:0:4136:e378:8000:63bf:a00:1', false],
  ['10.0.0.0/8', '2001:1::f5ff:fffe', false],
  ['10.0.0.0/8', 'fe80::100:5efe:10.0.0.1', false],
  ['fe80::/10', 'fe80::5efe:10.0.0.1', true],
  ['10.0.0.0/8', '1::10.0.0.1', false],
  // What reaches IPv4 is an address of its own as well; what is mapped is not.
  ['64:ff9b::/96', '64:ff9b::10.0.0.1', true],
  ['64:ff9b::/96', '10.0.0.1', false],
  ['2002::/16', '2002:0a00:1::', true],
  ['2002::/16', '10.0.0.1', false],
  ['::/0', '2002:0a00:1::', true],
  ['::/0', '10.0.0.1', false],
  ['::/0', '::ffff:10.0.0.1', false],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['0.0.0.0/8', '::1', false],
  ['0.0.0.0/8', '::', false],
  ['::1/128', '::1', true],
  ['::1/128', '0.0.0.1', false],
  ['10.0.0.0/8', '::ffff:010.0.0.1', undefined],
  ['10.0.0.0/8', 'fe80::1%eth0', undefined],
  ['10.0.0.0/8', '10.0.0.1/32', undefined],
]
for (const [range, text, expected] of CASES) {
  test(`${text} is ${expected === undefined ? 'no address' : expected ? '' : 'not '}in ${range}`, () => {
    assert.equal(isIn(range, text), expected)
  })
}
