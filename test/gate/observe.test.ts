import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DECIDED_BY, type DecidedBy, type Ruling } from '../../src/gate/decide.ts'
import { inMode, observedSentence } from '../../src/gate/observe.ts'
import { EFFECTS, type Mode, type PolicySet } from '../../src/policies/set.ts'

const TERMS = { quorum: 1, expiresInMs: 1000, selfApproval: false, approvers: [], unbound: [] }

function ruling(decision: Ruling['decision'], decidedBy: DecidedBy): Ruling {
  const hold = decision === 'require_approval' ? TERMS : null
  const others = { rule: 'r', retry: 'changed_request', unevaluable: [], planValidated: true } as const
  return { decision, reason: 'Why.', decidedBy, hold, ...others }
}
const inForce = (mode: Mode): PolicySet => ({ mode }) as PolicySet

test('policies that are enforced, and no policies, change no ruling', () => {
  for (const set of [inForce('enforce'), undefined])
    for (const decidedBy of DECIDED_BY)
      for (const decision of EFFECTS)
        assert.deepEqual(inMode(set, ruling(decision, decidedBy)), ruling(decision, decidedBy))
})

test('observed policies allow every action but a stopped one, and say what they decided', () => {
  for (const decidedBy of DECIDED_BY.filter((step) => step !== 'kill_switch')) {
    for (const decision of EFFECTS) {
      const reason = decision === 'allow' ? 'Why.' : 'Observed only, not enforced: Why.'
      const allowed = { decision: 'allow', observed: decision, reason, retry: 'never', hold: null }
      assert.deepEqual(inMode(inForce('observe'), ruling(decision, decidedBy)), {
        ...ruling(decision, decidedBy),
        ...allowed,
      })
    }
  }
  const stopped = ruling('deny', 'kill_switch')
  assert.deepEqual(inMode(inForce('observe'), stopped), stopped)
})

test('only an action that would not have run is told of', () => {
  assert.equal(observedSentence('pay', undefined, 'Why.'), undefined)
  assert.equal(observedSentence('pay', 'allow', 'Why.'), undefined)
  assert.equal(observedSentence('pay', 'deny', 'Why.'), 'pay would be denied. Why.')
  assert.equal(observedSentence('pay', 'require_approval', 'Why.'), 'pay would need an approval. Why.')
})
