import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { filled, type Grounds, templateOf, varyingOf } from '../../src/audit/grounds.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { formatTimestamp } from '../../src/base/time.ts'
import { runs } from '../tier.ts'

/** Texts that look like what a template is cut at. */
const text = fc.oneof(
  fc.constantFrom('"agent":null', '"session":', 'null', '\\', '\\"taken":', '","taken":null', 'ü☃\u{1f4a9}', ''),
  fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed()),
)
const maybe = fc.option(text)
const action = 'pay"session":null.now'
const grounds: fc.Arbitrary<Grounds> = fc.record({
  approvalId: maybe,
  caller: fc.record({ agent: text, keyId: text, roles: fc.array(text, { maxLength: 3 }) }),
  decidedBy: text,
  domain: maybe,
  evaluatedAt: fc.integer({ min: 0, max: 4e12 }).map(formatTimestamp),
  historyEnd: fc.option(fc.nat()),
  planValidated: fc.boolean(),
  policyDigest: maybe,
  reason: text,
  retry: text,
  rule: maybe,
  session: maybe,
  taken: fc.constantFrom(null, action),
  unevaluable: fc.array(fc.record({ kind: text, name: text, facts: fc.array(text, { maxLength: 2 }) }), {
    maxLength: 2,
  }),
})

test('a template and what varies make the text of grounds again, whatever is in it', () => {
  fc.assert(
    fc.property(grounds, (made) => {
      const json = canonicalJson(made)
      const varying = varyingOf(made, action)
      assert.equal(filled(templateOf(json, varying, action), varying, action), json)
    }),
    { numRuns: runs(500) },
  )
})

test('grounds that differ in what varies alone have one template', () => {
  fc.assert(
    fc.property(grounds, grounds, (one, other) => {
      const { approvalId, evaluatedAt, historyEnd, session, taken, caller } = other
      const both = [
        one,
        { ...one, approvalId, evaluatedAt, historyEnd, session, taken, caller: { ...one.caller, agent: caller.agent } },
      ]
      const [first, second] = both.map((made) => templateOf(canonicalJson(made), varyingOf(made, action), action))
      assert.equal(first, second)
    }),
    { numRuns: runs(300) },
  )
})

const [made] = fc.sample(grounds, { numRuns: 1, seed: 1 })
const REFUSED: [what: string, from: RegExp, to: string][] = [
  ['a text for the agent', /"agent":null/, '"agent":"bot"'],
  ['a text for the session', /"session":null/, '"session":"s"'],
  ['no place for the agent', /"agent":null,/, ''],
]
for (const [what, from, to] of REFUSED) {
  test(`a template with ${what} is refused: what is counted is what is shown`, () => {
    assert.ok(made)
    const plain = { ...made, reason: '', caller: { agent: 'other', keyId: '', roles: [] } }
    const varying = varyingOf(plain, action)
    const template = templateOf(canonicalJson(plain), varying, action).replace(from, to)
    assert.throws(() => filled(template, varying, action), TypeError)
  })
}
