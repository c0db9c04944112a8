import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connectionsWithin } from '../../src/http/connections.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { until } from '../until.ts'
import { command, folderIn, type Key, post, serveWithin } from './processes.ts'

const STOP = { level: 'L3', reason: 'drill', triggeredBy: 'olga' }

/** Opens a connection, and sends this. */
async function opened(t: TestContext, url: string, text = ''): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.resume()
  if (text !== '') socket.write(text)
  return socket
}

test('two hundred idle connections, more than files can be opened, do not lock out a stop', async (t) => {
  const folder = folderIn(temporaryFolder())
  const key: Key = await command(
    folder,
    'keys',
    'create',
    '--tenant',
    'acme',
    '--role',
    'operator',
    '--identity',
    'olga',
  )
  const service = await serveWithin(t, 120, folder)
  const sockets: Socket[] = []
  for (let i = 0; i < 200; i += 1) sockets.push(await opened(t, service.url))
  const answer = await post(service.url, key, '/killswitch/trigger', STOP)
  assert.equal(answer?.status, 200, JSON.stringify(answer?.body))
  assert.equal(answer.body.data.persisted, true)
  await until('the oldest are closed', () => sockets.filter(({ closed }) => closed).length >= 180)
  assert.equal(sockets.at(-1)?.closed, false, 'the newest is not')
})

const LIMIT = 16

async function limited(t: TestContext) {
  const gate = await startGate(t, { settings: { maxConnections: String(LIMIT) } })
  const owner = await gate.key({ identity: 'olga' })
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nx-api-key: ${owner.secret}\r\nx-tenant-id: acme\r\n\r\n`
  return { gate, owner, get }
}

test('a connection with a request under way outlives those that are idle', async (t) => {
  const { gate, get } = await limited(t)
  const stream = await opened(t, gate.server.url, get('/events'))
  await once(stream, 'data')
  for (let i = 0; i < 3 * LIMIT; i += 1) await opened(t, gate.server.url)
  assert.equal((await fetch(`${gate.server.url}/healthz`)).status, 200)
  assert.equal(stream.closed, false)
})

test('when every connection reads a stream, the oldest makes room for a stop', async (t) => {
  const { gate, owner, get } = await limited(t)
  const streams: Socket[] = []
  for (let i = 0; i < LIMIT; i += 1) {
    const stream = await opened(t, gate.server.url, get('/events'))
    await once(stream, 'data')
    streams.push(stream)
  }
  const { status } = await gate.call(owner, 'POST', '/killswitch/trigger', { tenantId: 'acme', ...STOP })
  assert.equal(status, 200)
  await until('the oldest has ended', () => streams[0]?.closed)
  assert.equal(
    streams.slice(1).some(({ closed }) => closed),
    false,
  )
})

test('headers that are not there within ten seconds end the connection', async (t) => {
  const gate = await startGate(t)
  const sinceMs = performance.now()
  const socket = await opened(t, gate.server.url, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n')
  await once(socket, 'close')
  const tookMs = performance.now() - sinceMs
  assert.ok(tookMs > 9000 && tookMs < 40_000, `${tookMs} ms`)
})

for (const [openFiles, connections] of [
  [20_000, 10_000],
  [1024, 896],
  [160, 32],
  [120, 16],
  [Number.POSITIVE_INFINITY, 10_000],
] as const) {
  test(`of ${openFiles} open files ${connections} may be connections`, () => {
    assert.equal(connectionsWithin(openFiles), connections)
  })
}
