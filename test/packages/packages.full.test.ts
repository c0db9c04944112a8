import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { publint } from 'publint'
import { VERSION } from '../../src/version.ts'
import { plainFetch } from '../declared.ts'
import { startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { scripted } from '../mcp/support.ts'
import { until } from '../until.ts'

/* What others install: packed, installed in empty folders, and run from there. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SQLITE = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'
const MAX_BYTES = 1_600_000
/** Every file of gate-sidecar matches one of these, and each of these matches a file. */
const PACKED = [
  /^(?:CHANGELOG\.md|LICENSE|README\.md|package\.json)$/,
  /^bin\/(?:(?:compiled|gate-sidecar|optimize-later|start)\.js|package\.json)$/,
  /^dist\/(?:NOTICE|sbom\.cdx\.json|(?:hook|policies)\.cjs)$/,
  /^dist\/(?:main|[a-z]+-worker(?:-thread)?|[a-z-]+-[A-Z0-9]{8})\.js$/,
  /^dist\/console\/(?:NOTICE|index\.html|sbom\.cdx\.json)$/,
  /^dist\/console\/assets\/[a-z-]+-[A-Z0-9]{8}\.(?:css|js|svg)$/,
  /^dist\/(?:migrations|schema)\/\d{4}_[a-z_]+\.sql$/,
  /^docs\/errors\/GATE\d{4}\.md$/,
  /^policies\/demo\/(?:demo\.test|main)\.yaml$/,
  /^schemas\/(?:config|policy|test)\.json$/,
]
const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
rules:
  - {id: free, actions: [Read, steady], effect: allow, reason: Reading is free.}
  - {id: web, actions: [WebFetch], effect: deny, reason: No web.}
  - {id: one, actions: [shifty], effect: deny, reason: Not this one.}
`
const run = promisify(execFile)

interface Packed {
  tarball: string
  size: number
  paths: string[]
  /** Paths of files that may be executed. */
  programs: string[]
  version: string
}

/** The tarball that `npm publish` would send. */
async function pack(folder: string): Promise<Packed> {
  const into = temporaryFolder()
  const { stdout } = await run('npm', ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', into])
  const [{ filename, size, files, version }] = JSON.parse(stdout)
  const paths = files.map(({ path }: { path: string }) => path)
  const executable = files.filter(({ mode }: { mode: number }) => mode === 0o755)
  const programs = executable.map(({ path }: { path: string }) => path)
  return { tarball: join(into, filename), size, paths, programs, version }
}

/** An empty folder with the package installed. SQLite is compiled already: that takes 90 s. */
async function install({ tarball }: Packed): Promise<string> {
  const app = temporaryFolder()
  writeFiles(app, { 'package.json': '{"private": true}' })
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', tarball, '--prefix', app, '--prefer-offline', '--ignore-scripts', ...quiet])
  return app
}

/** The packages in a folder of node_modules, with those of scopes. */
function installed(app: string): string[] {
  const modules = join(app, 'node_modules')
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'))
  return names.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`) : name,
  )
}

const environment = (more: Record<string, string> = {}): Record<string, string> => {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, ...more }
}

/** The service of the package in `app`, until it listens. */
async function serveDemo(t: TestContext, app: string): Promise<string> {
  const bin = join(app, 'node_modules/.bin/gate-sidecar')
  const child = spawn(bin, ['serve', '--demo', '--port', '0'], { cwd: app, env: environment(), stdio: 'pipe' })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
  }
  return until('the demo listens', () => /decides at (http:\S+)/.exec(said)?.[1])
}

test('gate-sidecar packs its bundles only, in at most 1.6 MB', async () => {
  const { paths, programs, size, version } = await pack(ROOT)
  assert.equal(version, VERSION)
  assert.deepEqual(programs, ['bin/gate-sidecar.js'])
  const odd = paths.filter((path) => !PACKED.some((pattern) => pattern.test(path)))
  const missing = PACKED.filter((pattern) => !paths.some((path) => pattern.test(path)))
  assert.deepEqual([odd, missing], [[], []])
  for (const path of ['LICENSE', 'README.md', 'CHANGELOG.md', 'dist/NOTICE', 'dist/console/NOTICE'])
    assert.ok(paths.includes(path), path)
  assert.ok(size <= MAX_BYTES, `${size} bytes`)
})

for (const [name, folder] of [
  ['gate-sidecar', ROOT],
  ['@gate-sidecar/hook', join(ROOT, 'dist/hook')],
] as const) {
  test(`${name} has a manifest without faults`, async () => {
    const { messages } = await publint({ pkgDir: folder, strict: true, pack: 'npm' })
    assert.deepEqual(messages, [])
  })
}

test('gate-sidecar runs in an empty folder: a demo that decides, its console, and commands beside it', async (t) => {
  const app = await install(await pack(ROOT))
  // Newer versions of npm skip install scripts unless they are allowed.
  const unbuilt = spawnSync(join(app, 'node_modules/.bin/gate-sidecar'), ['serve', '--demo'], {
    cwd: app,
    encoding: 'utf8',
  })
  assert.equal(unbuilt.status, 3)
  assert.match(unbuilt.stderr, /SQLite is not built for Node\.js v\S+\. Run `npm rebuild better-sqlite3`/)
  cpSync(join(ROOT, SQLITE), join(app, SQLITE), { recursive: true })
  const url = await serveDemo(t, app)
  const demo = join(app, 'gate-sidecar-demo')
  const npx = (...args: string[]) =>
    run('npx', ['--no-install', 'gate-sidecar', ...args], { cwd: demo, env: environment() })
  const { stdout: made } = await npx('keys', 'create', '--tenant', 'demo', '--role', 'agent')
  const key = made.split('\n')[0] ?? ''
  const ask = async (tainted: boolean): Promise<string> => {
    const context = { args: { recipient: 'GB29NWBK60161331926819', amount: 20 }, tainted }
    const answer = await plainFetch(`${url}/gate/check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-tenant-id': 'demo' },
      body: JSON.stringify({ tenantId: 'demo', action: 'send_money', context }),
    })
    const { data } = (await answer.json()) as { data: { decision: string } }
    return data.decision
  }
  assert.deepEqual([await ask(false), await ask(true)], ['allow', 'require_approval'])
  const page = await plainFetch(`${url}/console/`)
  const [, script = ''] = /src="([^"]+\.js)"/.exec(await page.text()) ?? []
  assert.equal((await plainFetch(new URL(script, url))).status, 200)
  assert.match((await npx('validate')).stdout, /^1 policy set: 0 errors, 0 warnings\.$/m)
  assert.match((await npx('explain', 'GATE1102')).stdout, /^Add the key\./m)
  assert.match((await npx('audit', 'verify')).stdout, /demo/)
  assert.equal((await npx('--version')).stdout, `${VERSION}\n`)
})

test('@gate-sidecar/hook installs alone, without SQLite, and its hook and relay ask the service', async (t) => {
  const packed = await pack(join(ROOT, 'dist/hook'))
  assert.equal(packed.version, VERSION)
  const inBin = ['gate-sidecar.js', 'main.cjs', 'start.js'].map((name) => `bin/${name}`)
  assert.deepEqual(packed.programs, ['bin/gate-sidecar.js'])
  assert.deepEqual(packed.paths, ['LICENSE', 'NOTICE', 'README.md', ...inBin, 'package.json', 'sbom.cdx.json'])
  const app = await install(packed)
  assert.deepEqual(installed(app), ['@gate-sidecar/hook'])
  const gate = await startGate(t, { policies: { 'acme/main.yaml': POLICY } })
  const { secret } = await gate.key({ roles: ['agent'] })
  const bin = join(app, 'node_modules/.bin/gate-sidecar')
  const env = environment({ GATE_SIDECAR_KEY: secret, GATE_SIDECAR_URL: gate.server.url, GATE_SIDECAR_TENANT: 'acme' })
  const hook = async (event: string) => {
    const input = readFileSync(new URL(`../testdata/claude-code/${event}.json`, import.meta.url))
    const child = spawn(bin, ['hook', 'claude-code'], { env, stdio: 'pipe' })
    child.stdin.end(input)
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code, stdout, stderr }
  }
  assert.deepEqual(await hook('read'), { code: 0, stdout: '{}\n', stderr: '' })
  assert.deepEqual(await hook('web-fetch'), {
    code: 2,
    stdout: '',
    stderr: 'gate-sidecar: WebFetch was not allowed: No web.\n',
  })

  const client = new Client({ name: 'test', version: '1' })
  t.after(() => client.close())
  const args = ['mcp', '--', ...scripted(join(temporaryFolder(), 'heard'))]
  await client.connect(new StdioClientTransport({ command: bin, args, env, stderr: 'ignore' }))
  const call = async (name: string) => {
    const { content } = await client.callTool({ name, arguments: {} })
    return (content as { text: string }[])[0]?.text
  }
  assert.deepEqual(
    [await call('steady'), await call('shifty')],
    ['steady ran', 'gate-sidecar did not allow this call: Not this one.'],
  )
  const other = spawnSync(bin, ['serve'], { encoding: 'utf8' })
  assert.deepEqual(
    [other.status, other.stderr],
    [2, "gate-sidecar: unknown command 'serve'. See `gate-sidecar --help`.\n"],
  )
  assert.equal(spawnSync(bin, ['health'], { env: environment() }).status, 1)
})

test('npm version puts a version into all packages and the changelog, and refuses one without changes', async () => {
  const dir = temporaryFolder()
  const files = [
    'package.json',
    'package-lock.json',
    'CHANGELOG.md',
    'python/gate_sidecar/__init__.py',
    'deploy',
    '.github/release',
  ]
  for (const path of files) cpSync(join(ROOT, path), join(dir, path), { recursive: true })
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=test', '-c', 'user.email=test@example', ...args], { cwd: dir })
  const identity = { GIT_AUTHOR_NAME: 'test', GIT_AUTHOR_EMAIL: 'test@example' }
  const env = environment({ ...identity, GIT_COMMITTER_NAME: 'test', GIT_COMMITTER_EMAIL: 'test@example' })
  const release = (version: string) => run('npm', ['version', version], { cwd: dir, env })
  const read = (path: string): string => readFileSync(join(dir, path), 'utf8')
  await git('init', '-q')
  await git('add', '-A')
  await git('commit', '-qm', 'start')
  const [, lines = ''] = read('CHANGELOG.md').split('## [Unreleased]\n')
  await release('7.8.9')
  assert.equal(JSON.parse(read('package.json')).version, '7.8.9')
  assert.match(read('python/gate_sidecar/__init__.py'), /^__version__ = "7\.8\.9"$/m)
  const stated = ['helm/gate-sidecar/Chart.yaml', 'helm/agent/Chart.yaml', 'kubernetes/kustomization.yaml']
  const counts = stated.map((path) => read(`deploy/${path}`).split('7.8.9').length - 1)
  assert.deepEqual(counts, [2, 1, 1])
  const today = new Date().toISOString().slice(0, 10)
  assert.ok(read('CHANGELOG.md').endsWith(`## [Unreleased]\n\n## [7.8.9] - ${today}\n${lines}`))
  const { stdout: notes } = await run('node', ['.github/release/notes.js'], { cwd: dir })
  assert.ok(lines.includes(notes.trim().split('\n')[2] ?? '?'))
  assert.equal((await git('status', '--short')).stdout, '')
  assert.equal((await git('tag')).stdout, 'v7.8.9\n')
  await assert.rejects(release('7.9.0'), /no lines under \[Unreleased\]/)
  assert.equal((await git('tag')).stdout, 'v7.8.9\n')
})
