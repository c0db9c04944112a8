import assert from 'node:assert/strict'
import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { isFromHere, isLoopback } from '../../src/base/host.ts'
import { createLogger } from '../../src/service/log.ts'
import { startGate, temporaryFolder } from '../helpers.ts'

interface Asked {
  path?: string
  headers?: Record<string, string>
}

/** Asks at the address; the Host header is what the caller writes. */
function ask(host: string, port: string, { path = '/metrics', headers = {} }: Asked = {}): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const asking = request({ host, port, path, headers: { host: 'localhost', ...headers } }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve([response.statusCode ?? 0, text])
    })
    asking.once('error', reject).end()
  })
}

/** Addresses of this machine on its networks: a peer that connects to one of them comes from there. */
const NETWORK = Object.values(networkInterfaces())
  .flatMap((found) => found ?? [])
  .filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
  .map(({ address }) => address)

async function onEveryAddress(t: TestContext, host = '::', allowedHosts = '') {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const settings = { host, ...(allowedHosts !== '' && { allowedHosts }) }
  const gate = await startGate(t, { settings, log: createLogger('warn', stream) })
  return { gate, lines, port: new URL(gate.server.url).port }
}

test('figures are given to this machine without a key, and to others with one of an auditor or operator', async (t) => {
  if (NETWORK.length === 0) return t.skip('this machine has no network')
  const { gate, port } = await onEveryAddress(t)
  const statusOf = async (host: string, asked?: Asked): Promise<number> => (await ask(host, port, asked))[0]
  for (const host of ['127.0.0.1', '::1']) assert.equal(await statusOf(host), 200, host)
  const [agent, auditor, operator] = await Promise.all(
    (['agent', 'auditor', 'operator'] as const).map(async (role) => (await gate.key({ roles: [role] })).secret),
  )
  for (const host of NETWORK) {
    const [status, text] = await ask(host, port)
    assert.deepEqual([status, JSON.parse(text).error], [401, 'unauthenticated'], host)
    assert.ok(!text.includes('gate_sidecar_'))
    for (const name of ['127.0.0.1', '[::1]', 'localhost:1', `LOCALHOST`])
      assert.equal(await statusOf(host, { headers: { host: name } }), 401, name)
    assert.equal(await statusOf(host, { headers: { 'x-api-key': `${auditor}` } }), 200)
    assert.equal(await statusOf(host, { headers: { authorization: `Bearer ${operator}` } }), 200)
    assert.equal(await statusOf(host, { headers: { 'x-api-key': `${agent}` } }), 403)
    assert.equal(await statusOf(host, { headers: { 'x-api-key': 'gsk_none' } }), 401)
    assert.equal(await statusOf(host, { path: '/healthz' }), 200, 'probes need no key')
    assert.equal(await statusOf(host, { path: '/readyz' }), 200, 'probes need no key')
  }
})

test('what a proxy on this machine passes on comes from elsewhere', async (t) => {
  const { port } = await onEveryAddress(t, '127.0.0.1')
  for (const name of ['forwarded', 'via', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-proto', 'X-Forwarded-Host'])
    assert.equal((await ask('127.0.0.1', port, { headers: { [name]: 'x' } }))[0], 401, name)
})

test('a key that is guessed for the figures counts as one that is guessed anywhere', async (t) => {
  const { port } = await onEveryAddress(t, '127.0.0.1')
  const headers = { via: 'x', 'x-api-key': 'gsk_guess' }
  const codes = new Set<number>()
  for (let n = 0; n < 2000 && !codes.has(429); n += 1) codes.add((await ask('127.0.0.1', port, { headers }))[0])
  assert.deepEqual([...codes], [401, 429])
})

test('a Unix socket is asked from this machine', async (t) => {
  const socketPath = join(temporaryFolder(), 'gate.sock')
  await startGate(t, { settings: { socket: socketPath } })
  const status = await new Promise((resolve) =>
    request({ socketPath, path: '/metrics', headers: { host: 'localhost' } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    }).end(),
  )
  assert.equal(status, 200)
})

const ADDRESSES: [address: string | undefined, isLocal: boolean][] = [
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  [undefined, true],
  ['10.0.0.1', false],
  ['::ffff:10.0.0.1', false],
  ['128.127.0.1', false],
  ['::', false],
  ['fd00::1', false],
  ['1270.0.0.1', false],
]
for (const [address, isLocal] of ADDRESSES) {
  test(`a peer at ${address ?? 'a Unix socket'} is ${isLocal ? '' : 'not '}on this machine`, () => {
    assert.equal(isFromHere(address, { host: 'localhost' }), isLocal)
    if (address !== undefined) assert.equal(isLoopback(address), isLocal)
  })
}

const HOSTS: [host: string, allowedHosts: string, told: RegExp[]][] = [
  ['127.0.0.1', '', []],
  ['localhost', '', []],
  ['0.0.0.0', '', [/without TLS/, /set allowedHosts/]],
  ['::', 'gate.internal', [/without TLS/]],
]
for (const [host, allowedHosts, told] of HOSTS) {
  test(`listening on ${host} ${told.length > 0 ? 'warns' : 'says nothing'}`, async (t) => {
    const { lines } = await onEveryAddress(t, host, allowedHosts)
    const about = lines.filter((line) => line.includes('"host"'))
    assert.equal(about.length, told.length, about.join(''))
    for (const [i, pattern] of told.entries()) assert.match(about[i] ?? '', pattern)
  })
}
