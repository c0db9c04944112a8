import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyEvidence } from '../../src/client/verify/verify.ts'
import { NO_TRUST } from '../../src/evidence/trust.ts'
import { verifyExport } from '../../src/evidence/verify-export.ts'

/* A text that cannot be read as evidence: the reason says what is wrong with it. */

async function* noLines(): AsyncGenerator<Uint8Array> {
  yield* []
}

const CASES: readonly (readonly [what: string, text: string, reason: RegExp])[] = [
  ['a byte order mark', '\ufeff{}', /byte order mark \(at offset 0\)/],
  ['a member twice', '{"bundleId":"a","bundleId":"b"}', /Duplicate key "bundleId" \(at offset 16\)/],
  ['a text that is cut off', '{"bundleId":"a","vers', /The string does not end/],
  ['a value that is cut off', '{"bundleId":', /Unexpected end of the JSON text/],
  ['no JSON', 'bundle', /Unexpected character/],
  ['too many levels', '['.repeat(65), /Nesting deeper than 64 levels/],
]
for (const [what, text, reason] of CASES) {
  test(`${what}: the reason says so, of a bundle and of a manifest`, async () => {
    const manifest = Buffer.from(text)
    const none = { manifest, fileOf: async () => undefined, lines: noLines, lane: () => undefined }
    const results = [
      verifyEvidence(text),
      verifyEvidence(manifest),
      await verifyExport(none, { trust: NO_TRUST, nowMs: Date.now() }),
    ]
    for (const { verdict, checks } of results) {
      assert.equal(verdict, 'invalid')
      assert.deepEqual(
        checks.map(({ check }) => check),
        ['form'],
      )
      assert.match(checks[0]?.why ?? '', reason)
    }
  })
}
