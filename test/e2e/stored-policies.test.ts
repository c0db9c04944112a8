import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureTenant } from '../../src/actions/keys/tenants.ts'
import { folderOrigin } from '../../src/actions/policies/folder-origin.ts'
import { loadsOf } from '../../src/actions/policies/loads.ts'
import { loadedSubmission } from '../../src/actions/policies/policies.ts'
import { PolicyConflict, pushSet } from '../../src/actions/policies/push.ts'
import { policyRegistry } from '../../src/actions/policies/registry.ts'
import { storeOrigin } from '../../src/actions/policies/store-origin.ts'
import type { PolicySource } from '../../src/authoring/load/files.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import { idMaker } from '../../src/base/id.ts'
import { policyFolders } from '../../src/files/policy-folders.ts'
import { createLogger, type Logger } from '../../src/service/log.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import type { Submission } from '../../src/store/submission.ts'
import { run } from '../cli/program.ts'
import {
  ACME_POLICY,
  type GateOptions,
  inThisThread,
  openBeside,
  startGate,
  temporaryFolder,
  writeFiles,
} from '../helpers.ts'
import { tamper, tamperFile } from '../store/used-folder.ts'
import { becomes } from './becomes.ts'
import { assertRecorded } from './processes.ts'

const DENYING = `${ACME_POLICY}  - {id: stop, actions: ["**"], effect: deny, reason: Nothing for now.}\n`
const MAIL_IS_FREE = `apiVersion: gate-sidecar/v1
tenant: acme
tests:
  - {name: mail is free, matrix: {actions: [email.send]}, expect: {decision: allow}}
`
const HOST = { kind: 'host', id: 'host:0' } as const

const sets = temporaryFolder()
writeFiles(sets, {
  'allowing/main.yaml': ACME_POLICY,
  'allowing/main.test.yaml': MAIL_IS_FREE,
  'denying/main.yaml': DENYING,
  'failing/main.yaml': DENYING,
  'failing/main.test.yaml': MAIL_IS_FREE,
})

/** A service that takes its policies from the store, and commands on its data file. */
async function started(t: TestContext, options: GateOptions = {}) {
  const gate = await startGate(t, { policies: {}, ...options, settings: { policies: 'store:', ...options.settings } })
  const key = await gate.key()
  const data = ['--tenant', 'acme', '--data', join(gate.dir, 'data')]
  const { store } = gate.server
  return {
    ...gate,
    key,
    store,
    deps: {
      store,
      clock: Date.now,
      newId: idMaker(Date.now, randomBytes),
      compile: inThisThread.policyWorker.compile,
      requireReplay: null,
    },
    push: (name: string) => run(['policies', 'push', join(sets, name), ...data, '--json']),
    rollback: (...more: string[]) => run(['policies', 'rollback', ...data, '--json', ...more]),
    async check(): Promise<string> {
      const { body } = await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
      return `${body.data.decision} by ${body.data.decidedBy}`
    },
    ready: async () => (await gate.call(key, 'GET', '/readyz')).body,
    described: async () => (await gate.call(key, 'GET', '/policies')).body.data,
    rejected: async () => (await gate.call(key, 'GET', '/audit/chain?eventType=policy.rejected')).body.data,
    loads: () => loadsOf(store, 'acme', 100),
  }
}

function sourceOf(text: string): PolicySource {
  return { tenant: 'acme', files: [{ name: 'main.yaml', bytes: Buffer.from(text) }], lists: new Map(), ignored: [] }
}

function setOf(text: string) {
  const { set } = loadPolicySet(sourceOf(text))
  assert.ok(set)
  return set
}

test('a set that is pushed to a data file comes into force in the service on it, and is there after a restart', async (t) => {
  const first = await started(t)
  assert.equal(await first.check(), 'deny by no_policy', 'before the first push, nothing is in force')
  const pushed = await first.push('allowing')
  assert.equal(pushed.code, 0, pushed.stderr)
  await becomes(first.check, 'allow by allow_rule')
  const { digest, files, current, faults } = await first.described()
  assert.deepEqual([digest, files, current, faults], [JSON.parse(pushed.stdout).digest, ['main.yaml'], true, []])
  await first.server.close()
  const second = await started(t, { dir: first.dir })
  assert.equal(await second.check(), 'allow by allow_rule')
  assert.equal((await second.loads()).length, 1, 'to take it in writes nothing')
  await second.server.close()
  await assertRecorded(join(first.dir, 'data'), [])
})

test('a push with a failing test, or of the set in force, writes nothing', async (t) => {
  const { push, rollback, loads, store } = await started(t)
  await push('allowing')
  const before = await store.lengths(['acme/live'])
  const failing = await push('failing')
  assert.deepEqual([failing.code, JSON.parse(failing.stdout).diagnostics[0].code], [1, 'GATE1506'])
  const again = await push('allowing')
  assert.deepEqual([again.code, JSON.parse(again.stdout).changed], [0, false])
  const back = await rollback()
  assert.deepEqual([back.code, back.stdout], [3, ''])
  assert.match(back.stderr, /No set of acme before sha256:/)
  assert.deepEqual(await store.lengths(['acme/live']), before)
  assert.equal((await loads()).length, 1)
})

test('a rollback runs the tests of the set again, and names another set by its digest', async (t) => {
  const { push, rollback, loads, check, deps, store } = await started(t)
  const [first, second] = [JSON.parse((await push('allowing')).stdout), JSON.parse((await push('denying')).stdout)]
  await becomes(check, 'deny by deny_rule')
  assert.equal(JSON.parse((await rollback()).stdout).digest, first.digest)
  await becomes(check, 'allow by allow_rule')
  assert.equal(JSON.parse((await rollback('--to', second.digest)).stdout).digest, second.digest)
  // Tests are no part of the digest.
  const source = sourceOf(ACME_POLICY)
  const files = [...source.files, { name: 'x.test.yaml', bytes: Buffer.from(MAIL_IS_FREE.replace('allow', 'deny')) }]
  await store.refresh()
  const put = async (text: string, from: PolicySource) =>
    store.commit(
      loadedSubmission(
        deps,
        { set: setOf(text), source: from, earlier: store.state().policies.get('acme'), admittedBy: null },
        HOST,
      ),
    )
  assert.equal((await put(ACME_POLICY, { ...source, files })).conflict, null)
  assert.equal((await put(DENYING, sourceOf(DENYING))).conflict, null)
  const refused = await rollback()
  assert.deepEqual([refused.code, JSON.parse(refused.stdout).diagnostics[0].code], [1, 'GATE1506'])
  assert.equal((await loads())[0]?.digest, second.digest)
})

test('a set that this version cannot load leaves the one before in force, and is told of once', async (t) => {
  const { push, rollback, check, store, deps, described, ready, rejected, call, key } = await started(t)
  const first = JSON.parse((await push('allowing')).stdout)
  await becomes(check, 'allow by allow_rule')
  const later = sourceOf(`${DENYING}laterMember: 1\n`)
  const earlier = store.state().policies.get('acme')
  await store.commit(loadedSubmission(deps, { set: setOf(DENYING), source: later, earlier, admittedBy: null }, HOST))
  await becomes(async () => (await described()).current, false)
  await call(key, 'POST', '/policies/reload', { tenantId: 'acme' })
  await sleep(700)
  const { digest, faults } = await described()
  assert.equal(digest, first.digest)
  assert.match(faults[0], /^acme\/main\.yaml:\d+:1 GATE1101 /)
  assert.equal(await check(), 'allow by allow_rule')
  assert.equal((await ready()).data.policySetsOutdated, 1)
  const entries = await rejected()
  assert.deepEqual([entries.length, entries[0].data.faults], [1, faults])
  assert.equal(JSON.parse((await rollback()).stdout).digest, first.digest)
  await becomes(async () => (await described()).current, true)
})

const ALTERED: [name: string, sql: string, code: string][] = [
  ['is gone', 'DELETE FROM policy_text', 'policy_not_kept'],
  ['has another comment', "UPDATE policy_text SET source = replace(source, 'IyBv', 'IyBw')", 'policy_altered'],
  [
    'is that of another set',
    `UPDATE policy_text SET source = '${JSON.stringify({ files: [{ base64: Buffer.from(DENYING).toString('base64'), name: 'main.yaml' }], ignored: [], lists: [] })}'`,
    'policy_altered',
  ],
  ['is no JSON', "UPDATE policy_text SET source = 'x'", 'policy_altered'],
]

writeFiles(sets, { 'commented/main.yaml': `# of the first day\n${ACME_POLICY}` })

for (const [name, sql, code] of ALTERED) {
  test(`a stored text that ${name} decides nothing, says so loudly, and is repaired by a push`, async (t) => {
    const first = await started(t)
    await first.push('commented')
    await first.server.close()
    tamper(join(first.dir, 'data'), (db) => void db.exec(sql))
    const lines: Record<string, unknown>[] = []
    const log = { ...createLogger('silent'), error: (line: object) => void lines.push({ ...line }) } as Logger
    const second = await started(t, { dir: first.dir, log })
    assert.equal(await second.check(), 'deny by no_policy')
    assert.equal((await second.ready()).error, 'not_ready')
    const { body: metrics } = await second.call(second.key, 'GET', '/metrics')
    assert.match(metrics, /^gate_sidecar_unready\{reason="policies"\} 1$/m)
    const { faults, digest } = await second.described()
    assert.ok(faults[0].startsWith(`${code}: `), faults[0])
    assert.equal(digest, null)
    const told = lines.filter((line) => line.tenantId === 'acme')
    assert.deepEqual(told, [{ tenantId: 'acme', code, fault: faults[0] }])
    assert.deepEqual((await second.rejected())[0].data.faults, faults)
    assert.equal((await second.rollback('--to', (await second.loads())[0]?.digest ?? '')).code, 3)
    const repaired = JSON.parse((await second.push('commented')).stdout)
    assert.deepEqual([repaired.changed, repaired.revision], [true, 2])
    await becomes(second.check, 'allow by allow_rule')
    assert.equal((await second.ready()).success, true)
  })
}

test('an altered text ends the set in force even while nothing can be written, and is recorded once that can be done', async (t) => {
  const { deps: served, dir, push, server } = await started(t)
  await push('allowing')
  // The service would record it too.
  await server.close()
  const store = await openBeside(dir)
  t.after(() => store.close())
  const deps = { ...served, store }
  let isFull = true
  const commit = (submission: Submission) =>
    isFull ? Promise.reject(new Error('disk full')) : store.commit(submission)
  const errors: unknown[] = []
  const registry = policyRegistry(
    { ...deps, watch: true, onError: (error) => void errors.push(error) },
    storeOrigin({ ...deps, ...inThisThread.policyWorker, store: { ...store, commit }, onChange: () => undefined }),
  )
  await registry.reloadAll()
  assert.equal(registry.get('acme')?.mode, 'enforce')
  const earlier = store.state().policies.get('acme')
  await store.commit(
    loadedSubmission(deps, { set: setOf(DENYING), source: sourceOf(DENYING), earlier, admittedBy: null }, HOST),
  )
  tamperFile(join(dir, 'data', DATA_FILE), (db) => void db.exec("UPDATE policy_text SET source = '{}'"))
  const tend = async () => {
    await registry.tend()
    await registry.idle()
  }
  await tend()
  assert.deepEqual([registry.get('acme'), String(errors[0])], [undefined, 'Error: disk full'])
  isFull = false
  const before = await lengthOf(store, 'acme/live')
  await tend()
  await tend()
  assert.deepEqual([await lengthOf(store, 'acme/live'), registry.get('acme')], [before + 1, undefined])
})

test('of two pushes that began with the same set, the second is told of the first and writes nothing', async (t) => {
  const { deps, loads, store, push } = await started(t)
  await push('allowing')
  await store.refresh()
  const earlier = store.state().policies.get('acme')
  const candidate = (text: string) => ({ set: setOf(text), source: sourceOf(text), earlier })
  assert.equal((await pushSet(deps, candidate(DENYING), HOST)).changed, true)
  const third = `${DENYING}timezone: Europe/Berlin\n`
  await assert.rejects(pushSet(deps, candidate(third), HOST), (error) => {
    assert.ok(error instanceof PolicyConflict)
    assert.match(
      error.message,
      /^Another set of acme came into force meanwhile, sha256:.* by host:0; nothing was written/,
    )
    return true
  })
  assert.equal((await pushSet(deps, candidate(DENYING), HOST)).changed, false, 'the same set is no conflict')
  assert.equal((await loads()).length, 2)
})

test('a service with a folder does not replace a pushed set by itself, and does when a key asks for it', async (t) => {
  const first = await started(t)
  const pushed = JSON.parse((await first.push('allowing')).stdout)
  await first.server.close()
  const folder = await startGate(t, { dir: first.dir, policies: { 'acme/main.yaml': DENYING } })
  const check = async () =>
    (await folder.call(first.key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })).body.data
  assert.equal((await check()).policyDigest, pushed.digest)
  const { current, faults } = (await folder.call(first.key, 'GET', '/policies')).body.data
  assert.equal(current, false)
  assert.match(faults[0], /^The set in the store was pushed, .*`--policies store:`/)
  assert.equal(folder.server.store.state().policies.get('acme')?.revision, 1)
  writeFiles(folder.dir, { 'policies/acme/main.yaml': `${DENYING}# again\n` })
  const asked = (await folder.call(first.key, 'POST', '/policies/reload', { tenantId: 'acme' })).body.data
  assert.equal(asked.current, true)
  assert.deepEqual([(await check()).policyDigest, (await check()).decision], [asked.digest, 'deny'])
})

test('a set of a folder without a tenant makes way for the one that is pushed when the tenant is made, and follows it', async (t) => {
  const { server, dir } = await startGate(t, { watch: 'off', policies: {} })
  const { store } = server
  writeFiles(dir, { 'own/acme/main.yaml': DENYING })
  let shiftMs = 0
  const clock = () => Date.now() + shiftMs
  const { policyWorker } = inThisThread
  const newId = idMaker(Date.now, randomBytes)
  const deps = { ...policyWorker, store, clock, newId, watch: true, requireReplay: null }
  const more = {
    onChange: () => undefined,
    onError: assert.ifError,
    folders: policyFolders(join(dir, 'own'), policyWorker),
  }
  const registry = policyRegistry({ ...deps, ...more }, folderOrigin({ ...deps, ...more }))
  const tend = async () => {
    await registry.tend()
    await registry.idle()
    return registry.get('acme')?.digest
  }
  await registry.reloadAll()
  assert.equal(await tend(), setOf(DENYING).digest)
  await ensureTenant(deps, HOST, 'acme')
  const push = (text: string) =>
    pushSet(deps, { set: setOf(text), source: sourceOf(text), earlier: store.state().policies.get('acme') }, HOST)
  await push(ACME_POLICY)
  assert.equal(await tend(), setOf(ACME_POLICY).digest)
  const next = `${ACME_POLICY}timezone: Europe/Berlin\n`
  await push(next)
  shiftMs = 61_000
  assert.equal(await tend(), setOf(next).digest)
  assert.equal((await loadsOf(store, 'acme', 10)).length, 2, 'its own set is on no record')
})
