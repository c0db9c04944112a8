import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { buildImage } from './build.ts'
import { contextOf, parseDockerfile } from './dockerfile.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

test('instructions are read over several lines, with comments between', () => {
  const text = '# first\nFROM a:1 AS one\nRUN x \\\n  # between\n  && y\n\nFROM b/c:2-d\nUSER 1000\n'
  assert.deepEqual(parseDockerfile(text), [
    { name: 'one', base: 'a:1', instructions: [{ word: 'RUN', rest: 'x && y', line: 3 }] },
    { name: undefined, base: 'b/c:2-d', instructions: [{ word: 'USER', rest: '1000', line: 8 }] },
  ])
})

test('a replay refuses what it would not do as an engine does, and names the line', () => {
  const cases: [string, RegExp][] = [
    ['RUN x', /line 1, RUN x: it stands before FROM/],
    ['FROM --platform=a b', /line 1.*expected `image`/],
    ['FROM a\nADD x y', /line 2, ADD x y: the instruction is not known/],
    ['FROM a\nrun x', /line 2.*not known/],
    ['FROM a\nRUN x \\', /line 2: the instruction does not end/],
    ['FROM a\nENV x=$y', /line 2.*expected name=value/],
    ['FROM a\nENV x y', /line 2.*expected name=value/],
    ['FROM a\nCMD serve', /line 2.*expected a JSON list/],
    ['FROM a\nHEALTHCHECK NONE', /line 2.*expected options and CMD/],
    ['FROM a\nCOPY --chown=1 in ./', /line 2.*expected \[--from/],
    ['FROM a\nCOPY *.json ./', /line 2.*expected \[--from/],
    ['FROM a\nCOPY out ./', /line 2.*dockerignore keeps out out/],
    ['FROM a\nCOPY --from=b in ./', /line 2.*no stage b before/],
    ['FROM a\nUSER 1\nRUN x', /line 3.*stands after USER/],
    ['FROM a\nRUN exit 3', /exit 3/],
  ]
  const dir = temporaryFolder()
  writeFiles(dir, { 'in/file': '', 'node/bin/node': '', 'node/include/node.h': '' })
  for (const [i, [dockerfile, message]] of cases.entries()) {
    const stages = join(dir, String(i))
    mkdirSync(stages)
    const options = { context: dir, dockerfile, dockerignore: '*\n!in\n', dir: stages, node: join(dir, 'node') }
    assert.throws(() => buildImage({ ...options, env: process.env }), message, dockerfile)
  }
})

test('.dockerignore lets in what the Dockerfile copies, and nothing else', () => {
  const copied = parseDockerfile(read('Dockerfile'))
    .flatMap(({ instructions }) => instructions)
    .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from='))
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
  assert.deepEqual([...new Set(copied)].sort(), contextOf(read('.dockerignore')).sort())
  assert.throws(() => contextOf('node_modules\n'), /expected \*/)
  assert.throws(() => contextOf('*\n!src\nsrc/x\n'), /found src\/x/)
})

test('the workflow runs the test command of the README, with the oldest Node.js that is promised and that of the image', () => {
  const { jobs } = parse(read('.github/workflows/ci.yml'))
  assert.equal(jobs.test.steps.at(-1).run, 'npm ci && npm test')
  const [, image] = /^FROM node:(\d+)-/m.exec(read('Dockerfile')) ?? []
  const [, oldest] = /"node": ">=([\d.]+)"/.exec(read('package.json')) ?? []
  assert.deepEqual(jobs.test.strategy.matrix.node, [oldest, image])
})
