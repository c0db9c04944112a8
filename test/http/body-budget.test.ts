import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { fullTest } from '../tier.ts'
import { HANGS_MS } from '../until.ts'
import { assertDone, assertRefused } from './support.ts'

type Key = Awaited<ReturnType<Gate['key']>>

const MIB = 1024 * 1024
/** Limit of one key, in requests of the largest size. */
const OF_ONE_KEY = 16
/** Number of keys, each at its own limit, that reach the limit of all keys together. */
const KEYS = 5

/** A request whose body stops before its end: by one byte, unless other is told. */
function unfinished(
  t: TestContext,
  gate: Gate,
  key: Key,
  length = `Content-Length: ${MIB}`,
  body = ' '.repeat(MIB - 1),
): Promise<Socket> {
  const { hostname, port } = new URL(gate.server.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  const head = [
    'POST /gate/check HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `X-Api-Key: ${key.secret}`,
    `X-Tenant-Id: ${key.tenant}`,
    'Content-Type: application/json',
    length,
  ]
  return new Promise((resolve) => {
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => resolve(socket))
  })
}

async function hold(t: TestContext, gate: Gate, key: Key): Promise<Socket[]> {
  return Promise.all(Array.from({ length: OF_ONE_KEY }, () => unfinished(t, gate, key)))
}

/** Large requests of the key until another is refused: while they are read, a check may take the place of one. */
async function fill(t: TestContext, gate: Gate, key: Key): Promise<Socket[]> {
  const sockets = await hold(t, gate, key)
  const fillAndCheck = async (): Promise<Answer> => {
    sockets.push(await unfinished(t, gate, key))
    return check(gate, key)
  }
  assertRefused(await becomes(fillAndCheck, 'overloaded'), 'overloaded')
  return sockets
}

function check(gate: Gate, key: Key, bytes = 99): Promise<Answer> {
  const body = { tenantId: key.tenant, action: 'email.send', context: { a: 'x'.repeat(bytes) } }
  return gate.call(key, 'POST', '/gate/check', body)
}

/** Asks until the code is the wanted one: the service learns of bytes and of closed connections a little later. */
async function becomes(ask: () => Promise<Answer>, code: string | undefined): Promise<Answer> {
  const end = performance.now() + HANGS_MS
  let answer = await ask()
  while (answer.body.error !== code && performance.now() < end) {
    await sleep(20)
    answer = await ask()
  }
  return answer
}

test('a key whose large requests wait is told that it has too many; others are answered, and so is it afterwards', async (t) => {
  const gate = await startGate(t)
  const greedy = await gate.key({ roles: ['agent'] })
  const modest = await gate.key({ roles: ['agent'] })
  const sockets = await fill(t, gate, greedy)
  assertDone(await check(gate, modest))
  for (const socket of sockets) socket.destroy()
  assertDone(await becomes(() => check(gate, greedy), undefined))
})

test('when all together hold too much, large requests are refused, and small ones and stops are taken', async (t) => {
  const gate = await startGate(t)
  const operator = await gate.key({ roles: ['operator'] })
  const agent = await gate.key({ roles: ['agent'] })
  const sockets: Socket[] = []
  // Requests that are refused at the same time count against each other, and on a slow disk those held time out: more follow.
  const fillAndCheck = async (): Promise<Answer> => {
    const keys = await Promise.all(Array.from({ length: KEYS }, () => gate.key({ roles: ['agent'] })))
    sockets.push(...(await Promise.all(keys.map((key) => hold(t, gate, key)))).flat())
    return check(gate, agent, 500_000)
  }
  assertRefused(await becomes(fillAndCheck, 'overloaded'), 'overloaded')
  assertDone(await check(gate, agent))
  const stop = { tenantId: 'acme', level: 'L3', reason: 'drill', triggeredBy: 'ann' }
  assertDone(await gate.call(operator, 'POST', '/killswitch/trigger', stop))
  // The gate closes sooner when no request waits.
  for (const socket of sockets) socket.destroy()
})

test('a key that holds all it may has a place for a stop', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key({ roles: ['owner'] })
  const sockets = await fill(t, gate, owner)
  const stop = { tenantId: 'acme', level: 'L3', reason: 'drill', triggeredBy: 'ann' }
  assertDone(await gate.call(owner, 'POST', '/killswitch/trigger', stop))
  for (const socket of sockets) socket.destroy()
})

fullTest('a body in chunks of one byte costs no more memory than one in a piece', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key({ roles: ['agent'] })
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  /** Returns the used heap in MiB, after a garbage collection. */
  const keptMib = (): number => {
    collect()
    return process.memoryUsage().heapUsed / MIB
  }
  const before = keptMib()
  const chunks = '1\r\n \r\n'.repeat(250_000)
  for (let i = 0; i < 4; i += 1) await unfinished(t, gate, key, 'Transfer-Encoding: chunked', chunks)
  await sleep(500)
  const grown = keptMib() - before
  // A chunk that is kept as it came costs some 70 bytes, once what was made on the way is collected: 65 MiB for these.
  assert.ok(grown < 20, `${grown.toFixed(0)} MiB`)
  assertDone(await check(gate, key))
})

test('a body of more values than a request may have is refused, however small', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key({ roles: ['agent'] })
  const body = (values: number) => ({
    tenantId: 'acme',
    action: 'email.send',
    context: { list: Array.from({ length: values }, () => 0) },
  })
  assertDone(await gate.call(key, 'POST', '/gate/check', body(9990)))
  assertRefused(await gate.call(key, 'POST', '/gate/check', body(10_000)), 'invalid_json')
})
