import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, ROOT, start } from '../bench/processes.ts'
import { run } from '../test/cli/program.ts'
import { scene } from './scene.ts'

/**
 * Plays requests of every kind through Prism, which holds each answer to docs/openapi.json with a validator of its own:
 * `npm run contract`. Exit 1 when it finds anything.
 */

const BIN = join(ROOT, 'bin/gate-sidecar.js')
const PRISM = join(ROOT, 'contract/node_modules/@stoplight/prism-cli/dist/index.js')
const dir = mkdtempSync(join(tmpdir(), 'gate-sidecar-contract-'))

async function keyOf(...roles: string[]): Promise<string> {
  const args = ['keys', 'create', '--tenant', 'acme', ...roles.flatMap((role) => ['--role', role]), '--data', dir]
  const { stdout } = await run([...args, '--json'])
  return JSON.parse(stdout).key
}

const owner = await keyOf('owner')
const agent = await keyOf('agent')
const service = await start(
  process.execPath,
  [BIN, 'serve', '--port', '0', '--data', dir, '--policies', join(ROOT, 'policies')],
  (line) => /"url":"([^"]+)"/.exec(line)?.[1],
)
const port = await freePort()
const prism = await start(
  process.execPath,
  [PRISM, 'proxy', join(ROOT, 'docs/openapi.json'), service.found, '--port', String(port), '--errors', 'false'],
  (line) => (line.includes('Prism is listening') ? true : undefined),
)
try {
  const { requests, findings } = await scene(`http://127.0.0.1:${port}`, { owner, agent })
  for (const finding of findings) process.stderr.write(`${finding}\n`)
  process.stdout.write(`Prism: ${requests} requests, ${findings.length} findings.\n`)
  if (findings.length > 0) process.exitCode = 1
} finally {
  await prism.stop()
  await service.stop()
  rmSync(dir, { recursive: true })
}
