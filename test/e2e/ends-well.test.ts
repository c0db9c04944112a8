import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MakeVerifier } from '../../src/store/sqlite/verifiers.ts'
import { inThisThread, startGate, temporaryFolder } from '../helpers.ts'
import { FULL } from '../tier.ts'
import { until } from '../until.ts'
import { keepAsking } from './kept-alive.ts'
import { assertRecorded, command, folderIn, later, post, serve } from './processes.ts'

const CLIENTS = 32
const RUNS = FULL ? 20 : 1

const WAYS = [
  { name: 'while it is not ready for a second', flags: [], thinkMs: () => 0 },
  { name: 'at once', flags: ['--stop-delay', 'off'], thinkMs: () => 0 },
  { name: 'at once, and clients pause', flags: ['--stop-delay', 'off'], thinkMs: () => Math.random() * 200 },
]

for (const { name, flags, thinkMs } of WAYS) {
  test(`a service that ends under load loses no request on ${CLIENTS} connections: ${name}`, async (t) => {
    const folder = folderIn(temporaryFolder())
    const key = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
    let answered = 0
    for (let run = 0; run < RUNS; run += 1) {
      const service = await serve(t, folder, ...flags)
      const { asked, done } = keepAsking(service.url, key, CLIENTS, thinkMs)
      await until('there are answers', () => asked.answers.length > 10 * CLIENTS)
      const before = asked.answers.length
      await service.end('SIGTERM')
      await done
      assert.equal(service.child.exitCode, 0)
      assert.deepEqual(asked.lost, [], `run ${run}`)
      assert.deepEqual(new Set(asked.answers.map(({ status }) => status)), new Set([200]))
      // Each client was told of the end; none was, before.
      assert.deepEqual([asked.answers.slice(0, before).some(({ isLast }) => isLast), asked.refused], [false, CLIENTS])
      assert.ok(asked.answers.filter(({ isLast }) => isLast).length >= CLIENTS)
      answered += asked.answers.length
    }
    t.diagnostic(`${answered} requests in ${RUNS} runs`)
    assert.ok((await assertRecorded(folder.data, [])) > answered)
  })
}

test('a service that ends is not ready and lives on for its delay, and each answer closes its connection', async (t) => {
  const folder = folderIn(temporaryFolder())
  const key = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const service = await serve(t, folder, '--stop-delay', '20s')
  const get = async (path: string) => {
    const response = await fetch(service.url + path)
    return { status: response.status, text: await response.text(), connection: response.headers.get('connection') }
  }
  assert.deepEqual([(await get('/readyz')).status, (await get('/healthz')).connection], [200, 'keep-alive'])
  service.child.kill('SIGTERM')
  await until('it is not ready', async () => (await get('/readyz')).status === 503)
  const [ready, live] = [await get('/readyz'), await get('/healthz')]
  assert.match(ready.text, /"The service is stopping\."/)
  assert.deepEqual([ready.connection, live.status, live.connection], ['close', 200, 'close'])
  const checked = await post(service.url, key, '/gate/check', { action: 'email.send' })
  assert.equal(checked?.body.data.decision, 'allow')
  await service.ended
  assert.equal(service.child.exitCode, 0)
})

test('a stop ends a verification that runs, and its caller is told to ask again', async (t) => {
  // Never ends by itself, as that of a long chain.
  const verifier: MakeVerifier = () => ({
    verify: (_request, _onProgress, signal) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    close: async () => undefined,
  })
  const gate = await startGate(t, { threads: { ...inThisThread, verifier }, settings: { sweep: 'on' } })
  const auditor = await gate.key({ roles: ['auditor'] })
  const days = { tenantId: 'acme', startDate: '2020-01-01', endDate: '2099-01-01' }
  const asked = gate.call(auditor, 'POST', '/audit/verify', days)
  // The sweep begins by itself.
  await later(6000)
  await gate.server.close()
  const { status, body } = await asked
  assert.deepEqual([status, body.error, body.message], [503, 'overloaded', 'The service is stopping; ask again.'])
})
