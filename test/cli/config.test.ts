import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { run } from './program.ts'

const root = temporaryFolder()
const SOURCES = ['flag', 'env', 'file', 'default'] as const

/** Each source of the setting names a folder whose tenant is called like the source. */
const folderOf = (source: string): string => (source === 'default' ? join(root, 'data') : join(root, source))

before(async () => {
  for (const source of SOURCES) {
    assert.equal((await run(['tenants', 'create', source, '--data', folderOf(source)])).code, 0)
  }
  writeFiles(root, {
    'good.json': JSON.stringify({ data: folderOf('file') }),
    'unknown.json': JSON.stringify({ dta: 'x' }),
    'wrong.json': JSON.stringify({ port: 'many' }),
    'list.json': '[]',
    'text.json': 'data: x',
  })
})

/** All tenants that the command sees, with these sources given. */
async function tenantsWith(given: readonly string[]): Promise<string> {
  const flag = given.includes('flag') ? ['--data', folderOf('flag')] : []
  const file = given.includes('file') ? ['--config', join(root, 'good.json')] : []
  const env: Record<string, string> = given.includes('env') ? { GATE_SIDECAR_DATA: folderOf('env') } : {}
  const { code, stdout, stderr } = await run(['tenants', 'list', ...flag, ...file, '--json'], { cwd: root, env })
  assert.equal(code, 0, stderr)
  const tenants: { id: string }[] = JSON.parse(stdout)
  return tenants.map(({ id }) => id).join()
}

for (const [i, wins] of SOURCES.entries()) {
  test(`settings: ${SOURCES.slice(i).join(' over ')}`, async () => {
    assert.equal(await tenantsWith(SOURCES.slice(i)), wins)
  })
}

const FAULTS: { name: string; args: string[]; env?: Record<string, string>; stderr: RegExp }[] = [
  {
    name: 'an unknown variable',
    args: ['tenants', 'list'],
    env: { GATE_SIDECAR_DTA: 'x' },
    stderr: /GATE_SIDECAR_DTA is not a setting; there are GATE_SIDECAR_DATA/,
  },
  {
    name: 'a variable of the wrong kind',
    args: ['tenants', 'list'],
    env: { GATE_SIDECAR_PORT: 'many' },
    stderr: /GATE_SIDECAR_PORT: "many"/,
  },
  {
    name: 'an unknown key in the file',
    args: ['tenants', 'list', '--config', join(root, 'unknown.json')],
    stderr: /unknown\.json: dta is not a setting; there are data/,
  },
  {
    name: 'a value of the wrong kind in the file',
    args: ['tenants', 'list', '--config', join(root, 'wrong.json')],
    stderr: /wrong\.json: port: "many"/,
  },
  {
    name: 'a file that is no object',
    args: ['tenants', 'list', '--config', join(root, 'list.json')],
    stderr: /must hold a JSON object/,
  },
  {
    name: 'a file that is no JSON',
    args: ['tenants', 'list', '--config', join(root, 'text.json')],
    stderr: /text\.json: /,
  },
  {
    name: 'a file that is not there',
    args: ['tenants', 'list', '--config', join(root, 'none.json')],
    stderr: /none\.json: it cannot be read/,
  },
]

/** As Kubernetes sets them for a Service called gate-sidecar with a named port. */
const LINKS = {
  GATE_SIDECAR_SERVICE_HOST: '10.0.0.7',
  GATE_SIDECAR_SERVICE_PORT: '4283',
  GATE_SIDECAR_SERVICE_PORT_HTTP: '4283',
  GATE_SIDECAR_PORT: 'tcp://10.0.0.7:4283',
  GATE_SIDECAR_PORT_4283_TCP: 'tcp://10.0.0.7:4283',
  GATE_SIDECAR_PORT_4283_TCP_PROTO: 'tcp',
  GATE_SIDECAR_PORT_4283_TCP_PORT: '4283',
  GATE_SIDECAR_PORT_4283_TCP_ADDR: '10.0.0.7',
}

test('settings: the variables of a Kubernetes Service are none', () => {
  const { port, host } = readConfig({ flags: {}, env: LINKS, file: undefined })
  assert.deepEqual([port, host], [4283, '127.0.0.1'])
})

for (const name of ['GATE_SIDECAR_PORT_HTTP', 'GATE_SIDECAR_SERVICE_HOSTS', 'GATE_SIDECAR_PORT_4283_TCP_X']) {
  test(`settings: ${name} is still a mistake`, () => {
    assert.throws(() => readConfig({ flags: {}, env: { [name]: 'x' }, file: undefined }), /is not a setting/)
  })
}

for (const { name, args, env = {}, stderr } of FAULTS) {
  test(`settings: ${name} is refused with 2`, async () => {
    const ended = await run(args, { cwd: root, env })
    assert.equal(ended.code, 2)
    assert.match(ended.stderr, stderr)
    assert.equal(ended.stdout, '')
  })
}
