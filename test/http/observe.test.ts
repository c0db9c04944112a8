import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createLogger } from '../../src/service/log.ts'
import { run } from '../cli/program.ts'
import { fileTest, startGate, writeFiles } from '../helpers.ts'
import { PYTHON_FOLDER } from '../python.ts'
import { untilLoaded } from './support.ts'

/* Policies with `mode: observe`: everything is decided and recorded, and every action runs unless it is stopped. */

const policy = (mode: string): string => `
apiVersion: gate-sidecar/v1
tenant: acme
mode: ${mode}
actions:
  wire: {context: {type: object, required: [amount], properties: {amount: {type: number, minimum: 0}}}}
history:
  sum: {spent: {fact: context.amount, actions: [wire], within: 24h, by: agent}}
rules:
  - {id: budget, actions: [wire], effect: deny, reason: Too much., when: {fact: history.sum.spent, operator: greaterThan, value: 100}}
  - {id: wires, actions: [wire], effect: allow, reason: Within the budget.}
  - {id: reads, actions: [Read], effect: allow, reason: Reading is free.}
  - {id: shell, actions: [Bash], effect: require_approval, reason: A person looks at commands.}
  - {id: web, actions: [WebFetch], effect: deny, reason: No web.}
`
const logged: { level: string; msg: string; mode?: string }[] = []
const log = createLogger('info', { write: (text) => void logged.push(JSON.parse(text)) })
const gate = await startGate({ after }, { policies: { 'acme/main.yaml': policy('observe') }, log })
const agent = await gate.key({ roles: ['agent'] })
const owner = await gate.key()
const approver = await gate.key({ roles: ['approver'], identity: 'ann' })

const check = async (action: string, headers = {}, context: object | undefined = undefined) =>
  (await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action, context }, headers)).body.data
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

/** Puts the policies into force in this mode. */
async function load(mode: string): Promise<void> {
  writeFiles(`${gate.dir}/policies/acme`, { 'main.yaml': policy(mode) })
  await gate.call(owner, 'POST', '/policies/reload', { tenantId: 'acme' })
}

test('values that no schema has let through enter no sum', async () => {
  const refused = await check('wire', {}, { amount: -1000 })
  assert.deepEqual([refused.decision, refused.observed, refused.decidedBy], ['allow', 'deny', 'invalid_context'])
  await check('wire', {}, { amount: 'all of it' })
  assert.equal((await check('wire', {}, { amount: 100 })).observed, 'allow')
  assert.equal((await check('wire', {}, { amount: 1 })).observed, 'deny')
})

test('an approval is used up by the one action that it is for, and a rejection by none', async () => {
  await load('enforce')
  const ids = []
  for (const vote of ['approve', 'reject']) {
    const { approvalId } = await check('Bash', {}, { args: vote })
    const body = { approverId: 'ann', ...(vote === 'reject' && { reason: 'No.' }) }
    assert.equal((await gate.call(approver, 'POST', `/approvals/${approvalId}/${vote}`, body)).status, 200)
    ids.push(approvalId)
  }
  await load('observe')
  const [used, again] = [await check('Bash', {}, { args: 'approve' }), await check('Bash', {}, { args: 'approve' })]
  assert.deepEqual([used.observed, used.decidedBy, used.approvalId], ['allow', 'approval', ids[0]])
  assert.deepEqual([again.observed, again.decidedBy, again.approvalId], ['require_approval', 'hold_rule', null])
  const rejected = await check('Bash', {}, { args: 'reject' })
  assert.deepEqual([rejected.decision, rejected.observed, rejected.approvalId], ['allow', 'require_approval', null])
  for (const { decisionId, observed } of [used, again, rejected]) {
    assert.equal((await get(`/decisions/${decisionId}`)).reproduced, true)
    const bundle = await get(`/evidence/bundle/${decisionId}`)
    const { body } = await gate.call(owner, 'POST', '/evidence/verify', { bundle })
    assert.deepEqual([body.data.verdict, body.data.observed], ['valid', observed], JSON.stringify(body))
  }
  await load('enforce')
  assert.equal((await check('Bash', {}, { args: 'approve' })).decision, 'require_approval')
  await load('observe')
  const { body } = await gate.call(owner, 'POST', '/audit/verify', RANGE)
  assert.deepEqual([body.data.valid, body.data.unlawfulEntries], [true, 0], JSON.stringify(body))
})

fileTest('wherever an observed allow is read, it says so', async () => {
  const { decisionId } = await check('WebFetch')
  const [entry] = await get('/audit/chain?eventType=gate.decision')
  assert.deepEqual([entry.data.id, entry.data.decision, entry.data.observed], [decisionId, 'allow', 'deny'])
  const { items } = await get(`/decisions/${decisionId}/timeline`)
  assert.equal(items[0].decision.observed, 'deny')
  const data = join(gate.dir, 'data')
  const listed = await run(['audit', 'list', '--tenant', 'acme', '--limit', '100', '--data', data])
  assert.match(listed.stdout, /allow \(observed: deny\) WebFetch/)
  assert.match(listed.stdout, /policy\.loaded .* acme ONLY OBSERVED$/m)
  const explained = await run(['explain', decisionId, '--data', data, '--policies', join(gate.dir, 'policies')])
  assert.match(explained.stdout, /^allow\nobserved {6}deny: the policies were not enforced$/m)
  const bundle = join(gate.dir, 'bundle.json')
  await run(['evidence', 'export', decisionId, '--data', data, '--out', bundle])
  for (const { stdout } of [await run(['evidence', 'verify', bundle]), verifiedByPython(bundle)])
    assert.match(stdout, /only observed: the policies decided deny/)
})

const verifiedByPython = (bundle: string) =>
  spawnSync('python3', ['-m', 'gate_sidecar.verify', bundle], {
    env: { ...process.env, PYTHONPATH: PYTHON_FOLDER },
    encoding: 'utf8',
  })

test('a start that refuses the policies says that those in force are only observed', async (t) => {
  const policies = { 'acme/main.yaml': policy('observe') }
  const first = await startGate(t, { policies })
  await untilLoaded(first, await first.key())
  await first.server.close()
  const told: string[] = []
  const log = createLogger('info', { write: (text) => void told.push(JSON.parse(text).msg) })
  await startGate(t, { dir: first.dir, policies: { 'acme/main.yaml': policy('enforced') }, log })
  assert.deepEqual(
    told.filter((text) => /polic/i.test(text)),
    [
      'policies are refused; those before them stay in force',
      'POLICIES ARE ONLY OBSERVED: every action runs, unless it is stopped',
    ],
  )
})

test('a stop is enforced, and policies that are enforced again deny', async () => {
  await gate.call(owner, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'stop', triggeredBy: 'ann' })
  const stopped = await check('Read')
  assert.deepEqual([stopped.decision, stopped.decidedBy, stopped.observed], ['deny', 'kill_switch', undefined])
  await gate.call(owner, 'POST', '/killswitch/recover', { recoveredBy: 'ann', comment: 'ok' })
  const before = await check('WebFetch', { 'idempotency-key': 'before' })
  assert.equal(before.decision, 'allow')
  await load('enforce')
  const denied = await check('WebFetch', { 'idempotency-key': 'before' })
  assert.deepEqual([denied.decision, denied.observed, denied.reason], ['deny', undefined, 'No web.'])
  assert.equal((await check('Bash')).decision, 'require_approval')
  const { body } = await gate.call(owner, 'POST', '/audit/verify', RANGE)
  assert.deepEqual([body.data.valid, body.data.unlawfulEntries], [true, 0], JSON.stringify(body))
})
