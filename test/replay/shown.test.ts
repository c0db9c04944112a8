import assert from 'node:assert/strict'
import { test } from 'node:test'
import { junitOf } from '../../src/replay/junit.ts'
import { changeLimitOf, limitsOf } from '../../src/replay/limits.ts'
import { markdownOf } from '../../src/replay/markdown.ts'
import type { Change, Kind, ReplayReport } from '../../src/replay/report.ts'
import type { Limited } from '../../src/replay/shown.ts'

const CHANGE: Change = {
  ...{ id: 'dec_1', timestamp: '2026-01-05T12:00:00.000Z', action: 'mail.send', agent: 'ann', assumed: false },
  from: { decision: 'allow', decidedBy: 'allow_rule', rule: 'all', reason: 'R.', riskScore: 3 },
  to: { decision: 'deny', decidedBy: 'deny_rule', rule: 'leak', reason: 'S.', riskScore: 5 },
  ...{ before: null, after: null },
}
const KIND: Kind = {
  from: { decision: 'allow', decidedBy: 'allow_rule', rule: 'all' },
  to: { decision: 'deny', decidedBy: 'deny_rule', rule: 'leak' },
  ...{ count: 3, first: CHANGE },
}
const REPORT: ReplayReport = {
  ...{ decided: 200, stopped: 1, unknown: { erased: 4, pruned: 1 }, assumed: 2 },
  matrix: [
    { from: 'allow', to: 'allow', count: 190 },
    { from: 'allow', to: 'deny', count: 3 },
    { from: 'deny', to: 'allow', count: 2 },
    { from: 'none', to: 'deny', count: 5 },
  ],
  ...{ kinds: [KIND], kindsLeftOut: 0, rules: [], factors: [], changes: [CHANGE], changesLeftOut: 0 },
  scores: { higher: 3, lower: 0, same: 197, meanBefore: 1, meanAfter: 2 },
  unevaluable: { decisions: 7, facts: [{ fact: 'context.to', of: ['leak'], count: 7, first: 'dec_1' }] },
}

const LIMITS: [text: string, count: number, exceeded: boolean][] = [
  ['allow->deny>0', 3, true],
  ['allow->deny>3', 3, false],
  ['allow -> deny > 1%', 3, true],
  ['allow->deny>1.5%', 3, false],
  ['*->allow>1', 2, true],
  ['allow->*>2', 3, true],
  ['*->*>5', 5, false],
  ['none->deny>4', 5, true],
  ['changed>4', 5, true],
  ['unevaluable>6', 7, true],
  ['unknown>4', 5, true],
  ['require_approval->allow>0', 0, false],
]
for (const [text, count, exceeded] of LIMITS) {
  test(`the limit ${text} counts ${count}${exceeded ? ', and is exceeded' : ''}`, () => {
    const limit = changeLimitOf(text)
    assert.ok(limit)
    assert.deepEqual(limitsOf([limit], REPORT), [{ limit: text, count, exceeded }])
  })
}

const NO_LIMITS = [
  '',
  'allow',
  'allow->deny',
  'allow->deny>',
  'allow->deny>-1',
  'allow->deny>1.5',
  'allow->none>0',
  'alow->deny>0',
  'other>1',
  'changed>1e3',
  `changed>${'9'.repeat(13)}`,
]
for (const text of NO_LIMITS) {
  test(`${text === '' ? 'the empty text' : text} is no limit`, () => assert.equal(changeLimitOf(text), undefined))
}

const HOSTILE = '`](javascript:1)|<b>&\u202e\u001b[31m'
const limit = changeLimitOf('allow->deny>0')
const shown = (report: ReplayReport): Limited => ({
  ...{ trail: 'acme/live', from: '2026-01-05T00:00:00.000Z', to: null, policyDigest: 'sha256:ab', history: 'recorded' },
  ...{ report, limits: limit === undefined ? [] : limitsOf([limit], report) },
})

test('Markdown has the matrix, the kinds and the limits', () => {
  assert.equal(
    markdownOf([shown(REPORT)]),
    `### Replay of \`acme/live\`

\`sha256:ab\` decides 5 of 200 requests otherwise (2.5 %), from 2026-01-05T00:00:00.000Z to the last, with the history of the record.
- 1 denied by a stop, which no policy changes
- 4 unknown: the request, or one that its policies count, has been erased
- 1 unknown: its policies count actions of a time that has been pruned, or that was not read
- 2 decided by what is left of a session that may have begun before it

| then, by the draft → | allow | require_approval | deny |
| --- | ---: | ---: | ---: |
| allow | 190 | 0 | 3 |
| deny | 2 | 0 | 0 |
| none | 0 | 0 | 5 |

| requests | change | first |
| ---: | --- | --- |
| 3 | \`allow (rule all)\` → \`deny (rule leak)\` | \`dec_1\` \`mail.send\` |

- ❌ \`allow->deny>0\`: 3

`,
  )
})

test('JUnit XML has a case for each limit, and says what changes', () => {
  assert.equal(
    junitOf([shown(REPORT)]),
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="replay of acme/live" tests="1" failures="1" errors="0" skipped="0">
    <testcase classname="replay of acme/live" name="allow-&gt;deny&gt;0">
      <failure message="allow-&gt;deny&gt;0: 3">5 of 200 requests change
3 allow (rule all) → deny (rule leak), first dec_1</failure>
    </testcase>
    <system-out>5 of 200 requests change
3 allow (rule all) → deny (rule leak), first dec_1</system-out>
  </testsuite>
</testsuites>
`,
  )
})

test('names of others break out of neither form', () => {
  const first = { ...CHANGE, id: HOSTILE, action: HOSTILE }
  const hostile = shown({ ...REPORT, kinds: [{ ...KIND, from: { ...KIND.from, rule: HOSTILE }, first }] })
  const [markdown, xml] = [markdownOf([hostile]), junitOf([hostile])]
  const row = markdown.split('\n').find((line) => line.startsWith('| 3 |')) ?? ''
  const outside = row.replaceAll(/`[^`]*`/g, '')
  assert.equal(outside, '| 3 |  →  |   |')
  assert.equal(row.split(/(?<!\\)\|/).length, 5, row)
  assert.doesNotMatch(xml, /<b>/)
  for (const text of [markdown, xml]) for (const hidden of ['\u202e', '\u001b']) assert.ok(!text.includes(hidden))
})
