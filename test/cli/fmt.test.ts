import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { rewriteFile } from '../../src/files/rewrite.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { run } from './program.ts'

const ODD = 'apiVersion:   gate-sidecar/v1\ntenant: acme # who\n'
const EVEN = 'apiVersion: gate-sidecar/v1\ntenant: acme # who\n'
const JSON_ODD = '{"apiVersion":"gate-sidecar/v1","tenant":"acme"}'
const JSON_EVEN = '{\n  "apiVersion": "gate-sidecar/v1",\n  "tenant": "acme"\n}\n'

function folder(files: Readonly<Record<string, string>>): string {
  const dir = temporaryFolder()
  writeFiles(dir, files)
  return dir
}

const textOf = (...path: string[]): string => readFileSync(join(...path), 'utf8')

test('fmt: policies, tests and JSON of every tenant are written in the style, the rest of the folder is left alone', async () => {
  const dir = folder({
    'acme/main.yaml': ODD,
    'acme/a.json': JSON_ODD,
    'acme/acme.test.yaml': ODD,
    'acme/b.yml': EVEN,
    'acme/lists/odd.yaml': ODD,
    'acme/.hidden.yaml': ODD,
    'acme/notes.txt': ODD,
    'acme/compose.yaml': 'services:   {}\n',
  })
  const { code, stdout } = await run(['fmt', '--policies', dir])
  const lines = ['formatted acme/a.json', 'formatted acme/acme.test.yaml']
  const skipped = 'skipped acme/compose.yaml: it has no apiVersion of gate-sidecar.'
  const sum = '5 files: 3 formatted, 1 unchanged, 1 skipped.'
  assert.deepEqual([code, stdout], [0, [...lines, skipped, 'formatted acme/main.yaml', sum, ''].join('\n')])
  assert.deepEqual(
    ['main.yaml', 'acme.test.yaml', 'b.yml', 'a.json'].map((name) => textOf(dir, 'acme', name)),
    [EVEN, EVEN, EVEN, JSON_EVEN],
  )
  for (const name of ['lists/odd.yaml', '.hidden.yaml', 'notes.txt']) assert.equal(textOf(dir, 'acme', name), ODD)
  const second = await run(['fmt', '--check', '--policies', dir])
  assert.deepEqual([second.code, second.stdout.split('\n').at(-2)], [0, '5 files: 4 unchanged, 1 skipped.'])
})

test('fmt --check and --diff change nothing; --check ends with 1, and both name or show what would change', async () => {
  const dir = folder({ 'acme/main.yaml': ODD, 'acme/good.yaml': EVEN })
  const check = await run(['fmt', '--check', join(dir, 'acme')])
  assert.equal(check.code, 1)
  assert.match(check.stdout, /^to be formatted .*acme\/main\.yaml\n2 files: 1 to be formatted, 1 unchanged\.\n$/)
  const diff = await run(['fmt', '--diff', '--policies', dir])
  const hunk = [
    '@@ -1,3 +1,3 @@',
    '-apiVersion:   gate-sidecar/v1',
    '+apiVersion: gate-sidecar/v1',
    ' tenant: acme # who',
    ' ',
  ]
  const shown = ['--- acme/main.yaml', '+++ acme/main.yaml', ...hunk, '2 files: 1 to be formatted, 1 unchanged.', '']
  assert.deepEqual([diff.code, diff.stdout], [0, shown.join('\n')])
  const json = await run(['fmt', '--check', '--json', '--policies', dir])
  assert.deepEqual(JSON.parse(json.stdout), {
    files: [
      { file: 'acme/good.yaml', status: 'unchanged' },
      { file: 'acme/main.yaml', status: 'to be formatted' },
    ],
  })
  assert.equal(textOf(dir, 'acme/main.yaml'), ODD)
})

test('fmt: a file that cannot be read as a document is refused with its faults, and the others are formatted', async () => {
  const broken = 'rules: [\n'
  const dir = folder({ 'acme/broken.yaml': broken, 'acme/main.yaml': ODD })
  const { code, stdout } = await run(['fmt', '--policies', dir])
  assert.equal(code, 1)
  assert.match(
    stdout,
    /^acme\/broken\.yaml:1:8 error GATE1003 .*\n 1 \| rules: \[\n {3}\| {8}\^ did you mean `\[\]`\?\nformatted acme\/main\.yaml\n/,
  )
  assert.deepEqual([textOf(dir, 'acme/broken.yaml'), textOf(dir, 'acme/main.yaml')], [broken, EVEN])
})

test('fmt: a file keeps its mode; a link inside the folder stays one, and one that leads out is refused', async () => {
  const outside = folder({ 'secret.yaml': ODD })
  const dir = folder({ 'acme/..data/real.yaml': ODD, 'acme/main.yaml': ODD })
  symlinkSync('..data/real.yaml', join(dir, 'acme/linked.yaml'))
  symlinkSync(join(outside, 'secret.yaml'), join(dir, 'acme/out.yaml'))
  chmodSync(join(dir, 'acme/main.yaml'), 0o640)
  const { code, stdout } = await run(['fmt', '--policies', dir])
  assert.equal(code, 1)
  assert.match(
    stdout,
    /^formatted acme\/linked\.yaml\nformatted acme\/main\.yaml\nrefused acme\/out\.yaml is a link out of /,
  )
  assert.equal(textOf(outside, 'secret.yaml'), ODD)
  assert.equal(textOf(dir, 'acme/..data/real.yaml'), EVEN)
  assert.equal(statSync(join(dir, 'acme/main.yaml')).mode & 0o777, 0o640)
  assert.deepEqual(readdirSync(join(dir, 'acme')).sort(), ['..data', 'linked.yaml', 'main.yaml', 'out.yaml'])
})

test('fmt -: standard input is formatted to standard output; a fault goes to standard error', async () => {
  assert.deepEqual(await run(['fmt', '-'], { input: ODD }), { code: 0, stdout: EVEN, stderr: '' })
  const broken = await run(['fmt', '-'], { input: 'a: [' })
  assert.deepEqual([broken.code, broken.stdout], [1, ''])
  assert.match(broken.stderr, /^-:1:4 error GATE1003 /)
  assert.equal((await run(['fmt', '-', '--check'], { input: EVEN })).code, 0)
  assert.equal((await run(['fmt', '-', '--check'], { input: ODD })).code, 1)
})

const REFUSED: { name: string; args: (dir: string) => string[]; code: number; stderr: RegExp }[] = [
  {
    name: 'a folder that is not there',
    args: (dir) => ['--policies', join(dir, 'none')],
    code: 3,
    stderr: /no folder .*none; create one with `gate-sidecar init`, or name another/,
  },
  {
    name: 'a path that is not there',
    args: (dir) => [join(dir, 'none.yaml')],
    code: 3,
    stderr: /none\.yaml does not exist/,
  },
  {
    name: 'a file of another kind',
    args: (dir) => [join(dir, 'a.txt')],
    code: 2,
    stderr: /a\.txt is not a policy or test file/,
  },
  {
    name: 'a folder without policies',
    args: (dir) => [join(dir, 'empty')],
    code: 3,
    stderr: /has no policy or test files/,
  },
  { name: 'standard input beside a file', args: (dir) => ['-', join(dir, 'a.yaml')], code: 2, stderr: /give it alone/ },
]
for (const { name, args, code, stderr } of REFUSED) {
  test(`fmt: ${name} ends with ${code}`, async () => {
    const dir = folder({ 'a.txt': '', 'a.yaml': EVEN })
    mkdirSync(join(dir, 'empty'))
    const ended = await run(['fmt', ...args(dir)])
    assert.equal(ended.code, code, ended.stderr)
    assert.match(ended.stderr, stderr)
  })
}

test('a file that has changed since it was read is not overwritten, and nothing is left beside it', () => {
  const dir = folder({ 'main.yaml': ODD })
  const path = join(dir, 'main.yaml')
  const before = readFileSync(path)
  for (const text of [`${ODD}x: 1\n`, ODD.slice(1), '']) {
    writeFileSync(path, text)
    assert.equal(rewriteFile(path, before, EVEN), false)
    assert.equal(textOf(path), text)
  }
  writeFileSync(path, before)
  assert.equal(rewriteFile(path, before, EVEN), true)
  assert.equal(textOf(path), EVEN)
  assert.deepEqual(readdirSync(dir), ['main.yaml'])
})

test('fmt: a name may be as long as the file system takes', () => {
  const dir = temporaryFolder()
  const path = join(dir, `${'n'.repeat(250)}.yaml`)
  writeFileSync(path, 'a: 1\n')
  assert.equal(rewriteFile(path, Buffer.from('a: 1\n'), EVEN), true)
  assert.equal(readFileSync(path, 'utf8'), EVEN)
})
