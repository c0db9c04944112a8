import assert from 'node:assert/strict'
import { chmodSync, chownSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { ACME_POLICY, temporaryFolder, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { run, type Serving, serve } from './program.ts'

const DENYING = `${ACME_POLICY}  - {id: stop, actions: ["**"], effect: deny, reason: Nothing for now.}\n`
const BROKEN = `${ACME_POLICY}nonsense: 1\n`

interface State {
  current: boolean
  watching: boolean
  digest: string | null
  rules: number
  faults: string[]
}

/** A tenant with a policy, and a way to ask as its owner. */
async function prepare() {
  const root = temporaryFolder()
  const path = join(root, 'policies/acme/main.yaml')
  writeFiles(root, { 'policies/acme/main.yaml': ACME_POLICY })
  const data = ['--data', join(root, 'data')]
  const made = await run(['keys', 'create', '--tenant', 'acme', '--role', 'owner', ...data, '--json'])
  assert.equal(made.code, 0, made.stderr)
  const { id, key }: { id: string; key: string } = JSON.parse(made.stdout)
  const headers = { 'x-api-key': key, 'x-tenant-id': 'acme', 'content-type': 'application/json' }
  const ask = async <T>({ url }: Serving, method: string, route: string, body?: object): Promise<T> => {
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const { data: answer }: { data: T } = JSON.parse(await (await fetch(url + route, init)).text())
    return answer
  }
  return {
    root,
    id,
    data,
    options: ['--port', '0', ...data, '--policies', join(root, 'policies')],
    save: (text: string) => writeFileSync(path, text),
    state: (server: Serving) => ask<State>(server, 'GET', '/policies'),
    reload: (server: Serving) => ask<State>(server, 'POST', '/policies/reload'),
    decision: async (server: Serving) =>
      (
        await ask<{ decision: string } | undefined>(server, 'POST', '/gate/check', {
          tenantId: 'acme',
          action: 'email.send',
        })
      )?.decision,
  }
}

const countOf = ({ log }: Serving, msg: string): number => log.filter((entry) => entry.msg === msg).length
const AGAIN = 'policies reloaded'

const OFF: { name: string; args: string[]; env?: Record<string, string>; file?: object }[] = [
  { name: '--watch=off', args: ['--watch=off'] },
  { name: '--watch off', args: ['--watch', 'off'] },
  { name: 'the variable', args: [], env: { GATE_SIDECAR_WATCH: 'off' } },
  { name: 'the file', args: [], file: { watch: 'off' } },
]

for (const { name, args, env = {}, file = {} } of OFF) {
  test(`policies are not watched by ${name}`, async () => {
    const root = temporaryFolder()
    writeFiles(root, { 'gate.json': JSON.stringify(file) })
    const { stdout } = await run(['config', 'print', '--json', '--config', join(root, 'gate.json'), ...args], { env })
    assert.equal(JSON.parse(stdout).watch, 'off')
  })
}

test('policies that are not watched: a change waits until someone asks', async (t) => {
  const { options, save, state, reload, decision } = await prepare()
  const server = await serve(t, [...options, '--watch=off'])
  save(DENYING)
  await sleep(2500)
  assert.equal(await decision(server), 'allow')
  const before = await state(server)
  assert.deepEqual([before.watching, before.current, before.rules], [false, true, 4])
  const { current, rules } = await reload(server)
  assert.deepEqual([current, rules, await decision(server)], [true, 5, 'deny'])
})

for (const watch of ['on', 'off']) {
  test(`SIGHUP reads policies at once, with watch ${watch}: the log says what came of it, and the process goes on`, async (t) => {
    const { options, save, state, decision } = await prepare()
    const server = await serve(t, [...options, '--watch', watch])
    save(DENYING)
    server.send('SIGHUP')
    await until('they are read again', () => countOf(server, AGAIN) === 1)
    assert.equal(await decision(server), 'deny')
    const told = server.log.find(({ msg }) => msg === AGAIN)
    assert.deepEqual([told?.signal, told?.tenants, told?.changed], ['SIGHUP', 1, ['acme']])
    const { digest } = await state(server)
    assert.ok(server.log.some((entry) => entry.msg === 'policies are in force' && entry.digest === digest))
    save(BROKEN)
    server.send('SIGHUP')
    await until('they are read again', () => countOf(server, AGAIN) === 2)
    const refused = server.log.find(({ msg }) => msg === 'policies are refused; those before them stay in force')
    assert.match(String(refused?.fault), /^acme\/main\.yaml:\d+:1 GATE1101 /)
    assert.equal(refused?.digest, digest)
    assert.deepEqual([(await state(server)).digest, (await state(server)).current], [digest, false])
    assert.deepEqual(await server.stop(), { code: 0, signal: null })
  })
}

test('SIGHUP while the service starts counts when it has started, and many in a row or while it stops do no harm', async (t) => {
  const { root, options, decision } = await prepare()
  // Both are read at the start; the large one takes a while longer.
  const rules = Array.from(
    { length: 3000 },
    (_, i) => `  - {id: r${i}, actions: ["a${i}"], effect: deny, reason: R.}\n`,
  )
  writeFiles(root, { 'policies/big/main.yaml': `apiVersion: gate-sidecar/v1\ntenant: big\nrules:\n${rules.join('')}` })
  let heardBeforeListening = false
  const server = await serve(t, [...options, '--watch=off'], {
    heard({ msg, tenantId }, send) {
      if (msg !== 'policies are in force' || tenantId !== 'acme' || heardBeforeListening) return
      heardBeforeListening = true
      send('SIGHUP')
    },
  })
  assert.ok(heardBeforeListening)
  await until('they are read again', () => countOf(server, AGAIN) === 1)
  for (let i = 0; i < 50; i += 1) {
    server.send('SIGHUP')
    if (i % 10 === 0) assert.equal(await decision(server), 'allow')
  }
  let isOver = false
  const ended = server.stop('SIGTERM').finally(() => {
    isOver = true
  })
  while (!isOver) {
    server.send('SIGHUP')
    await sleep(1)
  }
  assert.deepEqual(await ended, { code: 0, signal: null })
  assert.equal(server.log.at(-1)?.msg, 'stopped')
  assert.deepEqual(
    server.log.filter(({ level }) => level === 'error' || level === 50),
    [],
  )
})

/** Sends SIGHUP when the first module of the service is about to be loaded. */
const HOOK = `
export async function resolve(name, context, next) {
  if (name.includes('/dist/')) process.kill(process.pid, 'SIGHUP')
  return next(name, context)
}`

test('SIGHUP while the modules of the service are loaded does not end it', async (t) => {
  const { root, options, decision } = await prepare()
  const register = `import { register } from 'node:module'\nregister('${pathToFileURL(join(root, 'hook.mjs'))}')\n`
  writeFiles(root, { 'hook.mjs': HOOK, 'register.mjs': register })
  const env = { NODE_OPTIONS: `--import=${join(root, 'register.mjs')}` }
  assert.equal(await decision(await serve(t, options, { env })), 'allow')
})

test('with watch off, what else the command line changes acts, and a tenant made later gets its entry', async (t) => {
  const { root, id, data, options, decision } = await prepare()
  writeFiles(root, { 'policies/later/main.yaml': ACME_POLICY.replace('tenant: acme', 'tenant: later') })
  const server = await serve(t, [...options, '--watch=off'])
  assert.equal((await run(['tenants', 'create', 'later', ...data])).code, 0)
  const listed = ['audit', 'list', '--tenant', 'later', '--type', 'policy.loaded', ...data, '--json']
  await until('the entry is there', async () => (await run(listed)).stdout.includes('policy.loaded'))
  const stop = ['--tenant', 'acme', '--level', 'L3', ...data]
  assert.equal((await run(['killswitch', 'trigger', ...stop, '--reason', 'drill'])).code, 0)
  await until('the answer is deny', async () => (await decision(server)) === 'deny')
  assert.equal((await run(['killswitch', 'recover', ...stop, '--comment', 'over'])).code, 0)
  await until('the answer is allow', async () => (await decision(server)) === 'allow')
  assert.equal((await run(['keys', 'revoke', id, ...data])).code, 0)
  await until('the key is refused', async () => (await decision(server)) === undefined)
})

const NOBODY = 65_534

test('files and folders that may not be read are faults of their tenant alone, and come back with their mode', async (t) => {
  const { root, options, state, reload, decision } = await prepare()
  writeFiles(root, { 'policies/other/main.yaml': ACME_POLICY.replace('tenant: acme', 'tenant: other') })
  // Root reads everything, so the service runs as nobody.
  const as = process.getuid?.() === 0 ? { uid: NOBODY } : {}
  chmodSync(root, 0o755)
  if (as.uid !== undefined) {
    for (const path of [
      root,
      ...readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
    ])
      chownSync(path, NOBODY, NOBODY)
  }
  const server = await serve(t, options, as)
  assert.equal(await decision(server), 'allow')
  const folder = join(root, 'policies/acme')
  const file = join(folder, 'main.yaml')
  const rows: [path: string, mode: number, before: number, fault: string][] = [
    [file, 0o000, 0o644, 'The folder holds "main.yaml", which cannot be read (EACCES).'],
    [folder, 0o000, 0o755, 'The folder cannot be read (EACCES).'],
    [join(root, 'policies'), 0o000, 0o755, 'The folder cannot be read (EACCES).'],
  ]
  for (const [path, mode, before, fault] of rows) {
    chmodSync(path, mode)
    await until('the fault shows', async () => (await state(server)).faults[0] === fault)
    assert.deepEqual((await reload(server)).faults, [fault])
    assert.deepEqual([(await state(server)).rules, await decision(server)], [4, 'allow'])
    chmodSync(path, before)
    await until('they are current', async () => (await state(server)).current)
  }
})
