import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readCorpus } from '../../evaluation/corpus.ts'
import { readSample } from '../../examples/agent-calls/sample.ts'
import type { Ended } from '../cli/program.ts'
import { CORPUS } from '../evaluation/support.ts'
import { temporaryFolder } from '../helpers.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const EXAMPLE = 'examples/agent-calls'

interface DemoRun {
  ended: Promise<Ended>
  /** Temporary folders go here. */
  tmp: string
  interrupt(): void
}

/** The demo, as `npm run demo` starts it. */
function runDemo(args: readonly string[], root = ROOT): DemoRun {
  const tmp = temporaryFolder()
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, EXAMPLE, 'main.ts'), ...args], {
    cwd: root,
    // A setting of the user's own service does not reach the demo's.
    env: { ...process.env, TMPDIR: tmp, GATE_SIDECAR_POLICIES: '/nowhere', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk
      if (texts.stdout.includes('1  A sidecar')) child.emit('begun')
    })
  }
  return {
    tmp,
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, ...texts }))),
    interrupt: () => child.once('begun', () => child.kill('SIGINT')),
  }
}

/** Returns the demo's leftovers in the folder, where tsx also keeps a cache of its own. */
function leftIn(tmp: string): string[] {
  return readdirSync(tmp).filter((name) => name.startsWith('gate-sidecar'))
}

test('package.json: the scripts are what is tested here', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  assert.equal(scripts.start, 'node bin/gate-sidecar.js serve --demo')
  assert.equal(scripts.demo, `node --import tsx ${EXAMPLE}/main.ts`)
})

test('npm run demo: every step does what it says, and leaves nothing behind', async () => {
  const { ended, tmp } = runDemo(['--json'])
  const { code, stdout, stderr } = await ended
  assert.equal(stderr, '')
  assert.equal(code, 0)
  const { calls, decisions, labelled, approved, stopped, entriesChecked, proved } = JSON.parse(stdout)
  assert.equal(calls, 234)
  assert.deepEqual(decisions, { allow: 201, require_approval: 26, deny: 7 })
  assert.deepEqual(labelled, {
    user: { allow: 191, require_approval: 12, deny: 2 },
    goal: { allow: 3, require_approval: 13, deny: 4 },
    support: { allow: 4, require_approval: 0, deny: 0 },
    other: { allow: 3, require_approval: 1, deny: 1 },
  })
  assert.deepEqual(
    [approved.held, approved.used, approved.again].map(({ decision }) => decision),
    ['require_approval', 'allow', 'require_approval'],
  )
  assert.deepEqual(
    [stopped.during, stopped.elsewhere.answer, stopped.after].map(({ decision }) => decision),
    ['deny', 'allow', 'allow'],
  )
  assert.ok(entriesChecked > 234)
  assert.match(proved.verdict, /^VALID/)
  assert.equal(proved.altered, 'INVALID')
  assert.deepEqual(leftIn(tmp), [])
})

test('npm run demo -- --all: a line for each call, without colour or progress where there is no terminal', async () => {
  const { code, stdout, stderr } = await runDemo(['--all']).ended
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  const rows = stdout.split('\n').filter((line) => /^ {2}(banking|slack|travel|workspace)-\d+ /.test(line))
  assert.equal(rows.length, 234)
  assert.ok(!stdout.includes('\u001b'))
  for (const step of [1, 2, 3, 4, 5, 6]) assert.match(stdout, new RegExp(`^${step} {2}\\S`, 'm'))
})

test('npm run demo: ends with 1 and says why when a step does not do what it says; 130 when interrupted', async () => {
  const root = temporaryFolder()
  for (const name of ['bin', 'dist', 'src', 'node_modules', 'package.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, name), join(root, name))
  mkdirSync(join(root, 'examples'))
  cpSync(join(ROOT, EXAMPLE), join(root, EXAMPLE), { recursive: true })
  cpSync(join(ROOT, 'policies'), join(root, 'policies'), { recursive: true })
  const policy = join(root, 'policies/demo/main.yaml')
  const text = readFileSync(policy, 'utf8')
  const withoutHold = text.replace(/ {2}- id: steered-change[\s\S]*?when: .*\n/, '')
  assert.notEqual(withoutHold, text)
  writeFileSync(policy, withoutHold)
  const failing = runDemo([], root)
  const failed = await failing.ended
  assert.deepEqual([failed.code, failed.stderr], [1, 'demo: The payment of the bill was not held.\n'])
  assert.deepEqual(leftIn(failing.tmp), [])

  const interrupted = runDemo([])
  interrupted.interrupt()
  assert.equal((await interrupted.ended).code, 130)
  assert.deepEqual(leftIn(interrupted.tmp), [])
})

test('the sample is a part of the recorded calls, none changed', () => {
  const { calls, requests } = readSample()
  const lines = readFileSync(join(ROOT, EXAMPLE, 'sessions.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
  const sessions = lines.map((line): { name: string; source: string } => JSON.parse(line))
  const recorded = new Map(readCorpus(CORPUS).sessions.map((session) => [session.session, session]))
  assert.equal(sessions.length, 49)
  for (const { name, source } of sessions) {
    const session = recorded.get(source)
    const wanted = session?.calls.map(({ order, action, args, context }) => ({ order, action, args, ...context }))
    const own = calls
      .filter((call) => call.session === name)
      .map(({ step, action, args, tainted, provenance }) => ({ order: step, action, args, tainted, prov: provenance }))
    assert.deepEqual(own, JSON.parse(JSON.stringify(wanted)), name)
    assert.equal(requests.get(name), session?.prompt)
  }
})
