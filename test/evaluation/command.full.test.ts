import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { optionsOf } from '../../evaluation/options.ts'
import { UsageError } from '../../src/cli/context.ts'
import { readElements } from '../authoring/cases/xml-reader.ts'
import type { Ended } from '../cli/program.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { corpusFiles, SMALL, SMALL_POLICIES } from './support.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Runs the command as `npm run evaluate` does after the build. */
function evaluate(args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'evaluation/main.ts', ...args], { cwd: ROOT })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk
    })
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...texts })))
}

function folder(files: Readonly<Record<string, string>>): string {
  const dir = temporaryFolder()
  writeFiles(dir, files)
  return dir
}

const corpus = folder(corpusFiles(SMALL))
const policies = folder(SMALL_POLICIES)
const read = (path: string): string => readFileSync(path, 'utf8')

describe('npm run evaluate', { concurrency: 2 }, () => {
  test('replays a corpus through a running sidecar, scores it, and writes page, chart, scores and decisions', async () => {
    const dir = temporaryFolder()
    const [page, json, decisions] = ['page.md', 'scores.json', 'decisions.jsonl'].map((name) => join(dir, name))
    const outputs = ['--out', String(page), '--json', String(json), '--decisions', String(decisions)]
    const ended = await evaluate(['--corpus', corpus, '--policies', policies, ...outputs])
    assert.deepEqual({ code: ended.code, stderr: ended.stderr }, { code: 0, stderr: '' })
    assert.match(
      ended.stdout,
      /^agentdojo +1 +100\.00 % → 0\.00 % +0\.00 % +1 +100\.00 % +100\.00 % +100\.00 % +0\.00 %$/m,
    )

    const decided = read(String(decisions))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      decided.map(({ id, decision, status }) => [id, decision, status]),
      [
        ['clean#0', 'allow', 200],
        ['clean#1', 'require_approval', 200],
        ['attacked#0', 'allow', 200],
        ['attacked#1', 'deny', 200],
        ['told#0', 'allow', 200],
      ],
    )
    for (const line of decided) {
      assert.deepEqual(Object.keys(line), ['id', 'decision', 'rule', 'riskScore', 'status', 'latency_ms'])
      assert.ok(line.latency_ms > 0)
    }

    const { full, slice } = JSON.parse(read(String(json)))
    assert.deepEqual(Object.keys(full), ['agentdojo'])
    assert.equal(full.agentdojo.rates.attackSuccess, 0)
    assert.equal(full.agentdojo.rates.interrupted, 100)
    assert.equal(slice['kept-apart'].rates.attackSuccessFloor, 100)

    assert.match(read(String(page)), /\(page\.svg\)/)
    assert.match(read(String(page)), /^By slice of the recordings/m)
    const [root] = readElements(read(join(dir, 'page.svg')))
    assert.equal(root?.name, 'svg')
  })

  test('writes no page of other recordings or policies unless it is told where', async () => {
    const before = read(join(ROOT, 'docs/evaluation.md'))
    const { code, stdout } = await evaluate(['--corpus', corpus, '--policies', policies, '--concurrency', '1'])
    assert.equal(code, 0)
    assert.match(stdout, /^SOURCE/)
    assert.equal(read(join(ROOT, 'docs/evaluation.md')), before)
  })

  test('--help says how it is used, with an example', async () => {
    const { code, stdout } = await evaluate(['--help'])
    assert.equal(code, 0)
    for (const option of ['corpus', 'policies', 'concurrency', 'out', 'json', 'decisions'])
      assert.match(stdout, new RegExp(`--${option} `))
    assert.match(stdout, /Example:\n {2}npm run evaluate -- /)
  })

  const broken = { ...SMALL_POLICIES, 'other/main.yaml': 'apiVersion: gate-sidecar/v1\ntenant: other\nrules: 5\n' }
  const cut = { ...corpusFiles(SMALL), 'calls.jsonl': '{"id":"1"\n' }
  const REFUSALS: readonly { name: string; args: readonly string[]; code: number; message: RegExp }[] = [
    { name: 'an option that there is not', args: ['--corpse', 'x'], code: 2, message: /--corpse.*See --help\./ },
    {
      name: 'no corpus',
      args: ['--corpus', join(corpus, 'none')],
      code: 3,
      message: /none.sessions\.jsonl cannot be read/,
    },
    { name: 'a line that is no JSON', args: ['--corpus', folder(cut)], code: 3, message: /calls\.jsonl:1: / },
    {
      name: 'a tenant without policies',
      args: [
        '--corpus',
        corpus,
        '--policies',
        folder({ 'agentdojo/main.yaml': String(SMALL_POLICIES['agentdojo/main.yaml']) }),
      ],
      code: 3,
      message: /has no policies for the tenant other\./,
    },
    {
      name: 'policies that do not load',
      args: ['--corpus', corpus, '--policies', folder(broken)],
      code: 3,
      message: /The policies of other do not load; `gate-sidecar validate --policies .*` says why\./,
    },
    {
      name: 'a page that cannot be written',
      args: ['--corpus', corpus, '--policies', policies, '--out', join(corpus, 'none', 'page.md')],
      code: 3,
      message: /none cannot be used: it does not exist\./,
    },
  ]
  for (const { name, args, code, message } of REFUSALS) {
    test(`refuses ${name}`, async () => {
      const ended = await evaluate(args)
      assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr)
      assert.match(ended.stderr, message)
      assert.match(ended.stderr, /^evaluate: .*\n$/)
    })
  }
})

describe('options', () => {
  test('without any, what is shipped is measured and its page written', () => {
    assert.deepEqual(optionsOf([]), {
      ...{ corpus: join(ROOT, 'evaluation/corpus'), policies: join(ROOT, 'policies'), concurrency: 8 },
      ...{ out: join(ROOT, 'docs/evaluation.md'), json: undefined, decisions: undefined },
    })
  })
  for (const option of ['--corpus', '--policies']) {
    test(`with ${option}, no page is written unless a place for it is given`, () => {
      const given = (...args: string[]) => optionsOf([option, 'x', ...args])
      const [plain, placed] = [given(), given('--out', 'y.md')]
      assert.ok(plain !== 'help' && placed !== 'help')
      assert.equal(plain.out, undefined)
      assert.equal(placed.out, resolve('y.md'))
    })
  }
  for (const args of [
    ['x'],
    ['--out'],
    ['--json', '--out'],
    ['--no-out'],
    ...['0', '65', 'many', '-1', '1.5', ''].map((n) => [`--concurrency=${n}`]),
  ]) {
    test(`refused: ${args.join(' ')}`, () => {
      assert.throws(() => optionsOf(args), UsageError)
    })
  }
})
