import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { readConfig } from '../../src/service/config.ts'
import { createLogger, type Logger } from '../../src/service/log.ts'
import { startServer } from '../../src/service/server.ts'
import { ACME_POLICY, type Gate, inThisThread, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { becomes } from './becomes.ts'

const ALLOWING = ACME_POLICY
const DENYING = `${ACME_POLICY}  - {id: stop, actions: ["**"], effect: deny, reason: Nothing for now.}\n`
const BROKEN = 'apiVersion: gate-sidecar/v1\ntenant: acme\nrules: [{id: x}]\n'

type Key = Awaited<ReturnType<Gate['key']>>

async function decision(gate: Gate, key: Key): Promise<string> {
  const { body } = await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  return body.data.decision
}

async function events(
  gate: Gate,
  key: Key,
  eventType: string,
): Promise<{ data: { faults?: string[]; changes?: { digest: string } } }[]> {
  const { body } = await gate.call(key, 'GET', `/audit/chain?eventType=${eventType}`)
  return body.data
}

test('a changed policy is in force within seconds, and each set is in the audit chain', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  assert.equal(await decision(gate, key), 'allow')
  await becomes(async () => (await events(gate, key, 'policy.loaded')).length, 1)
  writeFileSync(join(gate.dir, 'policies/acme/main.yaml'), DENYING)
  await becomes(() => decision(gate, key), 'deny')
  const [newest] = await events(gate, key, 'policy.loaded')
  const { body } = await gate.call(key, 'GET', '/policies')
  assert.equal(newest?.data.changes?.digest, body.data.digest)
})

test('a broken set leaves the last good one in force, is audited once, and shows in readiness', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  writeFileSync(join(gate.dir, 'policies/acme/main.yaml'), BROKEN)
  await becomes(async () => (await events(gate, key, 'policy.rejected')).length, 1)
  await sleep(1500)
  const rejected = await events(gate, key, 'policy.rejected')
  assert.equal(rejected.length, 1, 'the same content is refused once')
  assert.match(rejected[0]?.data.faults?.[0] ?? '', /^acme\/main\.yaml:\d+:\d+ GATE\d{4} /)
  assert.equal(await decision(gate, key), 'allow')
  const { body } = await gate.call(key, 'GET', '/policies')
  assert.equal(body.data.current, false)
  const ready = await gate.call(key, 'GET', '/readyz')
  assert.deepEqual([ready.status, ready.body.data.policySetsOutdated], [200, 1])
})

test('a restart with a broken folder goes on with the set that was last in force', async (t) => {
  const dir = temporaryFolder()
  const first = await startGate(t, { dir })
  const key = await first.key()
  await becomes(async () => (await events(first, key, 'policy.loaded')).length, 1)
  await first.server.close()
  const second = await startGate(t, { dir, policies: { 'acme/main.yaml': BROKEN } })
  assert.equal(await decision(second, key), 'allow')
})

test('a stored set that is not the one in the audit chain is not used', async (t) => {
  const dir = temporaryFolder()
  const first = await startGate(t, { dir, policies: { 'acme/main.yaml': DENYING } })
  const key = await first.key()
  await becomes(async () => (await events(first, key, 'policy.loaded')).length, 1)
  await first.server.close()
  const db = new Sqlite(join(dir, 'data/gate-sidecar.db'))
  const source = JSON.stringify({
    files: [{ base64: Buffer.from(ALLOWING).toString('base64'), name: 'main.yaml' }],
    ignored: [],
    lists: [],
  })
  db.prepare('UPDATE policy_text SET source = ?').run(source)
  db.close()
  const second = await startGate(t, { dir, policies: { 'acme/main.yaml': BROKEN } })
  const { body } = await second.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  assert.deepEqual([body.data.decision, body.data.decidedBy, body.data.riskScore], ['deny', 'no_policy', 100])
  const ready = await second.call(key, 'GET', '/readyz')
  assert.deepEqual([ready.status, ready.body.error], [503, 'not_ready'])
})

test('a folder that is gone leaves the last good set in force', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  rmSync(join(gate.dir, 'policies/acme'), { recursive: true })
  await becomes(async () => (await gate.call(key, 'GET', '/policies')).body.data.current, false)
  assert.equal(await decision(gate, key), 'allow')
})

test('a swap of the ..data link of a Kubernetes ConfigMap is seen', async (t) => {
  const dir = temporaryFolder()
  const tenant = join(dir, 'policies/acme')
  const version = (name: string, text: string): void => {
    mkdirSync(join(tenant, name), { recursive: true })
    writeFileSync(join(tenant, name, 'main.yaml'), text)
  }
  version('..2026_01', ALLOWING)
  symlinkSync('..2026_01', join(tenant, '..data'))
  symlinkSync('..data/main.yaml', join(tenant, 'main.yaml'))
  const gate = await startGate(t, { dir, policies: {} })
  const key = await gate.key()
  assert.equal(await decision(gate, key), 'allow')
  version('..2026_02', DENYING)
  symlinkSync('..2026_02', join(tenant, '..next'))
  renameSync(join(tenant, '..next'), join(tenant, '..data'))
  await becomes(() => decision(gate, key), 'deny')
})

test('one tenant with a broken set does not hold up another', async (t) => {
  const gate = await startGate(t, { policies: { 'aaa/main.yaml': BROKEN, 'acme/main.yaml': ALLOWING } })
  const key = await gate.key()
  assert.equal(await decision(gate, key), 'allow')
  writeFileSync(join(gate.dir, 'policies/acme/main.yaml'), DENYING)
  await becomes(() => decision(gate, key), 'deny')
})

test('a list outside the tenant folder is refused, also behind a link', async (t) => {
  const dir = temporaryFolder()
  mkdirSync(join(dir, 'policies/acme/lists'), { recursive: true })
  writeFileSync(join(dir, 'secret.txt'), 'ann\n')
  symlinkSync(join(dir, 'secret.txt'), join(dir, 'policies/acme/lists/out.txt'))
  const withList = `${ALLOWING}lists: {out: {file: lists/out.txt}}\n`
  const gate = await startGate(t, { dir, policies: { 'acme/main.yaml': withList } })
  const key = await gate.key()
  assert.equal(await decision(gate, key), 'deny')
  const { body } = await gate.call(key, 'GET', '/policies')
  assert.match(body.data.faults[0], /lists\/out\.txt/)
  unlinkSync(join(dir, 'policies/acme/lists/out.txt'))
  writeFileSync(join(dir, 'policies/acme/lists/out.txt'), 'ann\n')
  await becomes(() => decision(gate, key), 'allow')
})

test('a name that cannot be looked at holds up neither the start nor other tenants', async (t) => {
  const dir = temporaryFolder()
  mkdirSync(join(dir, 'policies'))
  symlinkSync('loop', join(dir, 'policies/loop'))
  const gate = await startGate(t, { dir, policies: { 'acme/main.yaml': ALLOWING } })
  const key = await gate.key()
  assert.equal(await decision(gate, key), 'allow')
  writeFileSync(join(dir, 'policies/acme/main.yaml'), DENYING)
  await becomes(() => decision(gate, key), 'deny')
})

test('two servers on one file with different policies record each set once', async (t) => {
  const dir = temporaryFolder()
  const first = await startGate(t, { dir })
  const key = await first.key()
  await becomes(async () => (await events(first, key, 'policy.loaded')).length, 1)
  const flags = { data: join(dir, 'data'), policies: join(dir, 'others'), port: '0' }
  writeFiles(dir, { 'others/acme/main.yaml': DENYING })
  const second = await startServer({
    config: readConfig({ flags, env: {}, file: undefined }),
    log: createLogger('silent'),
    threads: inThisThread,
  })
  t.after(() => second.close())
  await becomes(async () => (await events(first, key, 'policy.loaded')).length, 2)
  await sleep(2500)
  assert.equal((await events(first, key, 'policy.loaded')).length, 2)
})

test('a file beside the tenant folders is told of at the start', async (t) => {
  const lines: object[] = []
  const log = { ...createLogger('silent'), warn: (data: object) => void lines.push(data) } as Logger
  await startGate(t, { log, policies: { 'acme/main.yaml': ALLOWING, 'acme.yaml': DENYING } })
  assert.deepEqual(lines, [{ name: 'acme.yaml' }])
})

for (const watch of ['on', 'off'] as const) {
  test(`a set whose loading did not end is refused, noted once, and tried again after a minute (watch ${watch})`, async (t) => {
    let shiftMs = 0
    let busy = true
    let tries = 0
    const { policyWorker } = inThisThread
    const { server } = await startGate(t, {
      watch,
      clock: () => Date.now() + shiftMs,
      threads: {
        ...inThisThread,
        policyWorker: {
          ...policyWorker,
          compileAndTest(source) {
            tries += 1
            return busy
              ? Promise.resolve({ fault: 'takes more than 5 s to load and test' })
              : policyWorker.compileAndTest(source)
          },
        },
      },
    })
    const ready = async () => (await (await fetch(`${server.url}/readyz`)).text()).includes('"success":true')
    await sleep(2500)
    assert.deepEqual([await ready(), tries], [false, 1])
    shiftMs = 61_000
    await until('it is tried again', () => tries > 1)
    await sleep(1000)
    assert.deepEqual([await ready(), tries], [false, 2])
    busy = false
    shiftMs = 122_000
    await becomes(ready, true)
  })
}

const FAILING_TEST = `apiVersion: gate-sidecar/v1
tenant: acme
contexts: {small: {amount: 5}}
tests:
  - name: small payments are free
    matrix: {actions: [payment.transfer], contexts: [small]}
    expect: {decision: allow}
`

test('a set whose tests fail does not come into force, and says which test, where and why', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  writeFiles(join(gate.dir, 'policies/acme'), { 'main.yaml': DENYING, 'acme.test.yaml': FAILING_TEST })
  await becomes(async () => (await events(gate, key, 'policy.rejected')).length, 1)
  const { body } = await gate.call(key, 'GET', '/policies')
  const message =
    'Test "small payments are free" fails for payment.transfer, context small: decision is deny, wanted allow.'
  const [first, ...more] = body.data.diagnostics.filter(({ severity }: { severity: string }) => severity === 'error')
  assert.deepEqual([first.file, first.line, first.column], ['acme/acme.test.yaml', 7, 13])
  assert.deepEqual([first.code, first.severity, first.message], ['GATE1506', 'error', message])
  assert.equal(more.length, 0)
  const [rejected] = await events(gate, key, 'policy.rejected')
  assert.deepEqual(rejected?.data.faults, [`acme/acme.test.yaml:7:13 GATE1506 ${message}`])
  assert.equal((await gate.call(key, 'GET', '/readyz')).body.data.policySetsOutdated, 1)
  assert.equal(await decision(gate, key), 'allow', 'the last good set is in force')
  // The test is brought up to date: then the set comes into force.
  writeFileSync(join(gate.dir, 'policies/acme/acme.test.yaml'), FAILING_TEST.replace('allow', 'deny'))
  await becomes(() => decision(gate, key), 'deny')
  assert.equal((await gate.call(key, 'GET', '/policies')).body.data.current, true)
})

test('a restart with a broken folder goes on with the last good set without running its tests again', async (t) => {
  const dir = temporaryFolder()
  const passing = FAILING_TEST.replace('allow', 'deny')
  const policies = { 'acme/main.yaml': DENYING, 'acme/acme.test.yaml': passing }
  const first = await startGate(t, { dir, policies })
  const key = await first.key()
  await becomes(async () => (await events(first, key, 'policy.loaded')).length, 1)
  await first.server.close()
  const tested: number[] = []
  const { policyWorker } = inThisThread
  const second = await startGate(t, {
    dir,
    policies: { 'acme/main.yaml': BROKEN },
    threads: {
      ...inThisThread,
      policyWorker: {
        ...policyWorker,
        async compileAndTest(source) {
          tested.push(source.files.length)
          return policyWorker.compileAndTest(source)
        },
      },
    },
  })
  assert.equal(await decision(second, key), 'deny')
  assert.deepEqual(tested, [2], 'the folder alone')
})
