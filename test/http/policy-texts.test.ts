import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { MAX_EXCERPT } from '../../src/authoring/diagnostics/quote.ts'
import { visible } from '../../src/base/visible.ts'
import { HEADER } from '../authoring/sources.ts'
import { run } from '../cli/program.ts'
import { ACME_POLICY, startGate, writeFiles } from '../helpers.ts'
import { runs } from '../tier.ts'
import { assertDone } from './support.ts'

const LISTED = `${HEADER}lists: {bad: {file: lists/bad.txt}}
rules:
  - {id: bad, actions: ["mail.*"], effect: deny, reason: B., when: {fact: agent, operator: inList, value: bad}}
`
const TESTS = `${HEADER}tests:\n  - {name: mail, matrix: {actions: [mail.send]}, expect: {decision: deny}}\n`
const gate = await startGate({ after }, { watch: 'off' })
const operator = await gate.key({ roles: ['operator', 'auditor'] })
const folder = join(gate.dir, 'policies/acme')

interface Fault {
  line: number
  column: number
  endColumn?: number
  code: string
  excerpt: string | null
  excerptColumn: number | null
}

const source = async (key = operator) => {
  const answer = await gate.call(key, 'GET', '/policies/source')
  assertDone(answer)
  return answer.body.data
}
const reload = () => gate.call(operator, 'POST', '/policies/reload')
const faultsOf = async (text: string, name = 'main.yaml'): Promise<Fault[]> => {
  const answer = await gate.call(operator, 'POST', '/policies/validate', { files: [{ name, text }] })
  assertDone(answer)
  return answer.body.data.diagnostics
}

/** Returns the part of the excerpt that is marked as the fault. */
const marked = ({ excerpt, excerptColumn, column, endColumn = column + 1 }: Fault): string | undefined =>
  excerpt?.slice(column - (excerptColumn ?? 1), endColumn - (excerptColumn ?? 1))

test('the source is the texts in force, in the order in which they are read, without tests; lists by their size', async () => {
  const [digest, text] = [(await source()).digest, '\uFEFFrules: []\r\n']
  writeFiles(folder, {
    'main.yaml': ACME_POLICY,
    'b.yaml': text.replace('rules: []', `${HEADER.replaceAll('\n', '\r\n')}rules: []`),
    'a.yaml': LISTED,
    'main.test.yaml': TESTS,
    'lists/bad.txt': 'eve\nmallory\n',
  })
  assertDone(await reload())
  const now = await source()
  assert.notEqual(now.digest, digest)
  assert.equal(now.digest, (await gate.call(operator, 'GET', '/policies')).body.data.digest)
  assert.deepEqual(
    now.files.map(({ name }: { name: string }) => name),
    ['a.yaml', 'b.yaml', 'main.yaml'],
  )
  assert.deepEqual(
    [now.files[0].text, now.files[0].bytes, now.files[2].text],
    [LISTED, Buffer.byteLength(LISTED), ACME_POLICY],
  )
  assert.equal(now.files[1].text, `${HEADER.replaceAll('\n', '\r\n')}rules: []\r\n`)
  assert.deepEqual(now.lists, [{ path: 'lists/bad.txt', bytes: 12 }])
  assert.deepEqual(now.diagnostics, [])
})

/** A policy in one line, with a misspelt key behind so much text and before so much more. */
const oneLine = (before: string, after: string): string =>
  `{"apiVersion": "gate-sidecar/v1", "tenant": "acme", "rules": [{"id": "a", "reason": "${before}", "efect": "deny", "effect": "deny", "actions": ["**"]}, {"id": "b", "reason": "${after}", "effect": "deny", "actions": ["**"]}]}`

test('of a long line the part around the fault is quoted, cut between characters, with the fault where it says', async () => {
  const text = fc
    .tuple(fc.integer({ min: 0, max: 900 }), fc.boolean())
    .map(([length, isWide]) => (isWide ? '😀'.repeat(length / 2) : 'x'.repeat(length)))
  await fc.assert(
    fc.asyncProperty(text, text, fc.boolean(), async (before, after, isOdd) => {
      const line = oneLine(`${isOdd ? 'o' : ''}r${before}`, `r${after}`)
      const fault = (await faultsOf(`${line}\n`, 'main.json')).find(({ code }) => code === 'GATE1101')
      assert.ok(fault?.excerpt)
      assert.equal(marked(fault), '"efect"')
      assert.ok(fault.excerpt.length <= MAX_EXCERPT && fault.excerpt.length >= Math.min(line.length, MAX_EXCERPT - 2))
      assert.ok(fault.excerpt.isWellFormed())
      assert.equal(line.slice((fault.excerptColumn ?? 0) - 1).startsWith(fault.excerpt), true)
    }),
    { numRuns: runs(60) },
  )
})

test('a fault at the end of a long line, or behind it, is in the excerpt', async () => {
  const [fault] = await faultsOf(`${HEADER}rules: [${'x, '.repeat(400)}\n`)
  assert.ok(fault?.excerpt)
  assert.ok(fault.column - (fault.excerptColumn ?? 1) <= fault.excerpt.length)
})

test('faults of a whole file have no excerpt', async () => {
  for (const [text, code] of [
    ['', 'GATE1005'],
    ['#'.repeat(1024 * 1024 + 1), 'GATE1001'],
  ] as const) {
    const fault = (await faultsOf(text)).find((one) => one.code === code)
    assert.deepEqual([fault?.excerpt, fault?.excerptColumn], [null, null], code)
  }
})

test('the line is the one that the command prints, whatever the encoding and the ends of lines', async (t) => {
  const faulty = `${HEADER}rulez: 1\nrules:\n\t- {id: x}\n`
  const files: Record<string, Uint8Array> = {
    'bom.yaml': Buffer.from(`\uFEFFtenant: acme\r\nrulez: 1\r\n`),
    'cr.yaml': Buffer.from(`# old\rtenant: acme\rrulez: 1\r`),
    'latin.yaml': Buffer.from(`# caf\xe9\nrulez: caf\xe9\n`, 'latin1'),
    'tab.yaml': Buffer.from(faulty),
    'wide.yaml': Buffer.from(faulty, 'utf16le'),
    'zero.yaml': Buffer.from([0, 1, 2, 0]),
  }
  const own = await startGate(t, { policies: { 'acme/main.yaml': ACME_POLICY }, watch: 'off' })
  const key = await own.key()
  const root = join(own.dir, 'policies')
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(root, 'acme', name), bytes)
  const answer = await own.call(key, 'POST', '/policies/reload')
  assertDone(answer)
  const { stdout } = await run(['validate', '--policies', root])
  const printed = stdout.split('\n\n')
  const faults: (Fault & { file: string })[] = answer.body.data.diagnostics
  assert.ok(faults.length >= Object.keys(files).length)
  for (const { file, line, column, code, excerpt } of faults) {
    const report = printed.find((text) => text.startsWith(`${file}:${line}:${column} `) && text.includes(code))
    const shown = excerpt === null ? undefined : ` ${line} | ${visible(excerpt.replaceAll('\t', '    '))}`.trimEnd()
    assert.equal(report?.split('\n')[1], shown, `${file} ${code}`)
  }
  const told = new Set(faults.flatMap(({ excerpt }) => excerpt ?? []))
  for (const line of ['rulez: 1', 'rulez: café', '\t- {id: x}']) assert.ok(told.has(line), line)
})

test('while the newest files have faults the source is still what is in force, after a restart too', async (t) => {
  const before = await source()
  writeFileSync(join(folder, 'b.yaml'), Buffer.from(`${HEADER}rulez: 1 # caf\xe9\n`, 'latin1'))
  assertDone(await reload())
  const now = await source()
  assert.deepEqual({ ...now, diagnostics: [] }, before)
  const told = (await gate.call(operator, 'GET', '/policies')).body.data.diagnostics
  assert.deepEqual(now.diagnostics, told)
  const misspelt = told.find((fault: Fault) => fault.code === 'GATE1101')
  assert.deepEqual([misspelt.excerpt, misspelt.excerptColumn, marked(misspelt)], ['rulez: 1 # café', 1, 'rulez'])
  await gate.server.close()
  const again = await startGate(t, { dir: gate.dir, policies: {}, watch: 'off' })
  const answer = await again.call(operator, 'GET', '/policies/source')
  assert.deepEqual({ ...answer.body.data, diagnostics: [] }, before)
})

test('a tenant without policies has no source', async (t) => {
  const empty = await startGate(t, { watch: 'off' })
  const answer = await empty.call(await empty.key({ tenant: 'nobody' }), 'GET', '/policies/source')
  assert.deepEqual(answer.body.data, { digest: null, files: [], lists: [], diagnostics: [] })
})

test('a link out of the folder is told of by its code, and nothing of the file that it leads to', async (t) => {
  const other = await startGate(t, { watch: 'off' })
  const owner = await other.key()
  writeFiles(other.dir, { 'elsewhere/environ': 'SECRET_OF_ANOTHER=1\n' })
  symlinkSync('../../elsewhere/environ', join(other.dir, 'policies/acme/zz.yaml'))
  const answers = [
    await other.call(owner, 'POST', '/policies/reload'),
    await other.call(owner, 'GET', '/policies/source'),
    await other.call(owner, 'GET', '/policies'),
  ]
  for (const answer of answers) assert.ok(!JSON.stringify(answer.body).includes('SECRET_OF_ANOTHER'))
  const [fault] = answers[1]?.body.data.diagnostics ?? []
  assert.deepEqual([fault?.code, fault?.file, fault?.excerpt], ['GATE1022', 'acme/zz.yaml', null])
})
