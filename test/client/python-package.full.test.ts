import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startGate, temporaryFolder } from '../helpers.ts'
import { PYTHON_FOLDER } from '../python.ts'

/* What others install with pip, into an environment of its own and without any network. */

const run = promisify(execFile)

const ASKS = `
import os, sys
from gate_sidecar.client import GateClient
gate = GateClient(tenant_id="acme", api_key=os.environ["KEY"], base_url=os.environ["URL"])
print(gate.decide({"action": "email.send", "context": {"to": "joe@example.com"}})["decision"])
`

test('the wheel that pip builds asks a sidecar, and has the licence and the command of the verifier', async (t) => {
  const gate = await startGate(t)
  const { secret } = await gate.key({ roles: ['agent'] })
  const [wheels, environment] = [temporaryFolder(), temporaryFolder()]
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--quiet']
  await run('python3', [...pip, 'wheel', '--no-index', '--no-deps', '--wheel-dir', wheels, PYTHON_FOLDER])
  const [wheel = ''] = readdirSync(wheels)
  await run('python3', ['-m', 'venv', environment])
  const python = join(environment, 'bin/python')
  await run(python, [...pip, 'install', '--no-index', join(wheels, wheel)])
  const env = { KEY: secret, URL: gate.server.url }
  assert.equal((await run(python, ['-c', ASKS], { cwd: wheels, env })).stdout, 'allow\n')
  const { stdout } = await run(python, ['-m', 'pip', 'show', '--files', 'gate-sidecar'])
  assert.match(stdout, /licenses\/LICENSE\n/)
  assert.match((await run(python, ['-m', 'gate_sidecar.verify', '--help'], { cwd: wheels })).stdout, /--trust/)
})
