import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { run } from './program.ts'

const gate = await startGate({ after })
const approver = await gate.key({ roles: ['approver'], identity: 'ann' })
const environment = (secret: string) => ({ GATE_SIDECAR_KEY: secret, GATE_SIDECAR_URL: gate.server.url })

test('console prints a link that signs in with the key, once', async () => {
  const { code, stdout, stderr } = await run(['console', '--tenant', 'acme'], { env: environment(approver.secret) })
  assert.deepEqual([code, stderr], [0, ''])
  const { origin, pathname, hash } = new URL(stdout.split('\n')[0] ?? '')
  assert.deepEqual([origin, pathname], [gate.server.url, '/console/'])
  const headers = { origin, 'x-sign-in-code': hash.slice('#code='.length) }
  const open = () => fetch(`${origin}/session`, { method: 'POST', headers })
  const { data } = (await (await open()).json()) as { data: { identity: string } }
  assert.equal(data.identity, 'ann')
  assert.equal((await open()).status, 401)
})

test('console --json', async () => {
  const { stdout } = await run(['console', '--tenant', 'acme', '--json'], { env: environment(approver.secret) })
  const { url, expiresAt } = JSON.parse(stdout)
  assert.match(url, /\/console\/#code=[\w-]{43}$/)
  assert.equal(Date.parse(expiresAt) > Date.now(), true)
})

test('console without a key, or with one that is not valid, says so', async () => {
  const without = await run(['console', '--tenant', 'acme'], { env: { GATE_SIDECAR_URL: gate.server.url } })
  assert.deepEqual([without.code, without.stdout], [2, ''])
  assert.match(without.stderr, /This command needs an API key: set GATE_SIDECAR_KEY/)
  const invalid = await run(['console', '--tenant', 'acme'], { env: environment('sk_live_x') })
  assert.deepEqual([invalid.code, invalid.stdout], [3, ''])
  assert.match(invalid.stderr, /The API key is not valid/)
})
