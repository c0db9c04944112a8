import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Approval } from '../../src/approvals/approval.ts'
import { approvalView } from '../../src/approvals/view.ts'
import { approvalLines, approvalTable } from '../../src/cli/approvals/lines.ts'
import { approvalOf, keyOf, keysOf, voteBy } from '../approvals/records.ts'
import { at, stopOf, T0 } from '../killswitch/stops.ts'
import { plainText } from './io.ts'

const KEYS = keysOf(
  keyOf('key_b'),
  keyOf('k1', { identity: 'ann' }),
  keyOf('k2', { identity: 'ann' }),
  keyOf('gone', { revokedAt: at(2) }),
)
const viewOf = (approval: Approval, nowMs = T0) => approvalView(approval, { switches: [], keys: KEYS }, nowMs, true)

function shown(change: Partial<Approval>, stops = [] as ReturnType<typeof stopOf>[]): string {
  const approval = approvalOf(change)
  return plainText(approvalLines(viewOf(approval), approval, stops, T0)).join('\n')
}

const TIMES: [leftMs: number, text: string][] = [
  [0, '-'],
  [999, '0s'],
  [1000, '1s'],
  [59_999, '59s'],
  [60_000, '1m 0s'],
  [3_600_000, '1h 0m'],
  [86_400_000 * 12 + 3_600_000 * 3 + 1, '12d 3h'],
]

for (const [leftMs, text] of TIMES) {
  test(`an approval with ${leftMs} ms left has ${text} left`, () => {
    const view = viewOf(approvalOf({ expiresAt: new Date(T0 + leftMs).toISOString() }))
    const [, row] = plainText(approvalTable([view], T0))
    assert.match(row ?? '', new RegExp(` {2}${text}$`))
  })
}

const SHOWN: [name: string, text: string, wanted: RegExp][] = [
  [
    'who may vote',
    shown({ approvers: [['treasury', 'board'], ['legal']] }),
    /with keys of treasury or board, and legal\n/,
  ],
  ['a factor', shown({ factors: [{ name: 'amount', weight: 30, contribution: 15 }] }), /\n +amount: 15 of 30\n/],
  [
    'what is not bound',
    shown({ unbound: ['context.id', 'plan.note'] }),
    /not bound +context\.id.*\nnot bound +plan\.note/,
  ],
  ['a claimed name', shown({ votes: [{ ...voteBy('key_b'), approverId: 'bob' }] }), /\n +key_b, as bob approved at /],
  ['one voter twice', shown({ quorum: 2, votes: [voteBy('k1', 'ann'), voteBy('k2', 'ann')] }), /votes +1 of 2\n/],
  [
    'a vote of a key that was revoked',
    shown({ quorum: 2, votes: [voteBy('key_b'), voteBy('gone')] }),
    /votes +1 of 2\n +key_b approved at \S+\n +gone approved at \S+, which no longer counts\n/,
  ],
  [
    'the votes that an approval was used with, whatever became of their keys',
    shown({ status: 'consumed', votes: [voteBy('gone')] }),
    /votes +1 of 1\n +gone approved at \S+Z\n/,
  ],
  [
    'a rejection, which is no vote for it',
    shown({ status: 'rejected', votes: [voteBy('a'), { ...voteBy('b'), comment: 'no' }] }),
    /votes +1 of 1\n +a approved at [^\n]+\n +b rejected at \S+: no\n/,
  ],
  ['a stop over the action', shown({}, [stopOf({})]), /^apr_1 {2}pending\nstopped +Kill switch L3/],
  ['text of an agent on one line', shown({ reason: 'a\nrule  forged' }), /\nreason +a\\u\{a\}rule {2}forged\n/],
]

for (const [name, text, wanted] of SHOWN) test(`shows ${name}`, () => assert.match(text, wanted))

test('a stop over what is decided is not told', () => {
  assert.doesNotMatch(shown({ status: 'consumed' }, [stopOf({})]), /stopped/)
})
