import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { schemaCompiler } from '../../src/base/schema.ts'
import { assertFolderHolds } from '../authoring/test-files.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { BIN, run, runBuilt } from './program.ts'

const SAMPLE = fileURLToPath(new URL('../testdata/tools/mcp.json', import.meta.url))

function filesOf(folder: string): { name: string; text: string }[] {
  return readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
}

/** A folder for policies that has a place for schemas beside it. */
function policiesFolder(): string {
  const folder = join(temporaryFolder(), 'policies')
  mkdirSync(folder)
  return folder
}

const FROM_INPUT = ['init', '--tenant', 'acme', '--tools', '-', '--policies']

test('init: the folder validates without a warning, its tests hold, and the commands it names work', async () => {
  const policies = join(temporaryFolder(), "it's here")
  const made = await run(['init', '--tenant', 'acme', '--tools', SAMPLE, '--policies', policies])
  assert.equal(made.code, 0, made.stderr)
  assert.deepEqual(readdirSync(policies), ['acme'])
  const validated = await run(['validate', '--policies', policies])
  assert.deepEqual([validated.code, validated.stdout], [0, '1 policy set: 0 errors, 0 warnings.\n'])
  const { decided } = await assertFolderHolds('acme', filesOf(join(policies, 'acme')))
  assert.deepEqual([...decided].sort(), ['destructive', 'other', 'reading'])
  const [, , check = ''] = made.stdout.split('Next:\n')[1]?.split('\n') ?? []
  const shell = spawn('sh', ['-c', check.replace('gate-sidecar', `"${process.execPath}" "${BIN}"`)])
  const said = await new Promise<string>((resolve) => {
    let text = ''
    shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    shell.once('close', () => resolve(text))
  })
  assert.match(said, /^allow\nreason {8}.*\ndecided by {4}allow_rule, rule reading at /)
})

test('init: an empty folder is filled, with the rights that any folder would have', async () => {
  const policies = policiesFolder()
  mkdirSync(join(policies, 'acme'))
  const { code, stderr } = await run([...FROM_INPUT, policies], { input: '["get_a"]' })
  assert.equal(code, 0, stderr)
  assert.deepEqual(readdirSync(policies), ['acme'])
  assert.deepEqual(readdirSync(join(policies, 'acme')).sort(), ['main.test.yaml', 'main.yaml'])
  assert.equal(statSync(join(policies, 'acme')).mode & 0o777, 0o777 & ~process.umask())
})

const REFUSED: { name: string; input: Buffer | string; stderr: RegExp }[] = [
  { name: 'a list that is not UTF-8', input: Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), stderr: /-: .*UTF-8/ },
  { name: 'a name given twice as a key', input: '[{"name": "a", "name": "b"}]', stderr: /Duplicate key/ },
  { name: 'lists in lists', input: '['.repeat(50), stderr: /Nesting deeper than 40/ },
  { name: 'a list that is too large', input: `["${'a'.repeat(5 * 1024 * 1024)}"]`, stderr: /more than 4194304 bytes/ },
  { name: 'nothing', input: '', stderr: /The list has no names/ },
]
for (const { name, input, stderr } of REFUSED) {
  test(`init: ${name} is refused with 3, and nothing is written`, async () => {
    const policies = policiesFolder()
    const ended = await run([...FROM_INPUT, policies], { input })
    assert.equal(ended.code, 3, ended.stderr)
    assert.match(ended.stderr, stderr)
    assert.deepEqual(readdirSync(policies), [])
  })
}

test('init: of two that run at once, one writes and the other says so; a hidden file is a file too', async () => {
  const policies = policiesFolder()
  const ended = await Promise.all(
    ['["get_a"]', '["get_b"]'].map((input) => runBuilt([...FROM_INPUT, policies], { input })),
  )
  assert.deepEqual(ended.map(({ code }) => code).sort(), [0, 3])
  assert.deepEqual(readdirSync(policies), ['acme'])
  writeFiles(policies, { 'other/.keep': '' })
  const { code } = await run(['init', '--tenant', 'other', '--policies', policies])
  assert.equal(code, 3)
  assert.deepEqual(readdirSync(join(policies, 'other')), ['.keep'])
})

test('init: files are as fmt leaves them, and lead an editor to schemas that they pass; schemas that are there stay', async () => {
  const policies = policiesFolder()
  const made = await run(['init', '--tenant', 'acme', '--tools', SAMPLE, '--policies', policies])
  assert.equal(made.code, 0, made.stderr)
  const { code, stdout } = await run(['fmt', '--check', '--policies', policies])
  assert.deepEqual([code, stdout], [0, '2 files: 2 unchanged.\n'])
  for (const { name, text } of filesOf(join(policies, 'acme'))) {
    const place = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? ''
    const path = join(policies, 'acme', place)
    assert.match(made.stdout, new RegExp(`^wrote ${path}$`, 'm'))
    const kind = name.includes('.test.') ? 'test' : 'policy'
    assert.equal(readFileSync(path, 'utf8'), (await run(['schema', kind])).stdout)
    const validate = schemaCompiler({ allErrors: true }).compile(JSON.parse(readFileSync(path, 'utf8')))
    assert.ok(validate(parse(text)), JSON.stringify(validate.errors))
  }
  writeFiles(policies, { '../schemas/test.json': '{}' })
  const again = await run(['init', '--tenant', 'other', '--policies', policies])
  assert.doesNotMatch(again.stdout, /schemas/)
  assert.equal(readFileSync(join(policies, '../schemas/test.json'), 'utf8'), '{}')
})

test('init: where schemas cannot be written, the policies are, and a note says so', async () => {
  const policies = policiesFolder()
  writeFiles(policies, { '../schemas': 'a file in the way' })
  const { code, stdout } = await run(['init', '--tenant', 'acme', '--policies', policies])
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^note .*schemas cannot be written \(EEXIST\); write the schemas for editors with gate-sidecar schema\.$/m,
  )
  assert.equal((await run(['validate', '--policies', policies])).code, 0)
})
