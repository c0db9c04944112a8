import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { canonicalJson } from '../../src/base/canonical.ts'
import { digestOf, formatDigest } from '../../src/base/digest.ts'
import { ACME_POLICY, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { run } from './program.ts'

const dir = temporaryFolder()
const LOWER = ACME_POLICY.replace('value: 1000}', 'value: 900}')
const OTHER = 'apiVersion: gate-sidecar/v1\ntenant: other\n'
writeFiles(dir, {
  'old/acme/main.yaml': ACME_POLICY,
  'new/acme/main.yaml': LOWER,
  'more/acme/main.yaml': ACME_POLICY,
  'more/other/main.yaml': OTHER,
  'faulty/acme/main.yaml': 'apiVersion: gate-sidecar/v1\ntenant: acme\nrules: 1\n',
})
const at = (name: string): string => join(dir, name)

/** A repository whose last commit has the old policies in `policies`, and whose files have the new ones. */
function repository(): string {
  const folder = temporaryFolder()
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: folder })
  writeFiles(folder, { 'policies/acme/main.yaml': ACME_POLICY, 'policies/acme/lists/x.txt': 'x\n', 'README.md': '' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  writeFiles(folder, { 'policies/acme/main.yaml': LOWER })
  return join(folder, 'policies')
}

test('two folders: what the texts say differently, and a request that both decide', async () => {
  const { code, stdout } = await run(['diff', at('old'), at('new')])
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^policies of acme\n1 kind of difference in [\d,]+ requests about 2 kinds of actions; about 2 other kinds both say the same\n\n {2}rule large: when changed {2}see 1\n\n1 {2}decided differently: payment\.\w+ \{"amount":[\d.]+\}\n {4}before {2}allow \(rule payments\), risk [\d.]+: Payments within limits\.\n {4}after {3}require_approval \(rule large\)/,
  )
})

test('a revision of Git is compared with what is in the folder now', async () => {
  const policies = repository()
  const { code, stdout, stderr } = await run([
    'diff',
    'git:HEAD',
    policies,
    '--policies',
    policies,
    '--exit-code',
    '--json',
  ])
  assert.equal(code, 1, stderr)
  const [{ tenant, diff }] = JSON.parse(stdout).diffs
  assert.deepEqual([tenant, diff.changes[0].name, diff.witnesses[0].difference], ['acme', 'large', 'decision'])
})

test('a sealed diff is told in the trail: both sets, the differences found, the chain, and the whole result', async () => {
  const { server, dir: folder, key, call } = await startGate({ after })
  const auditor = await key({ roles: ['auditor'] })
  await until('the set in force is recorded', () => server.store.state().policies.has('acme'))
  const size = (await server.store.lengths(['acme/live'])).get('acme/live') ?? 0
  const [root] = await server.store.treeHashes('acme/live', [{ begin: 0, end: size }])
  const store = ['--data', join(folder, 'data')]
  const { code, stdout, stderr } = await run(['diff', at('old'), at('new'), '--seal', '--json', ...store])
  assert.equal(code, 0, stderr)
  const [{ diff, seal }] = JSON.parse(stdout).diffs
  const [told, ...others] = (await call(auditor, 'GET', '/audit/chain?eventType=policy.compared')).body.data
  assert.deepEqual([told.id, told.data.report, others], [seal.entryId, digestOf(canonicalJson(diff)), []])
  assert.deepEqual(told.data, {
    ...{ tenantId: 'acme', from: diff.from, to: diff.to, report: seal.report, cells: diff.cells },
    ...{ exhaustive: diff.exhaustive, actions: diff.actions, changes: 1, witnesses: { decision: 1 } },
    heads: [{ chain: 'acme/live', size, root: formatDigest(root ?? Buffer.alloc(0)) }],
  })
  const text = await run(['diff', at('old'), at('new'), '--seal', ...store])
  assert.match(text.stdout, /\nsealed in entry aud_\w+, report sha256:[0-9a-f]{64}\n/)
  const unknown = await run(['diff', at('old'), at('more'), '--seal', ...store])
  assert.deepEqual([unknown.code, /There is no tenant other/.test(unknown.stderr)], [3, true])
})

test('a set that was in force is named by its digest', async () => {
  const gate = await startGate({ after })
  await gate.key()
  const { digest } = await until('the set is recorded', () => gate.server.store.state().policies.get('acme'))
  const data = join(gate.dir, 'data')
  const { code, stdout, stderr } = await run(['diff', digest, at('new'), '--tenant', 'acme', '--data', data])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /rule large: when changed/)
  const gone = await run(['diff', digest.replace(/\w{4}$/, '0000'), at('new'), '--tenant', 'acme', '--data', data])
  assert.equal(gone.code, 3)
  assert.match(gone.stderr, /policies history --tenant acme/)
})

test('Markdown for a pull request; the same set; a tenant on one side only', async () => {
  const { stdout } = await run(['diff', at('old'), at('new'), '--format', 'markdown'])
  assert.match(
    stdout,
    /^### Policies of `acme`\n\n1 kind of difference in .*\n\n- `rule large: when changed`\n\n\| difference \| request \| before \| after \|\n[\s\S]*\| decided differently \| `payment/,
  )
  assert.equal((await run(['diff', at('old'), at('old'), '--exit-code'])).code, 0)
  const one = await run(['diff', at('old'), at('more'), '--exit-code'])
  assert.deepEqual(
    [one.code, /policies of other\nonly the new side has policies of this tenant/.test(one.stdout)],
    [1, true],
  )
})

const REFUSED: [name: string, args: string[], code: number, stderr: RegExp][] = [
  ['a folder that is not there', [at('none'), at('new')], 3, /There is no folder/],
  ['a folder without policies', [temporaryFolder(), at('new')], 3, /has no policies/],
  ['a set with faults', [at('old'), at('faulty')], 3, /The policies of acme have faults/],
  ['a digest without a tenant', [`sha256:${'0'.repeat(64)}`, at('new')], 2, /name the tenant with --tenant/],
  [
    'a revision that is not there',
    ['git:nowhere', at('new'), '--policies', at('old')],
    3,
    /git:nowhere cannot be read/,
  ],
  ['an option in place of a revision', ['git:--output=x', at('new'), '--policies', at('old')], 3, /is not a revision/],
]
for (const [name, args, code, stderr] of REFUSED) {
  test(`refused: ${name}`, async () => {
    const ended = await run(['diff', ...args])
    assert.equal(ended.code, code, ended.stdout)
    assert.match(ended.stderr, stderr)
  })
}
