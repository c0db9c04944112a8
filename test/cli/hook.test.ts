import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { plainFetch } from '../declared.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { until } from '../until.ts'
import { BIN, type Ended, run } from './program.ts'

const FOLDER = fileURLToPath(new URL('../testdata/claude-code/', import.meta.url))
const hook = (name: string): string => readFileSync(join(FOLDER, `${name}.json`), 'utf8')
/** The recorded hook with other members. */
const hookWith = (name: string, change: object): string => JSON.stringify({ ...JSON.parse(hook(name)), ...change })

const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
rules:
  - {id: reads, actions: [Read, Glob, Grep, Write], effect: allow, reason: Reading is free.}
  - {id: shell, actions: [Bash], effect: require_approval, reason: A person looks at commands.}
  - {id: web, actions: [WebFetch], effect: deny, reason: "No\\u001b[31m web."}
`
const OBSERVED = POLICY.replace('tenant: acme', 'tenant: watched\nmode: observe')
const gate = await startGate({ after }, { policies: { 'acme/main.yaml': POLICY, 'watched/main.yaml': OBSERVED } })
const agent = await gate.key({ roles: ['agent'] })
const approver = await gate.key({ roles: ['approver'] })
const other = await gate.key({ tenant: 'other', roles: ['agent'] })
const auditor = await gate.key({ roles: ['auditor'] })

interface Asking {
  env?: Record<string, string | undefined>
  args?: readonly string[]
  input?: string
}

const usual = { GATE_SIDECAR_URL: gate.server.url, GATE_SIDECAR_TENANT: 'acme', GATE_SIDECAR_KEY: agent.secret }

/** Runs the hook as Claude Code does. */
function ask({ env = {}, args = [], input = hook('read') }: Asking = {}): Promise<Ended> {
  const all = Object.entries({ ...usual, ...env }).filter(([, value]) => value !== undefined)
  const variables = Object.fromEntries(all) as Record<string, string>
  return run(['hook', 'claude-code', ...args], { env: variables, input })
}

/** Blocked: the one code by which a tool does not run, nothing that could be read as an answer, and one line for the model. */
function assertBlocked({ code, stdout, stderr }: Ended, said: RegExp): void {
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' }, stderr)
  assert.match(stderr, /^(gate-sidecar|error): [^\n]+\n$/)
  assert.match(stderr, said)
}

function assertPassed({ code, stdout, stderr }: Ended): void {
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '{}\n', stderr: '' })
}

/** Something else than a sidecar, on a port of its own. */
async function serverThat(answers: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(answers).listen(0, '127.0.0.1')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** The approval that a command waits for, once there is one. */
function pendingFor(command: string): Promise<{ id: string }> {
  return until(`an approval for ${command}`, async () => {
    const { data } = (await gate.call(approver, 'GET', '/approvals')).body
    return data.find((item: { context: { args: { command: string } } }) => item.context.args.command === command)
  })
}

async function vote(verb: 'approve' | 'reject', id: string): Promise<void> {
  const { status, body } = await gate.call(approver, 'POST', `/approvals/${id}/${verb}`, { approverId: 'ann' })
  assert.equal(status, 200, JSON.stringify(body))
}
const bash = (command: string): string => hookWith('bash', { tool_input: { command } })

/** The hook as a process that goes on, for what happens to it meanwhile. */
function asking(input: string | undefined, args: readonly string[] = [], env: Record<string, string> = {}) {
  const child: ChildProcess = spawn(process.execPath, [BIN, 'hook', 'claude-code', ...args], {
    env: { ...process.env, ...usual, ...env },
    stdio: 'pipe',
  })
  after(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  child.stdin?.on('error', () => undefined)
  if (input !== undefined) child.stdin?.end(input)
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
  return { child, ended }
}

describe('a call that the gate allows goes on', () => {
  test('with an empty answer: the permissions of Claude Code decide the rest', async () => assertPassed(await ask()))

  test('with --on-allow grant: the user is not asked', async () => {
    const { code, stdout } = await ask({ args: ['--on-allow', 'grant'] })
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout), {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'allow',
        permissionDecisionReason: 'Reading is free.',
      },
    })
  })

  test('with --on-allow grant under policies that are only observed: the user is asked what these would not allow', async () => {
    const { secret } = await gate.key({ tenant: 'watched', roles: ['agent'] })
    const env = { GATE_SIDECAR_TENANT: 'watched', GATE_SIDECAR_KEY: secret }
    const answer = async (input: string) =>
      JSON.parse((await ask({ args: ['--on-allow', 'grant'], env, input })).stdout)
    assert.equal((await answer(hook('read'))).hookSpecificOutput.permissionDecision, 'allow')
    const { systemMessage, hookSpecificOutput } = await answer(hook('bash'))
    assert.match(systemMessage, /Bash would need an approval/)
    assert.equal(hookSpecificOutput, undefined)
  })

  test('with address and tenant as options', async () => {
    const env = { GATE_SIDECAR_URL: 'http://127.0.0.1:1', GATE_SIDECAR_TENANT: 'nobody' }
    assertPassed(await ask({ env, args: ['--url', gate.server.url, '--tenant', 'acme'] }))
  })
})

test('each recorded hook of a tool is decided by its policy', async () => {
  const before = readdirSync(FOLDER).flatMap((name) => /^(?!post-)(.*)\.json$/.exec(name)?.[1] ?? [])
  assert.equal(before.length, 14)
  const allowed: string[] = []
  for (const name of before) {
    const ended = await ask({ input: hook(name), args: ['--approval-timeout', '1s'] })
    if (ended.code === 0) {
      assertPassed(ended)
      allowed.push(name)
    } else assertBlocked(ended, /^gate-sidecar: \w+ (was not allowed|needs the approval)/)
  }
  assert.deepEqual(allowed.sort(), ['glob', 'grep', 'read', 'subagent', 'write', 'write-2025'])
})

describe('a call that the gate does not allow is blocked', () => {
  test('denied: with the reason, in which nothing steers a terminal', async () => {
    assertBlocked(await ask({ input: hook('web-fetch') }), /WebFetch was not allowed: No\\u\{1b\}\[31m web\.\n$/)
  })

  test('without a rule', async () => {
    assertBlocked(await ask({ input: hook('mcp') }), /mcp__memory__create_entities was not allowed: No rule/)
  })

  test('while nobody decides: it says which approval, and that the same call may be tried again', async () => {
    const input = bash('while nobody decides')
    const first = await ask({ input, args: ['--approval-timeout', '1s'] })
    const { id } = await pendingFor('while nobody decides')
    assertBlocked(
      first,
      new RegExp(`Bash needs the approval of people.*${id}.*exactly the same call may be tried again`),
    )
    await vote('approve', id)
    assertPassed(
      await ask({ input: hookWith('bash', { ...JSON.parse(input), tool_use_id: 'toolu_2', prompt_id: 'p2' }) }),
    )
    const third = await ask({ input, args: ['--approval-timeout', '1s'] })
    assertBlocked(third, /needs the approval/)
    assert.doesNotMatch(third.stderr, new RegExp(id), 'an approval is used once')
  })

  test('approved while it waits: it goes on', async () => {
    const { ended } = asking(bash('approved while it waits'))
    await vote('approve', (await pendingFor('approved while it waits')).id)
    assertPassed(await ended)
  })

  test('rejected while it waits', async () => {
    const { ended } = asking(bash('rejected while it waits'))
    await vote('reject', (await pendingFor('rejected while it waits')).id)
    assertBlocked(await ended, /Bash was not allowed/)
  })
})

describe('what cannot be asked is blocked', () => {
  const rows: [name: string, asking: Asking, said: RegExp][] = [
    ['nothing on standard input', { input: '' }, /The input of the hook cannot be read: Unexpected end/],
    ['no JSON', { input: 'Bash' }, /The input of the hook cannot be read: Unexpected character/],
    ['half of it', { input: hook('read').slice(0, -3) }, /The input of the hook cannot be read/],
    ['a member twice', { input: hook('read').replace('{', '{"tool_name":"Bash",') }, /Duplicate key "tool_name"/],
    ['too much of it', { input: hookWith('write', { tool_input: { a: 'x'.repeat(17 << 20) } }) }, /more than 16777216/],
    ['more than the sidecar takes', { input: hookWith('write', { tool_input: { a: 'x'.repeat(2 << 20) } }) }, /larger/],
    ['another event', { input: hookWith('read', { hook_event_name: 'Stop' }) }, /must be one of PreToolUse/],
    ['a tool that is no action', { input: hookWith('read', { tool_name: 'Read all' }) }, /tool_name must match/],
    ['no key', { env: { GATE_SIDECAR_KEY: undefined } }, /needs an API key/],
    ['an empty key', { env: { GATE_SIDECAR_KEY: '' } }, /needs an API key/],
    ['a key that nobody has', { env: { GATE_SIDECAR_KEY: 'sk_live_x' } }, /The API key is not valid/],
    ['a key that is no header', { env: { GATE_SIDECAR_KEY: 'a\nb' } }, /could not be decided/],
    ['a key of another tenant', { env: { GATE_SIDECAR_KEY: other.secret } }, /belongs to another tenant/],
    ['a key that may not ask', { env: { GATE_SIDECAR_KEY: auditor.secret } }, /needs a key with role agent/],
    ['no tenant', { env: { GATE_SIDECAR_TENANT: undefined } }, /needs a tenant/],
    ['a tenant that is not the key’s', { args: ['--tenant', 'other'] }, /belongs to another tenant/],
    ['an address that is none', { args: ['--url', 'localhost'] }, /not an http or https URL/],
    ['nobody there', { args: ['--url', 'http://127.0.0.1:1'] }, /could not be decided: .*cannot be reached/],
    ['an option that is not known', { args: ['--tennant', 'acme'] }, /unknown option/],
    ['a value that is not known', { args: ['--on-allow', 'always'] }, /Allowed choices are pass, grant/],
    ['a time that is none', { args: ['--approval-timeout', '10'] }, /A duration such as/],
    ['a time without end', { args: ['--approval-timeout', '25d'] }, /A duration such as/],
    ['a word too many', { args: ['Bash'] }, /too many arguments/],
  ]
  for (const [name, question, said] of rows) {
    test(name, async () => {
      const { code, stdout, stderr } = await ask(question)
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' }, stderr)
      assert.match(stderr, said)
    })
  }

  test('no hook is named', async () => {
    for (const args of [['hook'], ['hook', 'other']]) assert.equal((await run(args, { env: usual, input: '' })).code, 2)
  })
})

const ALLOW = { decision: 'allow', decisionId: 'dec_1', reason: 'Yes.', plan: { action: 'Read' }, approvalId: null }
const TIMES = { timestamp: '2026-01-01T00:00:00.000Z', validUntil: '2026-01-01T00:01:00.000Z' }

describe('an answer that is not one of a sidecar is blocked', () => {
  // Else the tests' own fetch refuses what these servers answer, before the hook sees it.
  const { fetch } = globalThis
  before(() => {
    globalThis.fetch = plainFetch
  })
  after(() => {
    globalThis.fetch = fetch
  })
  const json = (status: number, data: unknown, success = true): [number, string] => [
    status,
    JSON.stringify({ success, data, requestId: 'r' }),
  ]
  const rows: [name: string, answer: [status: number, text: string]][] = [
    ['nothing', [200, '']],
    ['a page', [200, '<html>allow</html>']],
    ['an empty object', [200, '{}']],
    ['an allow without its envelope', [200, JSON.stringify(ALLOW)]],
    ['an allow that says that it is a failure', json(200, { ...ALLOW, ...TIMES }, false)],
    ['an allow with a failure for a status', json(500, { ...ALLOW, ...TIMES })],
    ['a redirect', json(302, { ...ALLOW, ...TIMES })],
    ['an allow of another action', json(200, { ...ALLOW, ...TIMES, plan: { action: 'Bash' } })],
    ['an allow in other letters', json(200, { ...ALLOW, ...TIMES, decision: 'ALLOW' })],
    ['an allow in a list', json(200, { ...ALLOW, ...TIMES, decision: ['allow'] })],
    ['an allow for no time', json(200, { ...ALLOW, ...TIMES, validUntil: null })],
    ['an allow until a time that is none', json(200, { ...ALLOW, ...TIMES, validUntil: 'later' })],
    ['an allow that has run out', json(200, { ...ALLOW, ...TIMES, validUntil: TIMES.timestamp })],
    ['a hold without an approval', json(200, { ...ALLOW, ...TIMES, decision: 'require_approval' })],
  ]
  for (const [name, [status, text]] of rows) {
    test(name, async () => {
      const { url } = await serverThat((_request, response) => {
        // The times of the rows are not those of now.
        response.sendDate = false
        response.writeHead(status, { 'content-type': 'application/json', location: gate.server.url }).end(text)
      })
      assertBlocked(await ask({ args: ['--url', url] }), /^gate-sidecar: /)
    })
  }

  test('this is how an allow is told: the rows above differ from it by what they say', async () => {
    const { url } = await serverThat((_request, response) => {
      response.sendDate = false
      response.writeHead(200).end(json(200, { ...ALLOW, ...TIMES })[1])
    })
    assertPassed(await ask({ args: ['--url', url] }))
  })
})

/** Code that is run in the process of the hook before it. */
const injected = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` })
/** Timers of more than 20 s fire after 1.5 s. */
const HASTE = 'const set = setTimeout; globalThis.setTimeout = (f, ms, ...a) => set(f, ms > 20000 ? 1500 : ms, ...a)'

describe('however the hook ends, it blocks', { concurrency: 2 }, async () => {
  const { url: hangs } = await serverThat(() => undefined)

  test('a sidecar that takes the question and never answers', async () => {
    assertBlocked(await ask({ args: ['--url', hangs] }), /did not answer in time/)
  })

  test('an answer in another protocol', { timeout: 30_000 }, async () => {
    const { url } = await serverThat(({ socket }) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')
    })
    assertBlocked(await asking(hook('read'), ['--url', url]).ended, /cannot be reached/)
  })

  test('a question that never ends', { timeout: 60_000 }, async () => {
    assertBlocked(await asking(undefined, [], injected(HASTE)).ended, /The sidecar did not answer in time/)
  })

  test('signals that ask it to stop, while it waits for people', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const { child, ended } = asking(bash(`until ${signal}`))
      await pendingFor(`until ${signal}`)
      child.kill(signal)
      assertBlocked(await ended, new RegExp(`stopped by ${signal}`))
    }
  })

  const ends: [name: string, code: string, said: RegExp][] = [
    ['an error that nothing expected', 'throw new Error("boom")', /^gate-sidecar: The hook failed: boom\n$/],
    ['a value that is thrown', 'throw null', /^gate-sidecar: The hook failed: null\n$/],
    ['a promise that nobody waits for', 'Promise.reject(new Error("boom"))', /^gate-sidecar: The hook failed: boom\n$/],
    ['an exit with the code of a failure', 'process.exit(3)', /^$/],
    ['an exit with the code of a negative result', 'process.exit(1)', /^$/],
    ['an exit without a code', 'process.exit()', /^$/],
  ]
  for (const [name, code, said] of ends) {
    test(name, async () => {
      const { url, server } = await serverThat(() => undefined)
      const asked = once(server, 'request')
      const { child, ended } = asking(
        hook('read'),
        ['--url', url],
        injected(`process.once('SIGUSR2', () => { ${code} })`),
      )
      await asked
      child.kill('SIGUSR2')
      const { code: exitCode, stdout, stderr } = await ended
      assert.deepEqual({ exitCode, stdout }, { exitCode: 2, stdout: '' }, stderr)
      assert.match(stderr, said)
    })
  }

  test('a program without its files, as while it is built', async () => {
    const folder = temporaryFolder()
    cpSync(join(BIN, '..'), join(folder, 'bin'), { recursive: true })
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(folder, 'bin/gate-sidecar.js'), 'hook', 'claude-code'],
      {
        input: hook('read'),
        encoding: 'utf8',
      },
    )
    assert.deepEqual({ status, stdout }, { status: 2, stdout: '' })
  })

  test('an answer that cannot be written', async () => {
    const full = spawn('sh', ['-c', '"$0" "$1" hook claude-code > /dev/full', process.execPath, BIN], {
      env: { ...process.env, ...usual },
      stdio: 'pipe',
    })
    full.stdin.end(hook('read'))
    assert.equal(await new Promise((resolve) => full.once('close', resolve)), 2)
  })

  test('an answer that nobody reads', async () => {
    const { child, ended } = asking(undefined)
    child.stdout?.destroy()
    child.stdin?.end(hook('read'))
    assert.equal((await ended).code, 2)
  })

  test('a reason that nobody reads', async () => {
    const { child, ended } = asking(undefined)
    child.stderr?.destroy()
    child.stdin?.end(hook('web-fetch'))
    assert.equal((await ended).code, 2)
  })
})
