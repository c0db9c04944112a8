import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseGlob } from '../../src/base/glob.ts'
import type { HistoryChoice } from '../../src/replay/decide.ts'
import type { ReplayReport } from '../../src/replay/report.ts'
import { begin, live } from './day.ts'
import { changesIn, dayDraft, replayed } from './support.ts'

const day = await begin({ after })
await live(day)
const { store } = day.gate.server

type Edit = readonly [from: string, to: string]

interface Case {
  name: string
  edits: readonly Edit[]
  history?: HistoryChoice
  wanted: Record<string, number>
}

const MORE: Edit = ['value: 2}', 'value: 3}']
const FEWER: Edit = ['value: 2}', 'value: 1}']
const LESS: Edit = ['value: 100}', 'value: 15}']
const LATE: Edit = ['value: 6}', 'value: 13}']

const CASES: Case[] = [
  // Ann and Bob transfer 10 and 20 each, then 30 in vain; later 150, which is approved, 200, which is rejected, and 1, which are held.
  { name: 'three transfers an hour: the third ones fit the sum of then', edits: [MORE], wanted: { 'deny->allow': 2 } },
  {
    name: 'one transfer an hour: an approved one counts',
    edits: [FEWER],
    wanted: { 'allow->deny': 2, 'require_approval->deny': 1 },
  },
  {
    name: 'a smaller sum, where those count that were allowed then: the third transfers are denied as before',
    edits: [LESS],
    wanted: { 'allow->require_approval': 3 },
  },
  {
    name: 'a smaller sum, where those count that the draft allows: what it holds makes no third transfer',
    edits: [LESS],
    history: 'draft',
    wanted: { 'allow->require_approval': 3, 'deny->require_approval': 2 },
  },
  {
    name: 'sessions by another fact are worked out from the requests',
    edits: [
      ['fact: context.session, taken', 'fact: context.run, taken'],
      ['context.session: {type: string}', 'context.run: {type: string}'],
    ],
    wanted: { 'allow->deny': 2 },
  },
  {
    name: 'an approval that meets the terms of the draft decides',
    edits: [['risk:', 'approval: {expiresIn: 1h, selfApproval: true}\nrisk:']],
    wanted: {},
  },
  {
    name: 'an approval below the quorum of the draft does not, a rejection does',
    edits: [['risk:', 'approval: {quorum: 2}\nrisk:']],
    wanted: { 'allow->require_approval': 1 },
  },
  {
    name: 'an approval by nobody of the groups of the draft does not decide',
    edits: [['risk:', 'approval: {approvers: [finance]}\nrisk:']],
    wanted: { 'allow->require_approval': 1 },
  },
  {
    name: 'votes on a request that binds other members do not decide',
    edits: [['risk:', 'approval: {unbound: [context.amount]}\nrisk:']],
    wanted: { 'allow->require_approval': 1, 'deny->require_approval': 1 },
  },
  {
    name: 'votes do not matter where the draft allows',
    edits: [
      [
        '{id: limit, actions: ["transfer.*"], effect: require_approval',
        '{id: limit, actions: ["transfer.*"], effect: allow',
      ],
      ['weight: 40', 'weight: 20'],
    ],
    wanted: { 'require_approval->allow': 4, 'deny->allow': 1 },
  },
  {
    name: 'time facts are those of then',
    edits: [LATE],
    wanted: { 'allow->require_approval': 5 },
  },
]

for (const { name, edits, history = 'recorded', wanted } of CASES) {
  test(name, async () => {
    const report = await replayed(store, dayDraft(...edits), { history })
    assert.deepEqual(changesIn(report), wanted)
    assertSums(report)
  })
}

/** Everything that a report counts adds up. */
function assertSums(report: ReplayReport): void {
  const { decided, stopped, matrix, kinds, changes, unknown } = report
  assert.deepEqual([decided + unknown.erased + unknown.pruned, stopped], [21, 1])
  const sum = (counts: readonly { count: number }[]): number => counts.reduce((all, { count }) => all + count, 0)
  assert.equal(sum(matrix), decided)
  const changed = sum(matrix.filter(({ from, to }) => from !== to))
  assert.deepEqual(
    [changes.length, sum(kinds.filter(({ from, to }) => from.decision !== to.decision))],
    [changed, changed],
  )
}

test('the report says which rules, factors and scores change, and which facts are newly missing', async () => {
  const draft = dayDraft(
    ['weight: 40', 'weight: 60'],
    ['context.session: {type: string}', 'context.session: {type: string}, context.to: {type: string}'],
    ['{id: leak,', '{id: leak2,'],
    ['fact: time.hour, operator: lessThan, value: 6', 'fact: context.to, operator: equal, value: x'],
  )
  const report = await replayed(store, draft)
  assert.deepEqual(
    report.rules
      .filter(({ before, after }) => before !== after)
      .map(({ rule, before, after }) => [rule, before, after]),
    [
      ['all', 11, 6],
      ['leak', 1, 0],
      ['leak2', 0, 1],
      ['night', 0, 5],
    ],
  )
  const [amount] = report.factors
  assert.ok(amount)
  assert.equal(amount.changed, report.scores.higher)
  assert.equal(Math.round(amount.after * 20), Math.round(amount.before * 30))
  assert.deepEqual(
    report.unevaluable.facts.map(({ fact, of, count }) => [fact, of, count]),
    [['context.to', ['night'], 6]],
  )
  const [held, renamed] = report.kinds
  assert.deepEqual([held?.from.rule, held?.to.rule, held?.count], ['all', 'night', 5])
  assert.deepEqual(
    [renamed?.from, renamed?.to.rule, renamed?.count],
    [{ decision: 'deny', decidedBy: 'deny_rule', rule: 'leak' }, 'leak2', 1],
  )
  assert.deepEqual(
    held?.first.after?.rules.map(({ id, decides }) => [id, decides]),
    [
      ['night', true],
      ['all', false],
      ['leak2', false],
    ],
  )
})

test('a range, an action and a sample are decided again alone, with all before them', async () => {
  const all = await replayed(store, dayDraft(LATE))
  const action = parseGlob('mail.*')
  const mails = await replayed(store, dayDraft(LATE), { action })
  assert.deepEqual([changesIn(mails), mails.decided], [changesIn(all), 6])
  const ids = all.changes.map(({ id }) => id)
  const fromMs = Date.parse(all.changes[2]?.timestamp ?? '')
  const late = await replayed(store, dayDraft(LATE), { fromMs })
  const early = await replayed(store, dayDraft(LATE), { toMs: fromMs })
  const parts = [early, late].map(({ changes }) => changes.map(({ id }) => id))
  assert.deepEqual(parts, [ids.slice(0, 2), ids.slice(2)])
  const { decided } = await replayed(store, dayDraft(), { sample: 8 })
  assert.ok(decided > 3 && decided <= 8, `${decided}`)
  assert.equal((await replayed(store, dayDraft(), { sample: 500 })).decided, 21)
})
