import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { askCode, compare, loadAll, type Result } from '../../conformance/compare.ts'
import { startService } from '../../conformance/service.ts'
import { readTable } from '../../conformance/table.ts'
import { run } from '../cli/program.ts'
import { temporaryFolder } from '../helpers.ts'
import { fullTest } from '../tier.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const AGT = join(ROOT, 'conformance/agt')
const table = readTable(AGT)
const all = loadAll(table)

const recordedOf = (id: string) => table.recorded.filter(({ policy }) => policy === id)

test('all recorded answers are ours: action, permission, deciding rule and error', async () => {
  let agreed = 0
  for (const loaded of all) {
    const result = await compare(loaded, recordedOf(loaded.translation.policy.id), askCode)
    assert.deepEqual(result.differences, [], result.policy)
    assert.deepEqual(result.refusals, [])
    assert.deepEqual(result.diagnostics, [], 'neither errors nor warnings')
    agreed += result.agreed
  }
  assert.equal(agreed, 1015)
  // Every end of an evaluation is among them.
  const ends = table.recorded.map(
    ({ expect }) => `${expect.action} ${expect.matched_rule === null} ${expect.evaluation_error}`,
  )
  assert.equal(new Set(ends).size, 8)
})

test('a running sidecar answers as the code does', async () => {
  const some = all.filter(({ translation }) => /production-strict/.test(translation.policy.id))
  const service = await startService(some)
  try {
    for (const loaded of some) {
      const recorded = recordedOf(loaded.translation.policy.id)
      assert.ok(recorded.length > 0)
      assert.deepEqual((await compare(loaded, recorded, service.ask)).differences, [])
    }
  } finally {
    await service.stop()
  }
})

function conformance(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = ['--import', 'tsx', 'conformance/main.ts', ...args]
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: ROOT, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
    })
  })
}

fullTest('the command writes policies that load without a warning and are formatted, and ends with 0', async () => {
  const folder = temporaryFolder()
  const { code, stdout } = await conformance('--write', folder)
  assert.equal(code, 0)
  assert.match(stdout, /16 policies, 143 rules, 1015 inputs: 1015 agreed, 0 refused on purpose, 0 disagreed\.\n$/)
  assert.equal(readdirSync(folder).length, 16)
  const validated = await run(['validate', '--policies', folder])
  assert.match(validated.stdout, /16 policy sets: 0 errors, 0 warnings\./)
  assert.equal((await run(['fmt', '--check', folder])).code, 0)
})

fullTest(
  'the command tells each answer that differs and each that is refused on purpose, and ends with 1',
  async () => {
    const folder = temporaryFolder()
    const id = 'docs-tutorials-policy-as-code-examples-01-first-policy'
    const policy = JSON.parse(readFileSync(join(AGT, 'policies.json'), 'utf8'))[id]
    policy.rules.push({
      name: 'looks-ahead',
      field: 'query',
      operator: 'matches',
      value: '(?=x)',
      action: 'deny',
      priority: 1,
    })
    writeFileSync(join(folder, 'policies.json'), JSON.stringify({ [id]: policy }))
    const allowed = { action: 'allow', allowed: true, matched_rule: null, evaluation_error: false }
    const lines = [
      { id: 'wrong', policy: id, input: { tool_name: 'delete_database' }, expect: allowed },
      { id: 'refused', policy: id, input: { query: 'a' }, expect: allowed },
      { id: 'unfit', policy: id, input: { tool_name: '\ud800' }, expect: allowed },
      { id: 'right', policy: id, input: {}, expect: allowed },
    ]
    writeFileSync(join(folder, 'decisions.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const people = await conformance(folder)
    assert.equal(people.code, 1)
    assert.match(people.stdout, /wrong: recorded allow by default, ours deny by block-delete-database\n/)
    assert.match(people.stdout, /looks-ahead: RE2 does not look ahead or behind\n/)
    assert.match(people.stdout, /refused: recorded allow by default, ours deny by looks-ahead; rule looks-ahead: RE2/)
    assert.match(people.stdout, /unfit: recorded allow by default, ours none; not sent: /)
    const scripts = await conformance('--json', folder)
    assert.equal(scripts.code, 1)
    const { summary, results } = JSON.parse(scripts.stdout)
    const { agreed, refused, disagreed, invalid } = summary
    assert.deepEqual({ agreed, refused, disagreed, invalid }, { agreed: 1, refused: 2, disagreed: 1, invalid: 0 })
    assert.equal(results.find(({ policy }: Result) => policy === id).differences.length, 3)
    writeFileSync(
      join(folder, 'decisions.jsonl'),
      lines
        .slice(1)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    )
    assert.equal((await conformance(folder)).code, 0, 'what is refused on purpose is no disagreement')
  },
)

test('a decision of a policy that is not there, and an option that is unknown, are told', async () => {
  const folder = temporaryFolder()
  cpSync(AGT, folder, { recursive: true })
  writeFileSync(join(folder, 'policies.json'), '{}')
  assert.throws(() => readTable(folder), /is of a policy that is not there/)
  const { code, stderr } = await conformance('--what')
  assert.equal(code, 2)
  assert.match(stderr, /Usage: npm run conformance/)
})
