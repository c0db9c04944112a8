import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { hookExample } from '../../src/http/facades/claude-code.ts'
import { ROUTES, type RouteId } from '../../src/keys/routes.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { fullTest } from '../tier.ts'
import { until } from '../until.ts'
import { command, folderIn, type Key, later, post, serve } from './processes.ts'

const HELD = { action: 'payment.transfer', context: { amount: 5000 } }
const evaluation = {
  subject: { type: 'user', id: 'u' },
  action: { name: 'email.send' },
  resource: { type: 'r', id: 'r' },
}

/** Every route that decides, with a request that would be recorded. */
const ASKED: readonly (readonly [RouteId, object, string?])[] = [
  ['check', { tenantId: 'acme', action: 'email.send' }],
  ['check', { tenantId: 'acme', ...HELD }],
  ['check', { tenantId: 'acme', action: 'email.send' }, '?wait=1'],
  ['opaDecision', { input: { tool: { name: 'email.send' } } }],
  ['opaAllow', { input: { tool: { name: 'email.send' } } }],
  ['evaluation', evaluation],
  ['evaluations', { evaluations: [evaluation, evaluation] }],
  ['claudeCodeHook', hookExample.body],
]

/** Sends a request; `giveUp` closes its connection. */
function sent(url: string, { key, tenantId }: Key, path: string, body: object, agent: Agent) {
  const headers = { 'x-api-key': key, 'x-tenant-id': tenantId, 'content-type': 'application/json' }
  const made = request(url + path, { method: 'POST', headers, agent })
  const flushed = new Promise<void>((resolve, reject) => {
    made.once('finish', resolve)
    made.once('error', reject)
    made.once('response', () => reject(new Error('the service answered')))
  })
  made.end(JSON.stringify(body))
  return {
    flushed,
    giveUp() {
      made.on('error', () => undefined)
      made.destroy()
    },
  }
}

test('a request whose client has gone before the commit is recorded by no route', async (t) => {
  const folder = folderIn(temporaryFolder())
  const key: Key = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const service = await serve(t, folder)
  const known = []
  const asked = []
  for (const [route, body, query = ''] of ASKED) {
    const kept = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => kept.destroy())
    known.push(await post(service.url, key, '/gate/check', { action: 'email.send' }, kept))
    for (const agent of [kept, new Agent()]) asked.push({ path: ROUTES[route].path + query, body, agent })
  }
  service.child.kill('SIGSTOP')
  const gone = asked.map(({ path, body, agent }) => sent(service.url, key, path, body, agent))
  await Promise.all(gone.map(({ flushed }) => flushed))
  // The kernel has the requests before the connections are closed, and holds both for longer than any turn takes.
  await later(100)
  for (const { giveUp } of gone) giveUp()
  await later(500)
  service.child.kill('SIGCONT')
  known.push(await post(service.url, key, '/gate/check', { action: 'email.send' }))
  await service.end('SIGTERM')
  assert.deepEqual(
    await decisionsOf(folder.data),
    known.map((reply) => reply?.body.data.decisionId),
  )
})

/** Longer than Node.js keeps an idle connection by default, so that its timer is over when the process goes on. */
const HALT_MS = 7000

fullTest('a request on a kept connection, sent while the process stands still, is answered', async (t) => {
  const folder = folderIn(temporaryFolder())
  const key: Key = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const service = await serve(t, folder)
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => kept.destroy())
  const before = await post(service.url, key, '/gate/check', { action: 'email.send' }, kept)
  service.child.kill('SIGSTOP')
  const asked = post(service.url, key, '/gate/check', { action: 'email.send' }, kept)
  await later(HALT_MS)
  service.child.kill('SIGCONT')
  assert.deepEqual([before?.status, (await asked)?.status], [200, 200])
})

async function decisionsOf(data: string): Promise<string[]> {
  const store = openStore({ dir: data, create: false, clock: Date.now })
  try {
    const entries = await store.entriesFrom('acme/live', 0, 100)
    return entries
      .filter(({ header }) => header.type === 'gate.decision')
      .map(({ header }) => header.id.replace('aud_', 'dec_'))
  } finally {
    await store.close()
  }
}

test('a client that goes while another process holds the file leaves no decision', async (t) => {
  const gate = await startGate(t)
  const { secret } = await gate.key({ roles: ['agent'] })
  const key = { key: secret, tenantId: 'acme' }
  const writer = openDatabase(join(gate.dir, 'data'), { create: false })
  t.after(() => writer.close())
  writer.exec('BEGIN IMMEDIATE')
  const agent = new Agent()
  const asked = sent(gate.server.url, key, '/gate/check', { tenantId: 'acme', action: 'email.send' }, agent)
  await asked.flushed
  const patient = post(gate.server.url, key, '/gate/check', { action: 'email.send' })
  await later(100)
  asked.giveUp()
  await later(100)
  writer.exec('ROLLBACK')
  const answer = await patient
  const recorded = await until('the one that waited is recorded', async () => {
    const entries = await gate.server.store.entriesFrom('acme/live', 0, 100)
    const decisions = entries.filter(({ header }) => header.type === 'gate.decision')
    return decisions.length > 0 && decisions
  })
  assert.deepEqual(
    recorded.map(({ header }) => header.id.replace('aud_', 'dec_')),
    [answer?.body.data.decisionId],
  )
})
