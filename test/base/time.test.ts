import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS, formatTimestamp, parseDate, parseDuration, parseRfc3339, parseTimestamp } from '../../src/base/time.ts'

interface Row {
  text: string
  ms?: number
}

function table(name: string, parse: (text: string) => number | undefined, rows: readonly Row[]): void {
  for (const { text, ms } of rows) {
    test(`${name} ${ms === undefined ? 'refuses' : 'reads'} ${JSON.stringify(text)}`, () => {
      assert.equal(parse(text), ms)
    })
  }
}

const NOON = Date.UTC(2026, 1, 28, 12)

table('parseTimestamp', parseTimestamp, [
  { text: '2026-02-28T12:00:00.000Z', ms: NOON },
  { text: '2024-02-29T00:00:00.000Z', ms: Date.UTC(2024, 1, 29) },
  { text: '1969-12-31T23:59:59.999Z', ms: -1 },
  { text: '2026-02-29T12:00:00.000Z' },
  { text: '2026-04-31T12:00:00.000Z' },
  { text: '2026-13-01T12:00:00.000Z' },
  { text: '2026-00-01T12:00:00.000Z' },
  { text: '2026-02-28T24:00:00.000Z' },
  { text: '2026-02-28T12:60:00.000Z' },
  { text: '2026-06-30T23:59:60.000Z' },
  { text: '2026-02-28T12:00:00Z' },
  { text: '2026-02-28T12:00:00.0000Z' },
  { text: '2026-02-28T12:00:00.000+00:00' },
  { text: '2026-02-28t12:00:00.000z' },
  { text: '2026-02-28 12:00:00.000Z' },
  { text: ' 2026-02-28T12:00:00.000Z' },
  { text: '2026-02-28T12:00:00.000Z\n' },
  { text: '+002026-02-28T12:00:00.000Z' },
  { text: '٢٠٢٦-02-28T12:00:00.000Z' },
  { text: '' },
])

test('parseTimestamp refuses what is not text', () => {
  for (const value of [0, NOON, null, undefined, ['2026-02-28T12:00:00.000Z'], new Date(NOON)]) {
    assert.equal(parseTimestamp(value), undefined)
  }
})

table('parseDate', parseDate, [
  { text: '2026-02-28', ms: Date.UTC(2026, 1, 28) },
  { text: '2000-02-29', ms: Date.UTC(2000, 1, 29) },
  { text: '1900-02-29' },
  { text: '2026-02-30' },
  { text: '2026-2-8' },
  { text: '2026-02-28T00:00:00.000Z' },
  { text: '2026-02' },
  { text: '20260228' },
])

table('parseRfc3339', parseRfc3339, [
  { text: '2026-02-28T12:00:00Z', ms: NOON },
  { text: '2026-02-28t12:00:00z', ms: NOON },
  { text: '2026-02-28T13:30:00+01:30', ms: NOON },
  { text: '2026-02-27T23:00:00-13:00', ms: NOON },
  { text: '2026-02-28T12:00:00-00:00', ms: NOON },
  { text: '2026-02-28T12:00:00.5Z', ms: NOON + 500 },
  { text: '2026-02-28T12:00:00.123999999Z', ms: NOON + 123 },
  { text: '2026-02-28T12:00:00' },
  { text: '2026-02-28' },
  { text: '2026-02-28T12:00Z' },
  { text: '2026-02-28T12:00:00.Z' },
  { text: '2026-02-28T12:00:00.1234567890Z' },
  { text: '2026-02-28T12:00:00,5Z' },
  { text: '2026-02-28T24:00:00Z' },
  { text: '2026-02-28T12:60:00Z' },
  { text: '2016-12-31T23:59:60Z', ms: Date.UTC(2017, 0, 1) },
  { text: '2017-01-01T00:59:60.5+01:00', ms: Date.UTC(2017, 0, 1) + 500 },
  { text: '2016-12-30T23:59:60Z' },
  { text: '2016-12-31T22:59:60Z' },
  { text: '2016-12-31T23:58:60Z' },
  { text: '2016-12-31T23:59:61Z' },
  { text: '2026-02-29T12:00:00Z' },
  { text: '2026-02-28T12:00:00+24:00' },
  { text: '2026-02-28T12:00:00+01:60' },
  { text: '2026-02-28T12:00:00+0100' },
  { text: '2026-02-28T12:00:00+01' },
  { text: '2026-02-28T12:00:00 Z' },
  { text: '2026-02-28 12:00:00Z' },
  { text: '2026-02-28T12:00:00Z ' },
])

table('parseDuration', parseDuration, [
  { text: '1s', ms: 1000 },
  { text: '30m', ms: 1_800_000 },
  { text: '2160h', ms: 90 * DAY_MS },
  { text: '90d', ms: 90 * DAY_MS },
  { text: '7776000s', ms: 90 * DAY_MS },
  { text: '91d' },
  { text: '7776001s' },
  { text: '0s' },
  { text: '01s' },
  { text: '-1s' },
  { text: '+1s' },
  { text: '1.5h' },
  { text: '1e3s' },
  { text: '1w' },
  { text: '1S' },
  { text: '1 s' },
  { text: '1h30m' },
  { text: '30' },
  { text: 's' },
  { text: '9999999999s' },
  { text: '1s\n' },
])

/** Times with four-digit years: 0000 to 9999. */
const within = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 })

test('property: a formatted time is read back, and formats sort as times', () => {
  fc.assert(
    fc.property(within, within, (a, b) => {
      assert.equal(parseTimestamp(formatTimestamp(a)), a)
      assert.equal(parseRfc3339(formatTimestamp(a)), a)
      assert.equal(formatTimestamp(a) < formatTimestamp(b), a < b)
    }),
  )
})

test('property: only the form that formatTimestamp writes is read', () => {
  const near = within.chain((ms) =>
    fc.tuple(fc.constant(formatTimestamp(ms)), fc.nat(23), fc.constantFrom(...'0123456789-:.TZ ')),
  )
  fc.assert(
    fc.property(near, ([text, at, letter]) => {
      const changed = text.slice(0, at) + letter + text.slice(at + 1)
      const ms = parseTimestamp(changed)
      if (ms !== undefined) assert.equal(formatTimestamp(ms), changed)
    }),
    { numRuns: 2000 },
  )
})

test('property: an offset moves the instant by exactly itself', () => {
  const offset = fc.tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59))
  fc.assert(
    fc.property(within, offset, (ms, [sign, hours, minutes]) => {
      const two = (n: number) => String(n).padStart(2, '0')
      const local = formatTimestamp(ms).replace('Z', `${sign}${two(hours)}:${two(minutes)}`)
      const shift = (hours * 60 + minutes) * 60_000
      assert.equal(parseRfc3339(local), sign === '+' ? ms - shift : ms + shift)
    }),
  )
})
