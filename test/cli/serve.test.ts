import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type RequestOptions } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import type { RunningServer } from '../../src/service/server.ts'
import { ACME_POLICY, type Cleanup, type GateOptions, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { BIN, isAlive, run, runBuilt, serve } from './program.ts'

/** A folder with policies and data, a key of acme, and the options that name them. */
async function prepare(role = 'owner') {
  const root = temporaryFolder()
  writeFiles(root, { 'policies/acme/main.yaml': ACME_POLICY })
  const data = join(root, 'data')
  const made = await run(['keys', 'create', '--tenant', 'acme', '--role', role, '--data', data, '--json'])
  assert.equal(made.code, 0, made.stderr)
  const { id, key }: { id: string; key: string } = JSON.parse(made.stdout)
  const options = ['--data', data, '--policies', join(root, 'policies')]
  return { root, data, id, key, options, headers: { 'x-api-key': key, 'x-tenant-id': 'acme' } }
}

/** A service in this process on the folder of `prepare`, where nothing is about a process of its own. */
async function serviceIn(t: Cleanup, root: string, settings: GateOptions['settings'] = {}): Promise<RunningServer> {
  return (await startGate(t, { dir: root, policies: {}, settings })).server
}

const CHECK = JSON.stringify({ tenantId: 'acme', action: 'payment.transfer', context: { amount: 5 } })

async function check(url: string, headers: Record<string, string>, body = CHECK) {
  const response = await fetch(`${url}/gate/check`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  const { data, error }: { data?: { decision: string; decidedBy: string }; error?: string } = JSON.parse(
    await response.text(),
  )
  return { status: response.status, decision: data?.decision, decidedBy: data?.decidedBy, error }
}

test('serve: says where it listens in one line of JSON, and ends on SIGTERM and SIGINT with 0', async (t) => {
  const { options } = await prepare()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const server = await serve(t, ['--port', '0', ...options])
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(server.log.filter(({ msg }) => msg === 'listening').length, 1)
    assert.deepEqual(await server.stop(signal), { code: 0, signal: null })
    assert.equal(server.log.at(-1)?.msg, 'stopped')
  }
})

/** Notes that the routes are loaded. */
const LOADED = `import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(\`import { writeFileSync } from 'node:fs'
export async function load(url, context, next) {
  if (url.includes('/express-app-')) writeFileSync(process.env.LOADED, '')
  return next(url, context)
}\`))`

test('serve: every route is loaded before anybody asks, so that a stop needs no file', async (t) => {
  const { root, options } = await prepare()
  writeFiles(root, { 'register.mjs': LOADED })
  const loaded = join(root, 'loaded')
  const env = { NODE_OPTIONS: `--import=${join(root, 'register.mjs')}`, LOADED: loaded }
  await serve(t, ['--port', '0', ...options], { env })
  await until('the routes are loaded', () => existsSync(loaded))
})

test('serve: a request under way is answered before the service ends', async (t) => {
  const { options, headers } = await prepare()
  const server = await serve(t, ['--port', '0', ...options])
  const { hostname, port } = new URL(server.url)
  const { promise: answered, resolve: answer, reject } = promiseParts<number | undefined>()
  const half = CHECK.length / 2
  const sending = httpRequest(
    {
      hostname,
      port,
      method: 'POST',
      path: '/gate/check',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': CHECK.length,
        expect: '100-continue',
      },
    },
    (response) => {
      response.resume()
      answer(response.statusCode)
    },
  )
  sending.on('error', reject)
  sending.flushHeaders()
  // The service has the request by then, and not its end.
  await once(sending, 'continue')
  sending.write(CHECK.slice(0, half))
  const ended = server.stop()
  await refused(Number(port))
  sending.end(CHECK.slice(half))
  assert.equal(await answered, 200)
  const answeredMs = performance.now()
  assert.deepEqual(await ended, { code: 0, signal: null })
  assert.ok(performance.now() - answeredMs < 4500, 'the end waits for the request, not for its time limit')
})

function promiseParts<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}

/** Waits until nobody takes connections there. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const taken = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
    if (!taken) return
    await sleep(20)
  }
}

test('health: 0 while the service is ready, 1 when it is not, by port and by socket', async (t) => {
  const { root } = await prepare()
  const socket = join(root, 'gate.sock')
  const byPort = await serviceIn(t, root)
  const { port } = new URL(byPort.url)
  const bySocket = await serviceIn(t, root, { socket })
  assert.equal(bySocket.url, `unix:${socket}`)
  assert.equal((await run(['health', '--port', port])).stdout, 'ready\n')
  const ready = await run(['health', '--socket', socket, '--json'])
  assert.deepEqual([ready.code, JSON.parse(ready.stdout)], [0, { ready: true, message: 'ready' }])
  await byPort.close()
  assert.equal((await run(['health', '--port', port])).code, 1)
  await bySocket.close()
  assert.equal((await run(['health', '--socket', socket])).code, 1)
})

test('health: 1 with the reason when policies are broken from the start, and the process lives', async (t) => {
  const { root } = await prepare()
  writeFileSync(join(root, 'policies/acme/main.yaml'), 'nonsense')
  const server = await serviceIn(t, root)
  const { code, stdout } = await run(['health', '--port', new URL(server.url).port])
  assert.equal(code, 1)
  assert.match(stdout, /^not ready: 1 policy set with faults, and/)
  // What only memory holds would be lost with a process that is ended for that.
  const live = await run(['health', '--live', '--port', new URL(server.url).port, '--json'])
  assert.deepEqual([live.code, JSON.parse(live.stdout)], [0, { live: true, message: 'live' }])
})

test('a Unix socket: serves, and one that a live service holds is not taken', async (t) => {
  const { root, options, headers } = await prepare()
  const socket = join(root, 'gate.sock')
  const first = await serve(t, ['--socket', socket, ...options])
  assert.equal(await checkBySocket(socket, headers), 200)

  const second = await runBuilt(['serve', '--socket', socket, ...options])
  assert.equal(second.code, 3)
  assert.match(second.stderr, /gate\.sock: another process listens there/)
  assert.equal(await checkBySocket(socket, headers), 200)

  // A killed service leaves its socket behind; the next takes it over.
  await first.stop('SIGKILL')
  assert.ok(existsSync(socket))
  const third = await serve(t, ['--socket', socket, ...options])
  assert.equal(await checkBySocket(socket, headers), 200)
  await third.stop()
  assert.ok(!existsSync(socket))

  writeFileSync(socket, 'precious')
  const fourth = await runBuilt(['serve', '--socket', socket, ...options])
  assert.equal(fourth.code, 3)
  assert.equal(readFileSync(socket, 'utf8'), 'precious')
})

function checkBySocket(socketPath: string, headers: Record<string, string>): Promise<number | undefined> {
  const options: RequestOptions = {
    socketPath,
    method: 'POST',
    path: '/gate/check',
    headers: { ...headers, host: 'localhost', 'content-type': 'application/json', 'content-length': CHECK.length },
  }
  return new Promise((resolve, reject) => {
    const sending = httpRequest(options, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sending.on('error', reject)
    sending.end(CHECK)
  })
}

test('a second service on the same port: exit 3, and what to do', async (t) => {
  const { root, options } = await prepare()
  const first = await serviceIn(t, root)
  const { port } = new URL(first.url)
  const second = await runBuilt(['serve', '--port', port, ...options])
  assert.equal(second.code, 3)
  assert.match(
    second.stderr,
    new RegExp(`Cannot listen on 127.0.0.1:${port}: another process .* choose another --port`),
  )
  assert.doesNotMatch(second.stderr, /\n {4}at /)
})

test('what the command line changes acts on a running service', async (t) => {
  const { id, options, headers } = await prepare()
  const server = await serve(t, ['--port', '0', ...options])
  const ask = () => check(server.url, headers)
  assert.equal((await ask()).decision, 'allow')

  const stop = ['--tenant', 'acme', '--level', 'L2', '--scope', 'finance', ...options]
  assert.equal((await run(['killswitch', 'trigger', ...stop, '--reason', 'drill'])).code, 0)
  await until('the stop denies', async () => (await ask()).decidedBy === 'kill_switch')
  assert.equal((await run(['killswitch', 'recover', ...stop, '--comment', 'over'])).code, 0)
  await until('nothing is stopped', async () => (await ask()).decision === 'allow')

  assert.equal((await run(['keys', 'revoke', id, '--data', options[1] ?? ''])).code, 0)
  await until('the key is refused', async () => (await ask()).error === 'unauthenticated')
})

test('an altered data file: audit verify says so with 1, serve refuses it with 3 and says what and where', async (t) => {
  const { root, data, options, headers } = await prepare()
  const server = await serviceIn(t, root)
  assert.equal((await check(server.url, headers)).decision, 'allow')
  await server.close()
  const file = join(data, 'gate-sidecar.db')
  const original = readFileSync(file)

  // A record that the chain does not bear out: nobody may give himself roles by editing a row.
  replaceBytes(file, '"roles":["owner"]', '"roles":["admin"]')
  const verified = await run(['audit', 'verify', '--data', data, '--json'])
  assert.equal(verified.code, 1)
  assert.equal(JSON.parse(verified.stdout).valid, false)
  assert.ok(JSON.parse(verified.stdout).fault.length > 0)
  const refusal = await runBuilt(['serve', '--port', '0', ...options])
  assert.equal(refusal.code, 3)
  assert.match(refusal.stderr, /acme\/live|key key_/)
  assert.doesNotMatch(refusal.stderr, /\n {4}at /)

  // The decision itself, at the end of its chain.
  writeFileSync(file, original)
  replaceBytes(file, 'payment.transferallow', 'payment.transferALLOW')
  const broken = await run(['audit', 'verify', '--data', data])
  assert.equal(broken.code, 1)
  assert.match(broken.stdout, /BROKEN.*acme\/live.*entry \d+/)
  assert.equal((await runBuilt(['serve', '--port', '0', ...options])).code, 3)

  writeFileSync(file, original)
  assert.equal((await run(['audit', 'verify', '--data', data])).code, 0)
})

test('an altered approval: serve and audit verify refuse the file, and a stop from the host still works', async (t) => {
  const { root, data, options, headers } = await prepare()
  const server = await serviceIn(t, root)
  const held = await check(server.url, headers, JSON.stringify({ ...JSON.parse(CHECK), context: { amount: 2000 } }))
  assert.equal(held.decision, 'require_approval')
  await server.close()
  const db = new Sqlite(join(data, 'gate-sidecar.db'))
  db.exec(`UPDATE approval SET body = replace(body, '"status":"pending"', '"status":"approved"')`)
  db.close()
  const verified = await run(['audit', 'verify', '--data', data])
  assert.equal(verified.code, 1)
  assert.match(verified.stdout, /approval apr_\w{26} differs/)
  assert.equal((await runBuilt(['serve', '--port', '0', ...options])).code, 3)
  const stop = await run(['killswitch', 'trigger', '--tenant', 'acme', '--level', 'L3', '--reason', 'odd', ...options])
  assert.equal(stop.code, 0, stop.stderr)
})

/** Everywhere in the file, same length. */
function replaceBytes(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'latin1')
  assert.ok(text.includes(from))
  writeFileSync(file, text.replaceAll(from, to), 'latin1')
}

test('an altered entry in the middle: audit verify names chain and entry', async (t) => {
  const { root, data, headers } = await prepare()
  const server = await serviceIn(t, root)
  for (let i = 0; i < 3; i++) await check(server.url, headers)
  await server.close()
  const file = join(data, 'gate-sidecar.db')
  const text = readFileSync(file, 'latin1')
  const at = text.lastIndexOf('"context":{"amount":5}')
  assert.ok(at > 0)
  writeFileSync(file, `${text.slice(0, at)}"context":{"amount":6}${text.slice(at + 22)}`, 'latin1')
  const { code, stdout } = await run(['audit', 'verify', '--data', data])
  assert.equal(code, 1)
  assert.match(stdout, /acme\/live +TAMPERED +entry \d+: section request does not match/)
})

const NOBODY = 65_534

test('data that may not be written, or not be read: exit 3 and why', async () => {
  const { root, data, options } = await prepare()
  // Root may do everything, so the command runs as nobody.
  const as = process.getuid?.() === 0 ? { uid: NOBODY } : {}
  chmodSync(root, 0o755)
  for (const args of [
    ['keys', 'list', '--data', data],
    ['audit', 'verify', '--data', data],
    ['serve', '--port', '0', ...options],
  ]) {
    chmodSync(data, 0o000)
    const { code, stderr } = await runBuilt(args, as)
    assert.equal(code, 3, stderr)
    assert.match(stderr, /data.*cannot be used|no readable data file/)
    assert.doesNotMatch(stderr, /\n {4}at /)
  }
  chmodSync(data, 0o555)
  const create = await runBuilt(['keys', 'create', '--tenant', 'acme', '--role', 'agent', '--data', data], as)
  assert.equal(create.code, 3)
  assert.match(create.stderr, /cannot be used/)
  chmodSync(data, 0o700)

  const folder = join(root, 'locked')
  mkdirSync(folder, { mode: 0o555 })
  const { code, stderr } = await runBuilt(
    ['serve', '--port', '0', '--data', join(folder, 'new'), '--policies', join(root, 'policies')],
    as,
  )
  assert.equal(code, 3)
  assert.match(stderr, /locked\/new cannot be used: this user may not/)

  const file = join(root, 'file')
  writeFileSync(file, '')
  const onFile = await runBuilt(['serve', '--port', '0', '--data', file, '--policies', join(root, 'policies')])
  assert.equal(onFile.code, 3)
  assert.match(onFile.stderr, /file.* cannot be used: (it|a part of the path) is not a folder/)

  // Creating the folder must end even where no folder can be made at all.
  if (process.platform === 'linux') {
    const nowhere = await run(['keys', 'create', '--role', 'admin', '--data', '/proc/none/data'])
    assert.equal(nowhere.code, 3)
    assert.match(nowhere.stderr, /\/proc\/none cannot be used/)
  }
})

test('a terminal that is closed: the service goes on, and ends when it is told to', async (t) => {
  const { root, options, headers } = await prepare()
  const [socket, pidFile] = [join(root, 'gate.sock'), join(root, 'pid')]
  const service = [process.execPath, BIN, 'serve', '--socket', socket, ...options].join(' ')
  const shell = `sh -c 'echo $$ >${pidFile}; exec ${service}'`
  const terminal = spawn('script', ['-qec', shell, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] })
  t.after(() => void terminal.kill('SIGKILL'))
  const answered = (): Promise<number | undefined> => checkBySocket(socket, headers).catch(() => undefined)
  await until('it listens', async () => (await answered()) === 200)
  const pid = Number(readFileSync(pidFile, 'utf8'))
  t.after(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  terminal.kill('SIGKILL')
  // It hears of it by SIGHUP, reads its policies, and has nobody to tell.
  await sleep(1500)
  assert.equal(await answered(), 200)
  process.kill(pid, 'SIGTERM')
  await until('it ends', () => !isAlive(pid))
})
