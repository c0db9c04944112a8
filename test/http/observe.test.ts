import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { createLogger } from '../../src/service/log.ts'
import { startGate, writeFiles } from '../helpers.ts'
import { untilLoaded } from './support.ts'

/* Policies with `mode: observe`: everything is decided and recorded, and every action runs unless it is stopped. */

const policy = (mode: string): string => `
apiVersion: gate-sidecar/v1
tenant: acme
mode: ${mode}
rules:
  - {id: reads, actions: [Read], effect: allow, reason: Reading is free.}
  - {id: shell, actions: [Bash], effect: require_approval, reason: A person looks at commands.}
  - {id: web, actions: [WebFetch], effect: deny, reason: No web.}
`
const logged: { level: string; msg: string; mode?: string }[] = []
const log = createLogger('info', { write: (text) => void logged.push(JSON.parse(text)) })
const gate = await startGate({ after }, { policies: { 'acme/main.yaml': policy('observe') }, log })
const agent = await gate.key({ roles: ['agent'] })
const owner = await gate.key()

const check = async (action: string, headers = {}) =>
  (await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action }, headers)).body.data
const get = async (path: string) => (await gate.call(owner, 'GET', path)).body.data

const CASES: [action: string, observed: string, decidedBy: string, reason: string][] = [
  ['Read', 'allow', 'allow_rule', 'Reading is free.'],
  ['Bash', 'require_approval', 'hold_rule', 'Observed only, not enforced: A person looks at commands.'],
  ['WebFetch', 'deny', 'deny_rule', 'Observed only, not enforced: No web.'],
  ['other', 'deny', 'default', 'Observed only, not enforced: No rule allows this action.'],
]

for (const [action, observed, decidedBy, reason] of CASES) {
  test(`${action}: allowed, with what the policies decided in the answer, on record, and decided again`, async () => {
    const { decision, decisionId, validUntil, approvalId, ...answer } = await check(action)
    assert.deepEqual([decision, approvalId], ['allow', null])
    assert.notEqual(validUntil, null)
    assert.deepEqual([answer.observed, answer.decidedBy, answer.reason], [observed, decidedBy, reason])
    const found = await get(`/decisions/${decisionId}`)
    assert.deepEqual([found.decision, found.observed, found.reproduced], ['allow', observed, true])
    const listed = await get(`/decisions?observed=${observed}&action=${action}`)
    assert.deepEqual(
      listed.items.map((item: { id: string }) => item.id),
      [decisionId],
    )
  })
}

test('no person is asked, and the first answer is repeated for a key of idempotency', async () => {
  const [first, again] = [await check('Bash', KEY), await check('Bash', KEY)]
  assert.deepEqual(again, first)
  assert.equal(again.observed, 'require_approval')
  assert.deepEqual(await get('/approvals'), [])
})
const RANGE = { startDate: '2020-01-01', endDate: '2099-01-01' }
const KEY = { 'idempotency-key': 'once' }

test('the facades allow, and say what was observed', async () => {
  const evaluation = {
    subject: { type: 'agent', id: 'a' },
    action: { name: 'WebFetch' },
    resource: { type: 'r', id: 'r' },
  }
  const { body: authzen } = await gate.call(agent, 'POST', '/access/v1/evaluation', evaluation)
  assert.deepEqual([authzen.decision, authzen.context.observed], [true, 'deny'])
  const input = { tool: { name: 'WebFetch' }, args: {} }
  const { body: opa } = await gate.call(agent, 'POST', '/v1/data/gate/decision', { input })
  assert.deepEqual([opa.result.decision, opa.result.observed], ['allow', 'deny'])
  const { body: boolean } = await gate.call(agent, 'POST', '/v1/data/gate/allow', { input })
  assert.equal(boolean.result, true)
  const hook = (name: string) =>
    JSON.parse(readFileSync(new URL(`../testdata/claude-code/${name}.json`, import.meta.url), 'utf8'))
  const { body: told } = await gate.call(agent, 'POST', '/hooks/claude-code', hook('web-fetch'))
  assert.deepEqual(told, {
    systemMessage: 'gate-sidecar: WebFetch would be denied. Observed only, not enforced: No web.',
  })
  const { body: quiet } = await gate.call(agent, 'POST', '/hooks/claude-code', hook('read'))
  assert.deepEqual(quiet, {})
})

test('the log, the policies, the overview, the metrics and the chain say that policies are only observed', async () => {
  const loud = logged.filter(({ msg }) => msg.startsWith('POLICIES ARE ONLY OBSERVED'))
  assert.deepEqual(
    loud.map(({ level, mode }) => [level, mode]),
    [['warn', 'observe']],
  )
  assert.equal((await get('/policies')).mode, 'observe')
  const { observed, posture } = await get('/overview')
  assert.equal(posture.policies.mode, 'observe')
  assert.ok(observed >= 3, `${observed} actions`)
  const metrics = await (await fetch(`${gate.server.url}/metrics`)).text()
  assert.match(metrics, /^gate_sidecar_observing_tenants 1$/m)
  await untilLoaded(gate, owner)
  const [loaded] = await get('/audit/chain?eventType=policy.loaded')
  assert.equal(loaded.data.mode, 'observe')
  const { body } = await gate.call(owner, 'POST', '/audit/verify', RANGE)
  assert.deepEqual([body.data.valid, body.data.unlawfulEntries], [true, 0], JSON.stringify(body))
})

test('a stop is enforced, and policies that are enforced again deny', async () => {
  await gate.call(owner, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'stop', triggeredBy: 'ann' })
  const stopped = await check('Read')
  assert.deepEqual([stopped.decision, stopped.decidedBy, stopped.observed], ['deny', 'kill_switch', undefined])
  await gate.call(owner, 'POST', '/killswitch/recover', { recoveredBy: 'ann', comment: 'ok' })
  const before = await check('WebFetch', { 'idempotency-key': 'before' })
  assert.equal(before.decision, 'allow')
  writeFiles(`${gate.dir}/policies/acme`, { 'main.yaml': policy('enforce') })
  await gate.call(owner, 'POST', '/policies/reload', { tenantId: 'acme' })
  const denied = await check('WebFetch', { 'idempotency-key': 'before' })
  assert.deepEqual([denied.decision, denied.observed, denied.reason], ['deny', undefined, 'No web.'])
  assert.equal((await check('Bash')).decision, 'require_approval')
  const { body } = await gate.call(owner, 'POST', '/audit/verify', RANGE)
  assert.deepEqual([body.data.valid, body.data.unlawfulEntries], [true, 0], JSON.stringify(body))
})
