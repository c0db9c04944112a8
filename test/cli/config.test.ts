import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { Json } from '../../src/base/json.ts'
import { schemaCompiler } from '../../src/base/schema.ts'
import { readConfig, readSettings } from '../../src/service/config.ts'
import { configSchema } from '../../src/service/config-schema.ts'
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
    name: 'a flag of the wrong kind, called as it was given',
    args: ['config', 'print', '--allowed-hosts', 'a,,b'],
    stderr: /--allowed-hosts: "a,,b" is not accepted/,
  },
  {
    name: 'a port that is too large',
    args: ['config', 'print', '--port', '99999'],
    stderr: /--port: "99999" is not accepted \(.*at most 65535/,
  },
  {
    name: 'a way to watch that is none',
    args: ['config', 'print', '--watch=no'],
    stderr: /--watch: "no" is not accepted \(on: /,
  },
  {
    name: 'a way to count rates that is none',
    args: ['config', 'print', '--rate-limits=host'],
    stderr: /--rate-limits: "host" is not accepted \(sidecar: .*; fleet: /,
  },
  {
    name: 'a name that is empty',
    args: ['config', 'print', '--name='],
    stderr: /--name: "" is not accepted \(name of this sidecar/,
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

// Each row is a file, and whether it is a configuration.
const BOUNDS = { since: '1h', maxNewAllows: 0, maxNewDenies: 10 }
const CONTENTS: [content: Record<string, Json>, good: boolean][] = [
  [{}, true],
  [{ $schema: './config.schema.json' }, true],
  [{ $schema: '' }, true],
  [{ $schema: 3 }, false],
  [{ schema: 'x' }, false],
  [{ data: 'x', policies: 'y', host: '::' }, true],
  [{ policies: 'store:' }, true],
  [{ data: '' }, false],
  [{ data: null }, false],
  [{ host: 3 }, false],
  [{ port: 0 }, true],
  [{ port: 65_535 }, true],
  [{ port: 4283.0 }, true],
  [{ port: 65_536 }, false],
  [{ port: -1 }, false],
  [{ port: 1.5 }, false],
  [{ port: '4283' }, false],
  [{ port: null }, false],
  [{ port: true }, false],
  [{ socket: '/run/gate.sock' }, true],
  [{ socket: null, signingKey: null }, true],
  [{ socket: '' }, false],
  [{ signingKey: ['x'] }, false],
  [{ anchorFile: '/mnt/anchors.jsonl', anchorSecret: '/run/secret' }, true],
  [{ anchorFile: null, anchorUrl: null, anchorSecret: null }, true],
  [{ anchorFile: '' }, false],
  [{ anchorSecret: 3 }, false],
  [{ anchorUrl: 'https://siem.example/hooks/gate?x=1' }, true],
  [{ anchorUrl: 'http://[::1]:8080' }, true],
  [{ anchorUrl: 'ftp://siem.example/' }, false],
  [{ anchorUrl: 'siem.example' }, false],
  [{ anchorUrl: 'https://' }, false],
  [{ anchorUrl: 'https://user:pass@siem.example/' }, false],
  [{ anchorUrl: 'https://siem.example/a b' }, false],
  [{ maxConnections: 16 }, true],
  [{ maxConnections: null }, true],
  [{ maxConnections: 15 }, false],
  [{ maxConnections: 16.5 }, false],
  [{ maxConnections: '16' }, false],
  [{ maxConnections: 1_000_001 }, false],
  [{ requireReplay: null }, true],
  [{ requireReplay: BOUNDS }, true],
  [{ requireReplay: { ...BOUNDS, since: '90d' } }, true],
  [{ requireReplay: { ...BOUNDS, since: '91d' } }, false],
  [{ requireReplay: { ...BOUNDS, since: '0h' } }, false],
  [{ requireReplay: { ...BOUNDS, since: 3600 } }, false],
  [{ requireReplay: { ...BOUNDS, maxNewAllows: -1 } }, false],
  [{ requireReplay: { ...BOUNDS, maxNewDenies: 0.5 } }, false],
  [{ requireReplay: { ...BOUNDS, maxNewDenies: '0' } }, false],
  [{ requireReplay: { ...BOUNDS, more: 1 } }, false],
  [{ requireReplay: { since: '1h', maxNewAllows: 0 } }, false],
  [{ requireReplay: 'since=1h,maxNewAllows=0,maxNewDenies=0' }, false],
  [{ allowedHosts: [] }, true],
  [{ allowedHosts: ['a.example', 'B'] }, true],
  [{ allowedHosts: 'a,b' }, false],
  [{ allowedHosts: [''] }, false],
  [{ allowedHosts: ['a', null] }, false],
  [{ allowedHosts: ['gate.internal', '10.0.0.7', '[fd00::7]', 'a_b-c'] }, true],
  [{ allowedHosts: ['*'] }, false],
  [{ allowedHosts: ['*.internal'] }, false],
  [{ allowedHosts: ['gate:4283'] }, false],
  [{ allowedHosts: ['http://gate'] }, false],
  [{ allowedHosts: ['fd00::7'] }, false],
  [{ allowedHosts: ['gate/'] }, false],
  [{ allowedHosts: null }, false],
  [{ watch: 'on' }, true],
  [{ watch: 'off' }, true],
  [{ watch: false }, false],
  [{ watch: 'Off' }, false],
  [{ logLevel: 'silent' }, true],
  [{ logLevel: 'INFO' }, false],
  [{ logLevel: null }, false],
]
const TEXTS: [text: string, value: object | undefined][] = [
  ['since=1h,maxNewAllows=0,maxNewDenies=10', BOUNDS],
  [' maxNewDenies = 10, since=1h ,maxNewAllows=0', BOUNDS],
  ['since=1h,maxNewAllows=0', undefined],
  ['since=1h,maxNewAllows=0,maxNewDenies=10,maxNewDenies=99', undefined],
  ['since=1h,maxNewAllows=x,maxNewDenies=10', undefined],
  ['__proto__=1,since=1h,maxNewAllows=0,maxNewDenies=10', undefined],
  ['', undefined],
]
for (const [text, value] of TEXTS)
  test(`the bounds of a replay in a flag: ${text}`, () => {
    const read = () => readConfig({ flags: { requireReplay: text }, env: {}, file: undefined }).requireReplay
    if (value !== undefined) assert.deepEqual(read(), value)
    else assert.throws(read, { name: 'ConfigError', message: /^--require-replay: .* is not accepted/ })
  })

const fits = schemaCompiler({ allErrors: false }).compile(configSchema())

for (const [i, [content, good]] of CONTENTS.entries()) {
  const text = JSON.stringify(content)
  test(`settings: the schema and the parser ${good ? 'accept' : 'refuse'} ${text}`, () => {
    assert.equal(fits(content), good)
    const file = join(root, `content-${i}.json`)
    writeFiles(root, { [`content-${i}.json`]: text })
    const read = () => readConfig({ flags: {}, env: {}, file })
    if (good) assert.doesNotThrow(read)
    else assert.throws(read, { name: 'ConfigError' })
  })
}

test('settings: the schema has the default of each setting, and accepts it', () => {
  const { properties } = configSchema()
  const defaults = Object.entries(Object(properties)).flatMap(([name, schema]) =>
    name === '$schema' ? [] : [[name, Object(schema).default]],
  )
  const content = Object.fromEntries(defaults)
  assert.deepEqual(content, readConfig({ flags: {}, env: {}, file: undefined }))
  assert.ok(fits(content), JSON.stringify(fits.errors))
})

test('settings: each value tells its source, which is the one that chose it', () => {
  writeFiles(root, { 'origin.json': '{"port": 1, "host": "file", "logLevel": "warn"}' })
  const file = join(root, 'origin.json')
  const env = { GATE_SIDECAR_HOST: 'variable', GATE_SIDECAR_PORT: '2', GATE_SIDECAR_ALLOWED_HOSTS: 'A, b' }
  const { port, host, logLevel, data, allowedHosts } = readSettings({ flags: { port: '3' }, env, file })
  assert.deepEqual(port, { value: 3, origin: { kind: 'flag', name: '--port' } })
  assert.deepEqual(host, { value: 'variable', origin: { kind: 'variable', name: 'GATE_SIDECAR_HOST' } })
  assert.deepEqual(logLevel, { value: 'warn', origin: { kind: 'file', name: `${file}: logLevel` } })
  assert.deepEqual(data, { value: './data', origin: { kind: 'default' } })
  assert.deepEqual(allowedHosts.value, ['a', 'b'])
})

test('config print --json is a configuration file that says the same', async () => {
  const options = { cwd: root, env: { GATE_SIDECAR_SOCKET: '/run/gate.sock' } }
  const first = await run(['config', 'print', '--json', '--allowed-hosts', 'a,b', '--port', '0'], options)
  assert.equal(first.code, 0, first.stderr)
  writeFiles(root, { 'printed.json': first.stdout })
  const second = await run(['config', 'print', '--json', '--config', 'printed.json'], { cwd: root })
  assert.equal(second.stdout, first.stdout)
  const third = await run(['config', 'print', '--json', '--show-origin', '--config', 'printed.json'], { cwd: root })
  assert.deepEqual(JSON.parse(third.stdout).socket, {
    value: '/run/gate.sock',
    origin: { kind: 'file', name: 'printed.json: socket' },
  })
})
