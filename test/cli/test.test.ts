import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readLcov } from '../authoring/cases/lcov-reader.ts'
import { readXml } from '../authoring/cases/xml-reader.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { BIN, follow, onTerminal, run } from './program.ts'

/** One test passes, one fails, one is skipped; 18 of 20 outcomes are covered. */
const GOLDEN = fileURLToPath(new URL('../testdata/cases/', import.meta.url))

const POLICY = `apiVersion: gate-sidecar/v1
tenant: acme
rules:
  - {id: mail, actions: [mail.send], effect: allow, reason: Mail.}
`
const testFile = (decision: string, more = ''): string => `apiVersion: gate-sidecar/v1
tenant: acme
tests:
  - {name: mail, ${more}matrix: {actions: [mail.send]}, expect: {decision: ${decision}}}
`

/** Times differ from run to run. */
function timeless(text: string): string {
  return text
    .replace(/\(\d+\.\d\d s\)/g, '(0.00 s)')
    .replace(/time="\d+\.\d{3}"/g, 'time="0.000"')
    .replace(/"ms":[\d.]+/g, '"ms":0')
}

const FORMATS: { file: string; args: string[] }[] = [
  { file: 'tree.txt', args: ['--coverage'] },
  { file: 'verbose.txt', args: ['--verbose', '--filter', 'at home', '--filter', 'refunds', '--min-coverage', '1'] },
  { file: 'report.json', args: ['--json', '--coverage'] },
  { file: 'junit.xml', args: ['--format', 'junit'] },
]
for (const { file, args } of FORMATS) {
  test(`test ${args.join(' ')}: prints what is kept in ${file}`, async () => {
    const { code, stdout, stderr } = await run(['test', ...args], { cwd: GOLDEN })
    assert.equal(stderr, '')
    assert.equal(code, file === 'verbose.txt' ? 0 : 1)
    assert.equal(timeless(stdout), timeless(readFileSync(join(GOLDEN, file), 'utf8')))
  })
}

test('test: JSON and XML are what their readers take, and --lcov writes where it is told', async () => {
  const out = join(temporaryFolder(), 'coverage.info')
  const json = JSON.parse((await run(['test', '--format', 'json', '--coverage'], { cwd: GOLDEN })).stdout)
  assert.deepEqual([json.tests, json.cases, json.passed, json.failed, json.skipped], [4, 5, 3, 1, 1])
  assert.deepEqual([json.coverage.percent, json.coverage.outcomes, json.coverage.covered], [90, 20, 18])
  const { stdout } = await run(['test', '--format', 'junit', '--lcov', out], { cwd: GOLDEN })
  const names = readXml(stdout).map(({ name }) => name)
  assert.deepEqual(
    [names.filter((name) => name === 'testcase').length, names.includes('failure'), names.includes('skipped')],
    [5, true, true],
  )
  assert.equal(readFileSync(out, 'utf8'), readFileSync(join(GOLDEN, 'coverage.info'), 'utf8'))
  assert.deepEqual(
    readLcov(readFileSync(out, 'utf8')).map(({ file }) => file),
    ['policies/shop/main.yaml'],
  )
})

const HEADER = 'apiVersion: gate-sidecar/v1\ntenant: acme\n'
/** Ways in which a run ends. */
const ENDS: { name: string; files: Record<string, string>; args?: string[]; code: number; says: RegExp }[] = [
  {
    name: 'all pass',
    files: { 'a.test.yaml': testFile('allow') },
    code: 0,
    says: /1 test, 1 case: 1 passed, 0 failed, 0 skipped/,
  },
  {
    name: 'one fails',
    files: { 'a.test.yaml': testFile('deny') },
    code: 1,
    says: /decision +wanted deny +got allow +acme\/a\.test\.yaml:4:58/,
  },
  { name: 'there is no test', files: {}, code: 1, says: /No test ran: there is no \*\.test\.yaml file for acme\./ },
  {
    name: 'all are skipped',
    files: { 'a.test.yaml': testFile('deny', 'skip: Not yet., ') },
    code: 1,
    says: /skip mail {2}Not yet\.[\s\S]*No test ran: 1 case skipped/,
  },
  {
    name: 'a filter finds nothing',
    files: { 'a.test.yaml': testFile('allow') },
    args: ['--filter', 'male', '--filter', 'action=x'],
    code: 1,
    says: /no case matches --filter male action=x; the tests are mail\./,
  },
  {
    name: 'a filter finds one',
    files: { 'a.test.yaml': testFile('allow') },
    args: ['--filter', 'action=mail.*'],
    code: 0,
    says: /1 passed/,
  },
  {
    name: 'the coverage is enough',
    files: { 'a.test.yaml': testFile('allow') },
    args: ['--min-coverage', '100'],
    code: 0,
    says: /coverage: 100 % of outcomes \(2 of 2\)/,
  },
  {
    name: 'the coverage is too low',
    files: {
      'a.test.yaml': testFile('allow'),
      'more.yaml': `${HEADER}rules: [{id: r, actions: [x], effect: deny, reason: R.}]\n`,
    },
    args: ['--min-coverage', '50.1'],
    code: 1,
    says: /The coverage of 50 % is below the 50\.1 % of --min-coverage\./,
  },
  {
    name: 'a policy has an error',
    files: {
      'a.test.yaml': testFile('allow'),
      'more.yaml': `${HEADER}rules: [{id: r, actions: [x], effect: deni, reason: R.}]\n`,
    },
    code: 3,
    says: /acme\/more\.yaml:3:39 error GATE1104 .*\n 3 \| rules.*\n {3}\| +\^\^\^\^ did you mean `deny`\?/,
  },
  {
    name: 'a test file has an error',
    files: { 'a.test.yaml': testFile('alow') },
    code: 3,
    says: /acme\/a\.test\.yaml:4:69 error GATE1503/,
  },
  {
    name: 'a folder holds too much',
    files: Object.fromEntries(
      Array.from({ length: 17 }, (_, i) => [`p${i}.yaml`, `#${' '.repeat(1024 * 1024 - 2)}\n`]),
    ),
    code: 3,
    says: /The folder of acme holds more than 16777216 bytes/,
  },
  {
    name: 'a tenant that is none',
    files: {},
    args: ['--tenant', 'nobody'],
    code: 3,
    says: /no policy folder of nobody in .*; name another with --tenant or --policies/,
  },
  {
    name: 'a pattern of actions that is none',
    files: {},
    args: ['--filter', 'action=a b'],
    code: 2,
    says: /--filter: action=a b is not an action pattern/,
  },
  {
    name: 'a percent that is none',
    files: {},
    args: ['--min-coverage', '101'],
    code: 2,
    says: /A number from 0 to 100 is expected/,
  },
  {
    name: 'a format that is none',
    files: {},
    args: ['--format', 'xml'],
    code: 2,
    says: /Allowed choices are tree, json, junit/,
  },
  {
    name: 'coverage that cannot be written',
    files: { 'a.test.yaml': testFile('allow') },
    args: ['--lcov', '/nowhere/at/all.info'],
    code: 3,
    says: /\/nowhere\/at\/all\.info cannot be used: it does not exist/,
  },
]
for (const { name, files, args = [], code, says } of ENDS) {
  test(`test: ${name}: ends with ${code}`, async () => {
    const policies = temporaryFolder()
    writeFiles(join(policies, 'acme'), { 'main.yaml': POLICY, ...files })
    const ended = await run(['test', '--policies', policies, ...args])
    assert.match(code > 1 ? ended.stderr : ended.stdout, says)
    assert.equal(ended.code, code)
  })
}

test('test: a folder that is not there is told', async () => {
  const ended = await run(['test', '--policies', join(temporaryFolder(), 'none')])
  assert.equal(ended.code, 3)
  assert.match(
    ended.stderr,
    /There is no folder .*none; create one with `gate-sidecar init`, or name another with --policies/,
  )
})

test('test: what nothing ran for is told in each format', async () => {
  const policies = temporaryFolder()
  writeFiles(join(policies, 'acme'), { 'main.yaml': POLICY })
  const json = await run(['test', '--policies', policies, '--json'])
  assert.deepEqual([json.code, JSON.parse(json.stdout).problems.length], [1, 1])
  const junit = await run(['test', '--policies', policies, '--format', 'junit'])
  assert.equal(junit.code, 1)
  assert.equal(readXml(junit.stdout).length, 1)
  assert.match(junit.stderr, /^gate-sidecar: No test ran/)
})

test('test: names of tests, contexts and reasons steer no terminal', async () => {
  const policies = temporaryFolder()
  const evil = '"\\u001b[2J\\u202eevil\\n"'
  const file = `${HEADER}contexts: {${evil}: {}}\ntests:\n  - {name: ${evil}, matrix: {actions: [mail.send], contexts: [${evil}]}, expect: {decision: deny, reason: ${evil}}}\n  - {name: s, skip: ${evil}, matrix: {actions: [x]}, expect: {decision: deny}}\n`
  writeFiles(join(policies, 'acme'), { 'main.yaml': POLICY, 'a.test.yaml': file })
  for (const args of [['--verbose', '--coverage'], ['--json'], ['--format', 'junit'], ['--filter', 'none']]) {
    const { stdout, stderr } = await run(['test', '--policies', policies, ...args])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that steer
    assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f\u202e]/)
  }
})

test('test: colours and a bar on a terminal, where there is one', () => {
  const policies = temporaryFolder()
  const contexts = Array.from({ length: 600 }, (_, i) => `c${i}`)
  const file = `${HEADER}contexts: {${contexts.map((name) => `${name}: {}`).join(', ')}}\ntests:\n  - {name: mail, matrix: {actions: [mail.send], contexts: [${contexts.join(', ')}]}, expect: {decision: allow}}\n`
  writeFiles(join(policies, 'acme'), { 'main.yaml': POLICY, 'a.test.yaml': file })
  const shown = onTerminal(`'${process.execPath}' '${BIN}' test --policies '${policies}'`)
  assert.ok(shown.includes('\u001b[32mok'))
  assert.ok(shown.includes(`\r\u001b[K[${'#'.repeat(15)}${'.'.repeat(15)}] 300 of 600 cases`))
  assert.match(shown, /600 passed/)
  const piped = spawnSync(process.execPath, [BIN, 'test', '--policies', policies], { encoding: 'utf8' })
  assert.ok(!(piped.stdout + piped.stderr).includes('\u001b'))
})

test('test --watch: runs again after each change, also of a swapped link and after a broken state; SIGINT ends it with 0', async (t) => {
  const policies = temporaryFolder()
  const tenant = join(policies, 'acme')
  const version = (name: string, text: string): void => {
    mkdirSync(join(tenant, name), { recursive: true })
    writeFiles(join(tenant, name), { 'main.yaml': POLICY, 'a.test.yaml': text })
  }
  version('..1', testFile('allow'))
  symlinkSync('..1', join(tenant, '..data'))
  for (const file of ['main.yaml', 'a.test.yaml']) symlinkSync(`..data/${file}`, join(tenant, file))
  const watching = follow(t, ['test', '--watch', '--policies', policies])
  await watching.until(/1 passed, 0 failed/)
  version('..2', testFile('deny'))
  symlinkSync('..2', join(tenant, '..next'))
  renameSync(join(tenant, '..next'), join(tenant, '..data'))
  await watching.until(/0 passed, 1 failed/)
  writeFileSync(join(tenant, '..2/main.yaml'), 'rules: [\n')
  await watching.untilError(/GATE1003/)
  symlinkSync('\u009b31m.yaml', join(tenant, '\u009b31m.yaml'))
  await watching.untilError(/holds "\\u\{9b\}31m\.yaml", which cannot be read/)
  unlinkSync(join(tenant, '\u009b31m.yaml'))
  writeFileSync(join(tenant, '..2/main.yaml'), POLICY.replace('effect: allow', 'effect: deny'))
  await watching.until(/1 failed[\s\S]*1 passed, 0 failed/)
  watching.stop('SIGINT')
  const { code, signal, stderr } = await watching.ended
  assert.deepEqual([code, signal], [0, null])
  assert.match(stderr, /Waiting for a change in /)
})
