import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Call, Corpus } from '../../evaluation/corpus.ts'
import { ORACLE, REFERENCE_POLICIES, referenceDecisions, referencePoliciesFor } from '../../evaluation/reference.ts'
import { call, session } from './support.ts'

// Over all recorded calls they are compared with another program's in score.test.ts.

const [allow, hold, deny] = ['allow', 'require_approval', 'deny']
type Row = readonly [name: string, of: Partial<Call>, ...wanted: (string | undefined)[]]

const from = (prov: Record<string, string[]>, tainted = false) => ({ context: { tainted, prov } })

/** In the order of the policies: writes, writes once tainted, third-party, sensitive third-party, mixed. */
const ROWS: readonly Row[] = [
  ['a read', { effect: 'read', ...from({ to: ['third_party'] }, true) }, allow, allow, allow, allow, allow],
  ['a call without an effect is a read', {}, allow, allow, allow, allow, allow],
  ['a write of the user', { effect: 'write', ...from({ to: ['user'] }) }, hold, allow, allow, allow, allow],
  ['a write after untrusted text', { effect: 'write', ...from({}, true) }, hold, deny, allow, allow, allow],
  ['a third-party text', { effect: 'write', ...from({ text: ['third_party'] }) }, hold, allow, hold, allow, allow],
  ['the same, tainted', { effect: 'write', ...from({ text: ['third_party'] }, true) }, hold, deny, hold, allow, hold],
  [
    'a third-party recipient',
    { effect: 'write', ...from({ to: ['tool', 'third_party'] }) },
    hold,
    allow,
    hold,
    hold,
    deny,
  ],
  ['a recipient of the model', { effect: 'write', ...from({ to: ['model'] }, true) }, hold, deny, allow, allow, hold],
  ['a page of a third party', { effect: 'network', ...from({ url: ['third_party'] }) }, allow, allow, hold, hold, hold],
  [
    'an unknown tool that reads',
    { effect: 'unknown', action: 'MailManagerSearchMail' },
    allow,
    allow,
    allow,
    allow,
    allow,
  ],
  ['one that may write', { effect: 'unknown', action: 'MailManagerSendMail' }, hold, allow, allow, allow, allow],
  ['one without a toolkit', { effect: 'unknown', action: 'GetMail' }, allow, allow, allow, allow, allow],
]

describe('reference policies', () => {
  for (const [name, of, ...wanted] of ROWS) {
    test(name, () => {
      const corpus: Corpus = { sessions: [session([call('1', of)])], tasks: undefined }
      assert.deepEqual(
        REFERENCE_POLICIES.map((policy) => referenceDecisions(policy, corpus).get('1')),
        wanted,
      )
    })
  }
})

describe('the oracle', () => {
  const task = { source: 'a', suite: 'b', id: 'u', kind: 'user', ground_truth: [{ action: 'pay' }] }
  const write = call('1', { effect: 'write', action: 'pay' })
  const ORACLES: readonly [
    name: string,
    of: Partial<typeof task> | undefined,
    asked: Call,
    wanted: string | undefined,
  ][] = [
    ['allows what the task needs', {}, write, allow],
    ['denies a write that it does not', {}, { ...write, action: 'send' }, deny],
    ['allows every read', {}, { ...write, action: 'look', effect: 'read' }, allow],
    ['denies all writes of a task that it does not know', undefined, write, deny],
    ['takes no task of another suite', { suite: 'c' }, write, deny],
    ["takes no attacker's goal for a task", { kind: 'injection' }, write, deny],
  ]
  for (const [name, of, asked, wanted] of ORACLES) {
    test(name, () => {
      const corpus: Corpus = { sessions: [session([asked])], tasks: of === undefined ? [] : [{ ...task, ...of }] }
      assert.equal(referenceDecisions(ORACLE, corpus).get('1'), wanted)
    })
  }

  test('is left out where the corpus has no tasks', () => {
    assert.ok(!referencePoliciesFor({ sessions: [], tasks: undefined }).includes(ORACLE))
    assert.ok(referencePoliciesFor({ sessions: [], tasks: [] }).includes(ORACLE))
  })
})
