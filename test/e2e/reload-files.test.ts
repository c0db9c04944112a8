import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { compilePolicySet } from '../../src/authoring/load/load.ts'
import { readTenantFolder } from '../../src/files/read-folders.ts'
import { ACME_POLICY, type Answer, type Gate, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { fullTest, runs } from '../tier.ts'
import { HANGS_MS } from '../until.ts'
import { becomes } from './becomes.ts'
import { configMap, type Payload } from './config-map.ts'

const POLL_MS = 500
/** Less than what lies between two looks. */
const SHORT_MS = 300

type Key = Awaited<ReturnType<Gate['key']>>

async function state(gate: Gate, key: Key) {
  return (await gate.call(key, 'GET', '/policies')).body.data
}

/** Returns the recorded digests of the tenant's policies that came into force, oldest first, and the number refused. */
async function recorded(gate: Gate, key: Key): Promise<{ loaded: string[]; rejected: number }> {
  const entries = async (type: string) =>
    (await gate.call(key, 'GET', `/audit/chain?limit=500&order=asc&eventType=${type}`)).body.data
  const loaded: { data: { changes: { digest: string } } }[] = await entries('policy.loaded')
  return { loaded: loaded.map(({ data }) => data.changes.digest), rejected: (await entries('policy.rejected')).length }
}

/** A set of three files and a list that belong together, and whose digest tells when they do not. */
function version(n: number, more: Payload = {}): Payload {
  return {
    'main.yaml': `apiVersion: gate-sidecar/v1\ntenant: acme\nlists: {known: {file: known.txt}, far: {file: lists/far.txt}}\nrules:\n  - {id: r${n}, actions: ["**"], effect: allow, reason: Version ${n}., when: {fact: agent, operator: notInList, value: known}}\n`,
    'more.yaml': `apiVersion: gate-sidecar/v1\ntenant: acme\nrules:\n  - {id: m${n}, actions: ["m${n}.*"], effect: deny, reason: Version ${n}., when: {fact: agent, operator: inList, value: far}}\n`,
    'known.txt': `version-${n}\n`,
    'lists/far.txt': `far-${n}\n`,
    ...more,
  }
}

function digestOf(payload: Payload): string {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const all = Object.entries(payload)
  const { data, diagnostics } = compilePolicySet({
    tenant: 'acme',
    files: all.filter(([path]) => path.endsWith('.yaml')).map(([name, text]) => ({ name, bytes: bytes(text) })),
    lists: new Map(all.map(([path, text]) => [path, bytes(text)])),
    ignored: [],
  })
  assert.ok(data, JSON.stringify(diagnostics))
  return data.digest
}

test('a ConfigMap: every update comes into force whole, whatever the kubelet is about when the folder is looked at', async (t) => {
  const dir = temporaryFolder()
  const map = configMap(join(dir, 'policies/acme'))
  const extra = { 'extra.yaml': 'apiVersion: gate-sidecar/v1\ntenant: acme\ndomains: {mail: ["mail.*"]}\n' }
  const { 'more.yaml': _, ...without } = version(4)
  const listless = { 'main.yaml': ACME_POLICY }
  // The same, a key more, one less, other keys altogether, and back.
  const updates: Payload[] = [
    version(2),
    version(3, extra),
    { ...without, 'lists/far.txt': 'far\n' },
    listless,
    version(5),
  ]
  // A list that nothing uses is a doubt, and no fault.
  map.write(version(1))
  const gate = await startGate(t, { dir, policies: {} })
  const key = await gate.key()
  await becomes(async () => (await recorded(gate, key)).loaded.length, 1)
  const digests = [digestOf(version(1))]
  for (const [i, payload] of updates.entries()) {
    // A change came into force at a look: the pause is about the next one.
    await sleep(POLL_MS / 2)
    for (const { what, run } of map.update(payload)) {
      run()
      // A link that leads nowhere yet, and one that leads nowhere any more.
      if (what === (i % 2 === 1 ? 'links' : 'exchange')) await sleep(SHORT_MS)
    }
    digests.push(digestOf(payload))
    await becomes(async () => (await state(gate, key)).digest, digests.at(-1))
  }
  assert.deepEqual(await recorded(gate, key), { loaded: digests, rejected: 0 })
  assert.deepEqual(
    (await state(gate, key)).diagnostics.filter(({ code }: { code: string }) => code === 'GATE2001'),
    [],
  )
})

test('a ConfigMap: of many updates in a row each that comes into force is whole, and the last one stays', async (t) => {
  const dir = temporaryFolder()
  const map = configMap(join(dir, 'policies/acme'))
  map.write(version(0))
  const gate = await startGate(t, { dir, policies: {} })
  const key = await gate.key()
  const digests = Array.from({ length: 20 }, (_, n) => digestOf(version(n)))
  for (let n = 1; n < 20; n += 1) {
    // Some are asked for in the middle of the next.
    const asked = n % 3 === 0 ? gate.call(key, 'POST', '/policies/reload') : undefined
    for (const { run } of map.update(version(n))) {
      run()
      await sleep(n % 4 === 0 ? 5 : 0)
    }
    await sleep(n * 15)
    await asked
  }
  await becomes(async () => (await state(gate, key)).digest, digests.at(-1))
  const { loaded, rejected } = await recorded(gate, key)
  for (const digest of loaded) assert.ok(digests.includes(digest), `${digest} is of no version`)
  assert.deepEqual(
    loaded,
    [...loaded].sort((a, b) => digests.indexOf(a) - digests.indexOf(b)),
  )
  assert.equal(rejected, 0)
})

/** As many as take a while to read, so that an exchange falls between two of them. */
function manyFiles(n: number): Payload {
  const text = (i: number) => `apiVersion: gate-sidecar/v1\ntenant: acme\ndomains: {d${i}: ["d${i}.v${n}"]}\n`
  return Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`p${i}.yaml`, text(i)]))
}

fullTest(
  'a ConfigMap that another process exchanges all the time: no mixture of two versions is ever in force',
  async (t) => {
    const dir = temporaryFolder()
    const map = configMap(join(dir, 'policies/acme'))
    const large = (n: number): Payload => ({ ...version(n), ...manyFiles(n) })
    map.write(large(1))
    // The second version lies beside the first; the process exchanges the link as fast as it can, and rests now and then.
    writeFiles(join(dir, 'policies/acme/..other'), large(2))
    const digests = [digestOf(large(1)), digestOf(large(2))]
    const gate = await startGate(t, { dir, policies: {}, watch: 'off' })
    const key = await gate.key()
    const script = `const fs = require('node:fs'); process.chdir(process.argv[1]); const a = fs.readlinkSync('..data')
    for (let n = 0; ; n += 1) { try { fs.symlinkSync(n % 2 ? a : '..other', '..tmp') } catch {} fs.renameSync('..tmp', '..data')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, n % 400 ? 0.2 : 150) }`
    const child = spawn(process.execPath, ['-e', script, join(dir, 'policies/acme')], { stdio: 'inherit' })
    t.after(() => child.kill('SIGKILL'))
    await once(child, 'spawn')
    let settled = 0
    for (let n = 0; n < 10; n += 1) {
      const { data } = (await gate.call(key, 'POST', '/policies/reload')).body
      assert.ok(digests.includes(data.digest))
      if (data.current) settled += 1
      else assert.deepEqual(data.faults, ['The folder changes each time it is read.'])
    }
    t.diagnostic(`${settled} of 10 attempts found two readings that were alike`)
    const { loaded } = await recorded(gate, key)
    for (const digest of loaded) assert.ok(digests.includes(digest), `${digest} is a mixture`)
  },
)

test('what is compiled is what was read: bytes and fingerprint of one reading go together', async (t) => {
  const dir = temporaryFolder()
  writeFiles(dir, { 'acme/main.yaml': version(0)['main.yaml'] ?? '' })
  const script = `const fs = require('node:fs'); for (let n = 0; ; n += 1) { fs.writeFileSync(process.argv[1] + '.tmp', '# ' + n % 7 + '\\n' + process.argv[2]); fs.renameSync(process.argv[1] + '.tmp', process.argv[1]) }`
  const child = spawn(process.execPath, ['-e', script, join(dir, 'acme/main.yaml'), ACME_POLICY], { stdio: 'inherit' })
  t.after(() => child.kill('SIGKILL'))
  const byFingerprint = new Map<string, string>()
  const endMs = performance.now() + HANGS_MS
  // On a busy machine the process may take long to start.
  for (let readings = 0; readings < 1000 || byFingerprint.size < 2; readings += 1) {
    assert.ok(performance.now() < endMs, 'the file does not change')
    await sleep(0)
    const { fingerprint, source } = readTenantFolder(dir, 'acme')
    if ('problem' in source) continue
    const names = JSON.stringify([...source.files.map(({ name }) => name), ...source.ignored])
    const text = names + source.files.map(({ bytes }) => Buffer.from(bytes).toString()).join()
    assert.equal(byFingerprint.get(fingerprint) ?? text, text)
    byFingerprint.set(fingerprint, text)
  }
  assert.equal(new Set(byFingerprint.values()).size, byFingerprint.size)
})

/** Every line more is a policy of its own: what is allowed comes first, what takes it back last. */
const LINES = [
  'apiVersion: gate-sidecar/v1\ntenant: acme\nrules:\n',
  '  - {id: all, actions: ["**"], effect: allow, reason: All.}\n',
  '  - id: but\n',
  '    actions: ["pay.*"]\n    effect: deny\n',
  '    reason: Not this.\n',
  '  - {id: nor, actions: ["email.*"], effect: deny, reason: Nor this.}\n',
]

test('a file that is written piece by piece does not come into force half, though each half is a policy', async (t) => {
  const denying = 'apiVersion: gate-sidecar/v1\ntenant: acme\ndefaults: {decision: deny, reason: Before.}\n'
  const gate = await startGate(t, { policies: { 'acme/main.yaml': denying } })
  const key = await gate.key()
  await becomes(async () => (await recorded(gate, key)).loaded.length, 1)
  const path = join(gate.dir, 'policies/acme/main.yaml')
  writeFileSync(path, '')
  const asked: Promise<Answer>[] = []
  for (const line of LINES) {
    appendFileSync(path, line)
    // Not awaited: a file that rests while a check takes long would rightly come into force.
    asked.push(gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' }))
    await sleep(SHORT_MS)
  }
  for (const { body } of await Promise.all(asked))
    assert.deepEqual([body.data.decision, body.data.reason], ['deny', 'Before.'])
  await becomes(async () => (await state(gate, key)).rules, 3)
  const { loaded, rejected } = await recorded(gate, key)
  assert.deepEqual([loaded.length, rejected], [2, 0])
})

test('however a file is cut into pieces, no piece of it comes into force', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  await becomes(async () => (await recorded(gate, key)).loaded.length, 1)
  const path = join(gate.dir, 'policies/acme/main.yaml')
  let rounds = 0
  const whole = LINES.join('')
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: whole.length - 1 }), { minLength: 2, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(cuts, async (places) => {
      rounds += 1
      const text = `# ${rounds}\n${whole.replaceAll('Not this', `Not this ${rounds}`)}`
      writeFileSync(path, '')
      let from = 0
      for (const to of [...places.sort((a, b) => a - b), text.length]) {
        appendFileSync(path, text.slice(from, to))
        from = to
        await sleep(SHORT_MS)
      }
      await becomes(async () => (await state(gate, key)).digest, digestOf({ 'main.yaml': text }))
      const { loaded, rejected } = await recorded(gate, key)
      assert.deepEqual([loaded.length, rejected], [rounds + 1, 0])
    }),
    { numRuns: runs(4), endOnFailure: true },
  )
})

test('a folder that is written to without end is told of, and what was in force stays', async (t) => {
  let shiftMs = 0
  const gate = await startGate(t, { clock: () => Date.now() + shiftMs })
  const key = await gate.key()
  const path = join(gate.dir, 'policies/acme/main.yaml')
  const writing = setInterval(() => appendFileSync(path, '# more\n'), 100)
  t.after(() => clearInterval(writing))
  await sleep(1200)
  assert.equal((await state(gate, key)).current, true)
  shiftMs = 11_000
  await becomes(async () => (await state(gate, key)).faults[0], 'The folder has been changing for more than 10 s.')
  assert.equal((await state(gate, key)).rules, 4)
  assert.equal((await gate.call(key, 'GET', '/readyz')).body.data.policySetsOutdated, 1)
  clearInterval(writing)
  await becomes(async () => (await state(gate, key)).current, true)
})

// Mishaps of a policy folder and their faults. The set in force stays, and is current again once the folder is back.
const MISHAPS: { name: string; happen: (folder: string) => void; fault: RegExp; mend: (folder: string) => void }[] = [
  {
    name: 'a folder that is deleted',
    happen: (folder) => rmSync(folder, { recursive: true }),
    fault: /^The folder does not exist\.$/,
    mend: (folder) => writeFiles(folder, { 'main.yaml': ACME_POLICY }),
  },
  {
    name: 'a folder that becomes a file',
    happen(folder) {
      rmSync(folder, { recursive: true })
      writeFileSync(folder, ACME_POLICY)
    },
    fault: /^The folder is a file, not a folder\.$/,
    mend(folder) {
      rmSync(folder)
      writeFiles(folder, { 'main.yaml': ACME_POLICY })
    },
  },
  {
    name: 'a folder that gets another name',
    happen: (folder) => renameSync(folder, `${folder}-2`),
    fault: /^The folder does not exist\.$/,
    mend: (folder) => renameSync(`${folder}-2`, folder),
  },
  {
    name: 'a folder without files',
    happen: (folder) => rmSync(join(folder, 'main.yaml')),
    fault: /^acme:1:1 GATE1018 /,
    mend: (folder) => writeFiles(folder, { 'main.yaml': ACME_POLICY }),
  },
  {
    name: 'one file of two that becomes a folder',
    happen: (folder) => mkdirSync(join(folder, 'more.yaml')),
    fault: /^acme\/more\.yaml:1:1 GATE1023 /,
    mend: (folder) => rmSync(join(folder, 'more.yaml'), { recursive: true }),
  },
  {
    name: 'a file that becomes a folder',
    happen(folder) {
      rmSync(join(folder, 'main.yaml'))
      mkdirSync(join(folder, 'main.yaml'))
    },
    fault: /^acme\/main\.yaml:1:1 GATE1023 /,
    mend(folder) {
      rmSync(join(folder, 'main.yaml'), { recursive: true })
      writeFiles(folder, { 'main.yaml': ACME_POLICY })
    },
  },
  {
    name: 'the folder of all policies that is deleted',
    happen: (folder) => rmSync(join(folder, '..'), { recursive: true }),
    fault: /^The folder does not exist\.$/,
    mend: (folder) => writeFiles(folder, { 'main.yaml': ACME_POLICY }),
  },
]

for (const { name, happen, fault, mend } of MISHAPS) {
  test(`${name}: is a fault, the last good set decides, and the return is seen`, async (t) => {
    const gate = await startGate(t)
    const key = await gate.key()
    const { digest } = await state(gate, key)
    const folder = join(gate.dir, 'policies/acme')
    happen(folder)
    await becomes(async () => (await state(gate, key)).current, false)
    const then = await state(gate, key)
    assert.match(then.faults[0], fault)
    assert.equal(then.digest, digest)
    const check = await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
    assert.deepEqual([check.body.data.decision, check.body.data.policyDigest], ['allow', digest])
    mend(folder)
    await becomes(async () => (await state(gate, key)).current, true)
  })
}

test('a deny that has become a folder shows in readiness, and at a first start nothing is in force', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  mkdirSync(join(gate.dir, 'policies/acme/deny.yaml'))
  await becomes(async () => (await gate.call(key, 'GET', '/readyz')).body.data.policySetsOutdated, 1)
  const dir = temporaryFolder()
  mkdirSync(join(dir, 'policies/acme/deny.yaml'), { recursive: true })
  const first = await startGate(t, { dir })
  const agent = await first.key()
  assert.equal((await first.call(agent, 'GET', '/readyz')).status, 503)
  const check = await first.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  assert.equal(check.body.data.decidedBy, 'no_policy')
})

test('the folder under another name is that of another tenant, whose policies name the wrong one', async (t) => {
  const gate = await startGate(t)
  const [key, renamed] = [await gate.key(), await gate.key({ tenant: 'acme-2' })]
  renameSync(join(gate.dir, 'policies/acme'), join(gate.dir, 'policies/acme-2'))
  await becomes(async () => (await state(gate, renamed)).diagnostics[0]?.code, 'GATE1110')
  assert.equal((await state(gate, renamed)).digest, null)
  assert.equal((await state(gate, key)).rules, 4)
})

test('a link that leads nowhere is a fault that names it', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  const map = configMap(join(gate.dir, 'policies/acme'))
  // The kubelet stopped between the visible link and the exchange.
  for (const { run } of map.update({ 'new.yaml': 'x' }).slice(0, 2)) run()
  await becomes(
    async () => (await state(gate, key)).faults[0],
    'The folder holds "new.yaml", which cannot be read (ENOENT).',
  )
})
