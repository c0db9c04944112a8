import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { BIN, isAlive, run, serve } from '../cli/program.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'

const ROOT = new URL('../../', import.meta.url)
const POLICIES = fileURLToPath(new URL('policies', ROOT))
const SECRET = /sk_live_[0-9A-Za-z]{40,}/g

const has = (program: string, args: string[]): boolean => spawnSync(program, args).status === 0
/** A pseudo-terminal comes from util-linux, which Debian always has. */
const noTerminal = has('script', ['--version']) ? false : 'there is no script(1) to make a pseudo-terminal'
const noCurl = has('curl', ['--version']) ? false : 'there is no curl'

interface Shown {
  /** Text on the terminal (standard error), without escapes. */
  terminal: string
  /** Standard output, which is a file. */
  stdout: string
}

/**
 * `serve --demo` with stderr on a pseudo-terminal, until it has said all; `use` is called while it runs.
 *
 * @param cwd where it runs, with stdout on the terminal too
 */
async function onTerminal(t: TestContext, args: readonly string[], use: (shown: Shown) => Promise<void>, cwd?: string) {
  const dir = temporaryFolder()
  const [out, pid] = [join(dir, 'out'), join(dir, 'pid')]
  writeFileSync(out, '')
  const command = [process.execPath, BIN, 'serve', '--demo', ...args].map((word) => `'${word}'`).join(' ')
  const redirected = cwd === undefined ? `> ${out}` : ''
  const child = spawn('script', ['-qec', `echo $$ > ${pid}; exec ${command} ${redirected}`, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd,
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  let terminal = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    terminal += chunk
  })
  const stop = (): void => {
    if (child.exitCode === null) process.kill(Number(readFileSync(pid, 'utf8')), 'SIGTERM')
  }
  t.after(stop)
  await until('it has said all', () => terminal.includes(cwd === undefined ? 'Press Ctrl-C' : 'listening'))
  // A terminal ends its lines with both, and bold text is wrapped in escapes.
  const text = stripVTControlCharacters(terminal).replaceAll('\r\n', '\n')
  await use({ terminal: text, stdout: readFileSync(out, 'utf8') })
  stop()
  await ended
}

/** The lines of the banner that are for a shell. */
function pasted(banner: string, start: RegExp): string[] {
  return banner.split('\n').filter((line) => start.test(line))
}

// biome-ignore lint/suspicious/noExplicitAny: answers are asserted member by member
function paste(lines: readonly string[]): any {
  const { stdout, stderr, status } = spawnSync('bash', ['-c', lines.join('\n')], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

/** The three lines, each as if pasted after the other; `before` makes the keys where the banner shows none. */
function assertLinesWork(banner: string, before: readonly string[] = []): void {
  const [allowed = '', held = '', approval = '', ...more] = pasted(banner, /^curl /)
  assert.deepEqual(more, [])
  assert.equal(paste([...before, allowed]).data.decision, 'allow')
  assert.equal(paste([...before, held]).data.decision, 'require_approval')
  assert.equal(paste([...before, approval]).data.status, 'approved')
  const repeated = paste([...before, held]).data
  assert.deepEqual([repeated.decision, repeated.decidedBy], ['allow', 'approval'])
  assert.equal(paste([...before, held]).data.decision, 'require_approval')
}

/** The link that is shown signs in as the owner, once. */
async function assertSignsIn(banner: string): Promise<void> {
  const { origin, hash } = new URL(/http\S+#code=\S+/.exec(banner)?.[0] ?? '')
  const open = () =>
    fetch(`${origin}/session`, { method: 'POST', headers: { origin, 'x-sign-in-code': hash.slice('#code='.length) } })
  const { data } = (await (await open()).json()) as { data: { identity: string; roles: string[] } }
  assert.deepEqual([data.identity, data.roles], ['demo-owner', ['owner']])
  assert.equal((await open()).status, 401)
}

function filesOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

async function keysIn(data: string): Promise<{ roles: string[]; environment: string; tenantId: string }[]> {
  const { stdout, stderr } = await run(['keys', 'list', '--data', data, '--json'])
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

/** `serve --demo` without any terminal, until it has said all. */
async function withoutTerminal(
  t: TestContext,
  args: readonly string[],
): Promise<{ stderr: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [BIN, 'serve', '--demo', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  t.after(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  await until('it has said all', () => stderr.includes('Press Ctrl-C'))
  return {
    stderr,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

test('serve --demo: a first start shows two keys on the terminal and nowhere else, and its three lines work', {
  skip: noTerminal || noCurl,
}, async (t) => {
  const data = join(temporaryFolder(), 'data')
  const args = ['--port', '0', '--data', data, '--policies', POLICIES]
  await onTerminal(t, args, async ({ terminal, stdout }) => {
    const secrets = [...new Set(terminal.match(SECRET))]
    assert.equal(secrets.length, 2, terminal)
    assertLinesWork(terminal)
    await assertSignsIn(terminal)
    const keys = await keysIn(data)
    assert.deepEqual(
      keys.map(({ roles, environment, tenantId }) => [tenantId, environment, ...roles]),
      [
        ['demo', 'live', 'agent'],
        ['demo', 'live', 'owner'],
      ],
    )
    const kept = [stdout, ...filesOf(data).map((path) => readFileSync(path, 'latin1'))]
    assert.ok(kept.length > 2)
    for (const secret of secrets)
      assert.equal(
        kept.findIndex((text) => text.includes(secret)),
        -1,
      )
    assert.match(stdout, /^\{[^\n]*"msg":"listening"\}$/m)
  })
  await onTerminal(t, args, async ({ terminal }) => {
    assert.equal(terminal.match(SECRET), null)
    await assertSignsIn(terminal)
    assert.match(terminal, /This folder already has keys/)
    assert.equal((await keysIn(data)).length, 2)
  })
})

test('serve --demo in an empty folder writes one ignored folder, keeps its edited policies, and logs after the banner', {
  skip: noTerminal || noCurl,
}, async (t) => {
  const cwd = temporaryFolder()
  const policy = 'gate-sidecar-demo/policies/demo/main.yaml'
  // As a start leaves it that is killed while it copies: half of the rules could allow more than all of them.
  writeFiles(cwd, {
    'gate-sidecar-demo/.gitignore': '',
    'gate-sidecar-demo/policies.1/demo/main.yaml': 'apiVersion: gate-sidecar/v1\ntenant: demo\n',
  })
  await onTerminal(
    t,
    ['--port', '0'],
    async ({ terminal }) => {
      assertLinesWork(terminal)
      const [, log = ''] = terminal.split('Press Ctrl-C to stop it.\n')
      assert.match(log, /^\s*[\d:.]+Z info {2}policies are in force {2}tenantId=demo /)
      assert.match(log, /^[\d:.]+Z info {2}listening {2}url=http:\S+$/m)
      const files = filesOf(cwd).map((path) => relative(cwd, path))
      assert.deepEqual([...new Set(files.map((path) => path.split('/')[0]))], ['gate-sidecar-demo'])
      assert.equal(readFileSync(join(cwd, 'gate-sidecar-demo/.gitignore'), 'utf8'), '*\n')
      assert.deepEqual(readFileSync(join(cwd, policy)), readFileSync(join(POLICIES, 'demo/main.yaml')))
      assert.ok(readFileSync(join(cwd, 'gate-sidecar-demo/schemas/policy.json')).length > 0)
      // The commands need no flags in that folder.
      const { stdout } = await run(['keys', 'list'], { cwd: join(cwd, 'gate-sidecar-demo') })
      assert.match(stdout, /demo-owner/)
    },
    cwd,
  )
  appendFileSync(join(cwd, policy), '# mine\n')
  await onTerminal(
    t,
    ['--port', '0'],
    async () => assert.match(readFileSync(join(cwd, policy), 'utf8'), /# mine\n$/),
    cwd,
  )
})

test('serve --demo without a terminal, on a Unix socket: no key is made, and what it says to paste makes them and works', {
  skip: noCurl,
}, async (t) => {
  // The apostrophe requires quotes in the lines to paste.
  const dir = join(temporaryFolder(), "ann's files")
  const data = join(dir, 'data')
  mkdirSync(dir)
  const args = ['--socket', join(dir, 'gate.sock'), '--data', data, '--policies', POLICIES]
  const { stderr, stop } = await withoutTerminal(t, args)
  assert.equal(stderr.match(SECRET), null)
  assert.match(stderr, /No keys were created, because stderr is not a terminal/)
  assert.deepEqual(await keysIn(data), [])
  const making = pasted(stderr, /^(AGENT|OWNER)=/)
  assert.equal(making.length, 2)
  const made = spawnSync('bash', ['-c', [...making, 'echo AGENT=$AGENT; echo OWNER=$OWNER'].join('\n')])
  const assignments = String(made.stdout).trim().split('\n')
  assert.equal(assignments.filter((line) => /^(AGENT|OWNER)=sk_live_/.test(line)).length, 2)
  assertLinesWork(stderr, assignments)
  await stop()
})

test('serve --demo: a start that fails makes no keys, so the next one is still the first', {
  skip: noTerminal,
}, async (t) => {
  const dir = temporaryFolder()
  const data = join(dir, 'data')
  writeFiles(dir, { 'policies/acme/main.yaml': 'apiVersion: gate-sidecar/v1\ntenant: acme\n' })
  const other = await serve(t, ['--port', '0', '--data', join(dir, 'other'), '--policies', POLICIES])
  const { port } = new URL(other.url)
  const taken = await run(['serve', '--demo', '--port', port, '--data', data, '--policies', POLICIES])
  assert.equal(taken.code, 3)
  assert.match(taken.stderr, /another process listens there/)
  await onTerminal(t, ['--port', '0', '--data', data, '--policies', join(dir, 'policies')], async ({ terminal }) => {
    assert.match(
      terminal,
      /There are no policies for the tenant demo in .*\/policies, so no demo keys are created\.\nCopy/,
    )
    assert.deepEqual(pasted(terminal, /^curl/), [])
  })
  assert.deepEqual(await keysIn(data), [])
  // A start that is killed between its writes leaves a tenant at most.
  assert.equal((await run(['tenants', 'create', 'demo', '--data', data])).code, 0)
  await onTerminal(t, ['--port', '0', '--data', data, '--policies', POLICIES], async ({ terminal }) => {
    assert.equal(new Set(terminal.match(SECRET)).size, 2)
  })
})

test('serve --demo ends with its terminal', { skip: noTerminal }, async (t) => {
  const dir = temporaryFolder()
  const [socket, pidFile] = [join(dir, 'gate.sock'), join(dir, 'pid')]
  const args = ['serve', '--demo', '--socket', socket, '--data', join(dir, 'data'), '--policies', POLICIES]
  const command = `echo $$ >${pidFile}; exec ${[process.execPath, BIN, ...args].join(' ')}`
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] })
  t.after(() => void terminal.kill('SIGKILL'))
  await until('it listens', () => existsSync(socket))
  const pid = Number(readFileSync(pidFile, 'utf8'))
  t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  terminal.kill('SIGKILL')
  await until('it ends', () => !isAlive(pid))
})
