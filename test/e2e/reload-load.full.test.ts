import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { compilePolicySet } from '../../src/authoring/load/load.ts'
import { HEADER } from '../authoring/sources.ts'
import { run, type Serving, serve } from '../cli/program.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'

const headerOf = (tenant: string) => `apiVersion: gate-sidecar/v1\ntenant: ${tenant}\n`
const BROKEN = `${headerOf('acme')}rules: [{id: x}]\n`

/** A set whose decision, reason and digest all follow from its number. */
function version(n: number): { text: string; decision: string; digest: string } {
  const decision = n % 2 === 0 ? 'allow' : 'deny'
  const text = `${headerOf('acme')}rules:\n  - {id: r${n}, actions: ["**"], effect: ${decision}, reason: Version ${n}.}\n`
  const files = [{ name: 'main.yaml', bytes: new TextEncoder().encode(text) }]
  const { data } = compilePolicySet({ tenant: 'acme', files, lists: new Map(), ignored: [] })
  assert.ok(data)
  return { text, decision, digest: data.digest }
}

/** The slowest kind of file: rules in flow style. */
function slowRules(tenant: string, count: number, from = 0): string {
  const rule = (_: unknown, i: number): string =>
    `  - {id: r${from + i}, actions: ["a${i % 500}.*"], effect: deny, reason: Reason., when: {all: [{fact: context.amount, operator: greaterThan, value: ${i}}, {fact: context.country, operator: in, value: [DE, FR, IT]}]}}`
  return `${headerOf(tenant)}rules:\n${Array.from({ length: count }, rule).join('\n')}\n`
}

interface Answer<T> {
  status: number
  data: T
}

interface Check {
  decision: string
  reason: string
  policyDigest: string | null
}

interface State {
  current: boolean
  digest: string | null
  rules: number
  faults: string[]
}

/** One connection that is kept open, and its key. */
function connectionOf({ url }: Serving, key: string, tenant: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { 'x-api-key': key, 'x-tenant-id': tenant, 'content-type': 'application/json' }
  return {
    ask: <T>(method: string, path: string, body: object = {}): Promise<Answer<T>> =>
      new Promise((resolve, reject) => {
        const sending = request(url + path, { agent, method, headers }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, data: JSON.parse(text).data }))
        })
        sending.on('error', reject)
        sending.end(method === 'GET' ? undefined : JSON.stringify(body))
      }),
    close: () => agent.destroy(),
  }
}

/** The built program with these policies, and a maker of connections as the owner of a tenant. */
async function start(t: { after(end: () => Promise<void> | void): void }, policies: Record<string, string>) {
  const root = temporaryFolder()
  writeFiles(join(root, 'policies'), policies)
  const data = ['--data', join(root, 'data')]
  const keyOf = async (tenant: string): Promise<string> => {
    const made = await run(['keys', 'create', '--tenant', tenant, '--role', 'owner', ...data, '--json'])
    assert.equal(made.code, 0, made.stderr)
    return JSON.parse(made.stdout).key
  }
  const tenants = [...new Set(Object.keys(policies).map((path) => path.split('/')[0] ?? ''))]
  const keys = new Map<string, string>()
  for (const tenant of tenants) keys.set(tenant, await keyOf(tenant))
  const server = await serve(t, ['--port', '0', ...data, '--policies', join(root, 'policies')])
  return {
    server,
    save: (path: string, text: string) => writeFileSync(join(root, 'policies', path), text),
    connect(tenant = 'acme') {
      const connection = connectionOf(server, keys.get(tenant) ?? '', tenant)
      t.after(connection.close)
      return connection
    },
  }
}

const CHECK = { tenantId: 'acme', action: 'email.send' }

test('under load, while policies change and break many times: no check fails, each agrees with its digest, none is older than what was answered', async (t) => {
  const versions = Array.from({ length: 16 }, (_, n) => version(n))
  const { save, connect } = await start(t, { 'acme/main.yaml': versions[0]?.text ?? '' })
  let answered = 0
  let going = true
  let [checks, seenWhileBroken] = [0, 0]
  let broken = false
  const load = async (): Promise<void> => {
    const { ask } = connect()
    let newest = 0
    while (going) {
      const known = Math.max(newest, answered)
      const { status, data } = await ask<Check>('POST', '/gate/check', CHECK)
      assert.equal(status, 200)
      const n = versions.findIndex(({ digest }) => digest === data.policyDigest)
      assert.deepEqual([data.decision, data.reason], [versions[n]?.decision, `Version ${n}.`])
      assert.ok(n >= known, `version ${n} was answered after version ${known}`)
      newest = n
      checks += 1
      if (broken) seenWhileBroken += 1
    }
  }
  const loads = Array.from({ length: 8 }, load)
  const change = async (): Promise<void> => {
    const { ask } = connect()
    for (const [n, { text, digest }] of versions.entries()) {
      if (n === 0) continue
      if (n % 4 === 0) {
        save('acme/main.yaml', BROKEN)
        const { status, data } = await ask<State>('POST', '/policies/reload')
        assert.deepEqual([status, data.current, data.digest], [200, false, versions[n - 1]?.digest])
        broken = true
        const seen = seenWhileBroken
        await sleep(200)
        await until('checks are answered meanwhile', () => seenWhileBroken > seen + 10)
        broken = false
      }
      save('acme/main.yaml', text)
      if (n % 5 === 0) {
        // Nobody asks: it is seen.
        await until('it is seen', async () => (await ask<State>('GET', '/policies')).data.digest === digest)
      } else {
        const { data } = await ask<State>('POST', '/policies/reload')
        assert.deepEqual([data.current, data.digest], [true, digest])
      }
      answered = n
      await sleep(100)
      await until('enough checks are answered', () => checks > 40 * n)
    }
  }
  try {
    await change()
  } finally {
    going = false
  }
  await Promise.all(loads)
  t.diagnostic(`${checks} checks over 8 connections, ${seenWhileBroken} of them while the newest set was broken`)
  assert.ok(checks > 500 && seenWhileBroken > 10)
})

test('a set that takes all the time of its thread holds up neither another tenant nor a check', async (t) => {
  const { server, save, connect } = await start(t, {
    'acme/main.yaml': version(0).text,
    'slow/main.yaml': headerOf('slow'),
  })
  const [acme, slow, probe] = [connect(), connect('slow'), connect()]
  for (let i = 0; i < 15; i += 1) save(`slow/p${i}.yaml`, slowRules('slow', 4000, i * 4000))
  const reloading = slow.ask<State>('POST', '/policies/reload')
  let ended = false
  void reloading.finally(() => {
    ended = true
  })
  await sleep(500)
  save('acme/main.yaml', version(1).text)
  const started = performance.now()
  const { data } = await acme.ask<State>('POST', '/policies/reload')
  assert.deepEqual([data.current, data.digest, ended], [true, version(1).digest, false])
  t.diagnostic(`the other tenant's set was in force after ${(performance.now() - started).toFixed(0)} ms`)
  save('acme/main.yaml', version(2).text)
  let answered = 0
  while (!ended) {
    const check = await probe.ask<Check>('POST', '/gate/check', CHECK)
    assert.equal(check.status, 200)
    answered += 1
    await sleep(5)
  }
  const seen = async () => (await acme.ask<State>('GET', '/policies')).data.digest
  await until('it is seen', async () => (await seen()) === version(2).digest)
  const refused = (await reloading).data
  assert.equal(refused.current, false)
  assert.match(refused.faults[0] ?? '', /^The policy set (takes more than 20 s to load and test|cannot be loaded: )/)
  // While the event loop loads, hardly any is.
  assert.ok(answered > 50, `${answered} checks`)
  assert.deepEqual(await server.stop(), { code: 0, signal: null })
})

test('validation that takes all the time of its thread holds up no reload', async (t) => {
  const { save, connect } = await start(t, { 'acme/main.yaml': version(0).text })
  const [author, operator] = [connect(), connect()]
  const files = Array.from({ length: 5 }, (_, i) => ({ name: `p${i}.yaml`, text: slowRules('acme', 3000, i * 3000) }))
  const validating = author.ask<{ valid: boolean }>('POST', '/policies/validate', { files })
  await sleep(300)
  save('acme/main.yaml', version(1).text)
  const first = await Promise.race([operator.ask<State>('POST', '/policies/reload'), validating])
  assert.ok('digest' in first.data && 'current' in first.data, 'the reload is answered first')
  assert.equal(first.data.digest, version(1).digest)
  assert.deepEqual([(await validating).status, (await validating).data.valid], [200, false])
})

test('10,000 rules come into force while others are answered', async (t) => {
  const { save, connect } = await start(t, { 'acme/main.yaml': version(0).text })
  const [operator, probe] = [connect(), connect()]
  const facts = `${HEADER}facts: {context.amount: {type: number, default: 0}, context.country: {type: string, default: x}}\n`
  save('acme/main.yaml', facts)
  for (let i = 0; i < 4; i += 1) save(`acme/p${i}.yaml`, slowRules('acme', 2500, i * 2500))
  const started = performance.now()
  let ended = false
  // On a machine that is busy with other work a thread may not come to its end; who asks again has it tried again.
  const reload = async (triesLeft: number): Promise<Answer<State>> => {
    const answer = await operator.ask<State>('POST', '/policies/reload')
    return answer.data.current || triesLeft === 0 ? answer : reload(triesLeft - 1)
  }
  const reloading = reload(2).finally(() => {
    ended = true
  })
  let answered = 0
  while (!ended) {
    assert.equal((await probe.ask<Check>('POST', '/gate/check', CHECK)).status, 200)
    answered += 1
    await sleep(5)
  }
  const { data } = await reloading
  assert.deepEqual([data.faults, data.current, data.rules], [[], true, 10_000])
  t.diagnostic(`in force after ${(performance.now() - started).toFixed(0)} ms, with ${answered} checks meanwhile`)
  // While the event loop loads, hardly any is.
  assert.ok(answered > 50, `${answered} checks`)
})
