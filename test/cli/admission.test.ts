import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { ACME_POLICY, fileTest, startGate, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { run } from './program.ts'

const BOUNDS = 'since=1h,maxNewAllows=0,maxNewDenies=0'
const STRICTER = ACME_POLICY.replace('value: 1000}', 'value: 500}')
const LOOSER = ACME_POLICY.replaceAll('value: 1000}', 'value: 5000}')
const AS_BEFORE = `${ACME_POLICY}# again\n`

const gate = await startGate({ after }, { settings: { requireReplay: BOUNDS } })
const { server, dir, call } = gate
const { store } = server
const [owner, bot] = [await gate.key(), await gate.key({ roles: ['agent'], identity: 'bot' })]
const data = ['--data', join(dir, 'data'), '--tenant', 'acme']
const env = { GATE_SIDECAR_REQUIRE_REPLAY: BOUNDS }
const inForce = () => store.state().policies.get('acme')?.digest
const described = async () => (await call(owner, 'GET', '/policies')).body.data
const decided = async (amount: number) =>
  (await call(bot, 'POST', '/gate/check', { tenantId: 'acme', action: 'payment.transfer', context: { amount } })).body
    .data.decision
const entries = async (type: string) =>
  (await call(owner, 'GET', `/audit/chain?eventType=${type}&order=desc`)).body.data
const policies = (text: string) => writeFiles(dir, { 'policies/acme/main.yaml': text })
const replay = (text: string) => {
  writeFiles(dir, { 'draft/acme/main.yaml': text })
  return run(['replay', ...data, '--policies', join(dir, 'draft'), '--since', '1h', '--seal', '--json'])
}

await until('the set in force is recorded', () => inForce() !== undefined)
for (const amount of [10, 700, 2000]) await decided(amount)

fileTest(
  'a set of the folder waits for its sealed replay, and comes into force by itself when that is there',
  async () => {
    const first = inForce()
    policies(STRICTER)
    await until('the set is refused', async () => !(await described()).current)
    const { digest, faults } = await described()
    assert.equal(digest, first)
    assert.match(faults[0], /^replay_required: The set sha256:\w+ was not tried on the requests of the last 1h/)
    assert.equal(await decided(700), 'allow')
    const rejected = await entries('policy.rejected')
    assert.deepEqual([rejected.length, rejected[0].data.faults], [1, faults])
    const { code, stdout } = await replay(STRICTER)
    assert.equal(code, 0)
    const [{ seal, policyDigest }] = JSON.parse(stdout).replays
    await until('the set is in force', () => inForce() === policyDigest)
    assert.equal(await decided(700), 'require_approval')
    const [load] = await entries('policy.loaded')
    assert.deepEqual([load.data.changes.digest, load.data.admittedBy], [policyDigest, seal.entryId])
    assert.deepEqual([(await described()).current, (await entries('policy.rejected')).length], [true, 1])
  },
)

fileTest('a set that newly allows is refused with its numbers, and comes in when somebody says why', async () => {
  const before = inForce()
  policies(LOOSER)
  const { stdout } = await replay(LOOSER)
  const [{ seal, policyDigest }] = JSON.parse(stdout).replays
  const fault = new RegExp(`was tried by ${seal.entryId}, which newly allows [12] requests, more than 0`)
  await until('it is refused', async () => fault.test((await described()).faults[0] ?? ''))
  assert.equal(inForce(), before)
  const push = await run(['policies', 'push', join(dir, 'policies/acme'), ...data], { env })
  assert.deepEqual([push.code, fault.test(push.stderr)], [3, true])
  const override = (...args: string[]) =>
    run(['policies', 'override', ...args, ...data, '--policies', join(dir, 'policies')])
  assert.match((await override('--reason', ' ')).stderr, /--reason is empty/)
  assert.match((await override('--reason', 'x'.repeat(1025))).stderr, /at most 1024 characters/)
  assert.match((await override(before ?? '', '--reason', 'again')).stderr, /is in force already/)
  assert.equal((await entries('policy.overridden')).length, 0)
  const done = await override('--reason', 'INC-311')
  assert.match(done.stdout, /^The set sha256:\w+ may come into force in place of sha256:\w+; entry aud_\w+\.\n$/)
  await until('the set is in force', () => inForce() === policyDigest)
  const [told] = await entries('policy.overridden')
  const [load] = await entries('policy.loaded')
  const { digest, inForce: replaced, reason } = told.data
  assert.deepEqual([digest, replaced, reason], [policyDigest, before, 'INC-311'])
  assert.equal(load.data.admittedBy, told.id)
})

fileTest('a promotion is refused before a folder is changed', async () => {
  const before = readFileSync(join(dir, 'policies/acme/main.yaml'), 'utf8')
  writeFiles(dir, { 'policies/acme.shadow/main.yaml': AS_BEFORE })
  await until('the set is in shadow', async () => (await entries('policy.shadowed')).length === 1)
  const promote = await run(['policies', 'promote', ...data, '--policies', join(dir, 'policies')], { env })
  assert.deepEqual([promote.code, /replay_required: /.test(promote.stderr)], [3, true])
  assert.equal(readFileSync(join(dir, 'policies/acme/main.yaml'), 'utf8'), before)
  assert.equal((await entries('policy.promoted')).length, 0)
})
