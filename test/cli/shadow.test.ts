import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { exchangeFolders, isExchanging } from '../../src/files/exchange.ts'
import { ACME_POLICY, fileTest, type Gate, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { run } from './program.ts'

const CANDIDATE = ACME_POLICY.replace('value: 1000}', 'value: 500}')
/** The rule in shadow is written in each of the ways that files have. */
const RULES = `${ACME_POLICY}  - id: half
    mode: "shado\\u0077" # tried
    actions: ["payment.*"]
    effect: require_approval
    reason: Half.
    when: {fact: context.amount, operator: greaterThan, value: 500}
`
const IN_JSON = JSON.stringify({
  apiVersion: 'gate-sidecar/v1',
  tenant: 'acme',
  rules: [{ id: 'no-mail', actions: ['email.*'], effect: 'deny', mode: 'shadow', reason: 'No shadow mail.' }],
})

async function begin(policies: Record<string, string>): Promise<Gate> {
  const gate = await startGate({ after }, { policies })
  const bot = await gate.key({ roles: ['agent'], identity: 'bot' })
  const store = gate.server.store
  const types = ['policy.loaded', ...('acme.shadow/main.yaml' in policies ? ['policy.shadowed'] : [])]
  for (const type of types)
    await until(type, async () => (await store.seqsOfTypes('acme/live', [type], WHOLE)).length === 1)
  for (const amount of [10, 700, 800, 2000])
    await gate.call(bot, 'POST', '/gate/check', { tenantId: 'acme', action: 'payment.transfer', context: { amount } })
  await gate.call(bot, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  return gate
}
const WHOLE = { first: 0, end: Number.MAX_SAFE_INTEGER }

/** Runs a command on the data and the policies of a service. */
const on = ({ dir }: Gate, command: string, args: readonly string[] = []) =>
  run([...command.split(' '), '--tenant', 'acme', '--data', join(dir, 'data'), ...args])
const withPolicies = (gate: Gate, command: string, args: readonly string[] = []) =>
  on(gate, command, ['--policies', join(gate.dir, 'policies'), ...args])
const json = async (done: ReturnType<typeof run>) => {
  const { code, stdout, stderr } = await done
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}
const inForce = (gate: Gate) => gate.server.store.state().policies.get('acme')?.digest
const promotions = async ({ server: { store } }: Gate) =>
  (await store.seqsOfTypes('acme/live', ['policy.promoted'], WHOLE)).length
const folders = (gate: Gate) => readdirSync(join(gate.dir, 'policies')).sort()

const [byFolder, byRules] = await Promise.all([
  begin({ 'acme/main.yaml': ACME_POLICY, 'acme.shadow/main.yaml': CANDIDATE }),
  begin({ 'acme/main.yaml': RULES, 'acme/more.json': IN_JSON }),
])

fileTest('policies shadow counts what the set would have decided otherwise, and decisions list names it', async () => {
  const { code, stdout } = await withPolicies(byFolder, 'policies shadow')
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^shadow of acme since \d{4}-.*\nset {11}sha256:[0-9a-f]{64} \(acme\.shadow\)\nasked {9}5 decisions\ndiffers {7}2 \(40 %\)\n/,
  )
  assert.match(stdout, /\nallow {13}2 {6}2 {17}0\nrequire_approval {2}0 {6}1 {17}0\n/)
  const listed = await on(byFolder, 'decisions list', ['--differs', '--limit', '1'])
  const [head, line, ...others] = listed.stdout.trim().split('\n')
  assert.match(head ?? '', /^TIME +DECISION +SHADOW +ACTION +BY +AGENT +ID$/)
  assert.match(line ?? '', /^\S+ +allow +require_approval +payment\.transfer +payments +bot +dec_\w+$/)
  assert.deepEqual(others, [])
  const all = await json(on(byFolder, 'decisions list', ['--action', 'payment.*', '--json']))
  assert.deepEqual(
    all.map(({ shadow }: { shadow: { decision?: string } }) => shadow.decision ?? null),
    [null, 'require_approval', 'require_approval', null],
  )
  assert.match((await on(byFolder, 'decisions list', ['--rule', 'nobody'])).stdout, /^No decision matches\.\n$/)
  const id = all[1].id
  assert.match(
    (await run(['decisions', 'show', id, '--data', join(byFolder.dir, 'data')])).stdout,
    /\nshadow {8}require_approval by rule large, of sha256:/,
  )
  assert.equal((await on(byFolder, 'decisions list', ['--action', 'a**b'])).code, 2)
})

fileTest('promote exchanges the folders, records the comparison, and takes itself back', async () => {
  const gate = byFolder
  const { digest: shadow, since } = await json(withPolicies(gate, 'policies shadow', ['--json']))
  const previous = inForce(gate)
  const { stdout, code, stderr } = await withPolicies(gate, 'policies promote')
  assert.equal(code, 0, stderr)
  assert.match(stdout, new RegExp(`acme gets the set ${shadow}, .*\nThe set before, ${previous}, is in shadow now`))
  assert.equal(readFileSync(join(gate.dir, 'policies/acme/main.yaml'), 'utf8'), CANDIDATE)
  assert.equal(readFileSync(join(gate.dir, 'policies/acme.shadow/main.yaml'), 'utf8'), ACME_POLICY)
  assert.deepEqual(folders(gate), ['acme', 'acme.shadow'])
  await until('it is in force', () => inForce(gate) === shadow)
  const told = await run([
    'audit',
    'list',
    '--tenant',
    'acme',
    '--data',
    join(gate.dir, 'data'),
    '--type',
    'policy.promoted',
    '--json',
  ])
  const [entry] = JSON.parse(told.stdout)
  const { tenantId, decisions, matrix, ...data } = entry.data
  assert.deepEqual(
    [tenantId, decisions, data.digest, data.previous, data.since, data.origin],
    ['acme', 5, shadow, previous, since, 'folder'],
  )
  assert.deepEqual(
    matrix.find(({ from, to }: Record<string, string>) => from !== to),
    { from: 'allow', to: 'require_approval', count: 2 },
  )
  await until('the set before is in shadow', async () => (await withPolicies(gate, 'policies shadow')).code === 0)
  assert.equal((await withPolicies(gate, 'policies promote')).code, 0)
  await until('the set before is in force again', () => inForce(gate) === previous)
})

fileTest('a promotion that was cut short is finished by the next one, at each step', async () => {
  const gate = byFolder
  const at = (name: string): string => join(gate.dir, 'policies', name)
  const count = await promotions(gate)
  const steps: [from: string, to: string][] = [
    ['acme', '.acme.exchanged'],
    ['acme.shadow', 'acme'],
  ]
  for (let done = 1; done <= steps.length; done += 1) {
    const before = inForce(gate)
    for (const [from, to] of steps.slice(0, done)) renameSync(at(from), at(to))
    const { code, stdout } = await withPolicies(gate, 'policies promote')
    assert.equal(code, 0)
    assert.match(stdout, /was cut short/)
    assert.deepEqual(folders(gate), ['acme', 'acme.shadow'])
    await until('the other is in force', () => inForce(gate) !== before)
  }
  // Its entry was written before the first step.
  assert.equal(await promotions(gate), count)
})

fileTest('promote of rules in shadow changes their mode alone', async () => {
  const gate = byRules
  const compared = await json(withPolicies(gate, 'policies shadow', ['--json']))
  assert.deepEqual([compared.origin, compared.decisions], ['rules', 5])
  assert.notEqual(compared.digest, inForce(gate))
  const before = inForce(gate)
  const { code, stdout, stderr } = await withPolicies(gate, 'policies promote')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /the set in force, with its rules in shadow enforced/)
  const text = (name: string) => readFileSync(join(gate.dir, 'policies/acme', name), 'utf8')
  assert.equal(text('main.yaml'), RULES.replace('"shado\\u0077"', '"enforce"'))
  assert.equal(text('more.json'), IN_JSON.replace('"mode":"shadow"', '"mode":"enforce"'))
  await until('they are in force', () => inForce(gate) !== before)
  const again = await withPolicies(gate, 'policies promote')
  assert.equal(again.code, 3)
  assert.match(again.stderr, /Nothing of acme is in shadow: write `mode: shadow` in a rule/)
})

fileTest('promote refuses what was not in shadow, has faults, or cannot be written, and changes nothing', async () => {
  const gate = byFolder
  const count = await promotions(gate)
  const shadow = join(gate.dir, 'policies/acme.shadow')
  const text = readFileSync(join(shadow, 'main.yaml'), 'utf8')
  const refused = async (code: number, stream: 'stdout' | 'stderr', reason: RegExp): Promise<void> => {
    const done = await withPolicies(gate, 'policies promote')
    assert.equal(done.code, code)
    assert.match(done[stream], reason)
    assert.equal(await promotions(gate), count)
    assert.equal(readFileSync(join(gate.dir, 'policies/acme/main.yaml'), 'utf8') === text, false)
  }
  writeFiles(shadow, { 'main.yaml': text.replace('value: 100000}', 'value: 90000}') })
  await refused(3, 'stderr', /is not the newest in shadow by the trail/)
  writeFiles(shadow, { 'main.yaml': `${text}nonsense: 1\n` })
  await refused(1, 'stdout', /GATE1101/)
  writeFiles(shadow, {
    'main.yaml': text,
    'main.test.yaml': `apiVersion: gate-sidecar/v1\ntenant: acme\ncontexts: {small: {amount: 1}}\ntests:\n  - name: wrong\n    matrix: {actions: [payment.transfer], contexts: [small]}\n    expect: {small: {decision: deny}}\n`,
  })
  await refused(1, 'stdout', /GATE1506/)
  rmSync(join(shadow, 'main.test.yaml'))
  const other = await run([
    'policies',
    'promote',
    '--tenant',
    'nobody',
    '--data',
    join(gate.dir, 'data'),
    '--policies',
    join(gate.dir, 'policies'),
  ])
  assert.deepEqual([other.code, /There is no policy folder of nobody/.test(other.stderr)], [3, true])
  const stored = await on(gate, 'policies promote', ['--policies', 'store:'])
  assert.equal(stored.code, 2)
})

fileTest('an exchange that fails in its midst is taken back', () => {
  const root = temporaryFolder()
  writeFiles(root, { 'acme/main.yaml': 'a' })
  assert.throws(() => exchangeFolders(root, 'acme', 'acme.shadow'), /ENOENT/)
  assert.deepEqual([readdirSync(root), isExchanging(root, 'acme')], [['acme'], false])
})

fileTest('a promotion that was cut short finds a folder in its way', async () => {
  const gate = byFolder
  writeFiles(join(gate.dir, 'policies'), { '.acme.exchanged/main.yaml': ACME_POLICY })
  const { code, stderr } = await withPolicies(gate, 'policies promote')
  assert.equal(code, 3)
  assert.match(stderr, /both of its folders are there: the set before is in \S+\.acme\.exchanged\. Move one/)
  rmSync(join(gate.dir, 'policies/.acme.exchanged'), { recursive: true })
})

fileTest('a tenant without policies in force can begin in shadow', async (t) => {
  const gate = await startGate(t, { policies: { 'acme.shadow/main.yaml': CANDIDATE } })
  const bot = await gate.key({ roles: ['agent'] })
  await until(
    'it is told',
    async () => (await gate.server.store.seqsOfTypes('acme/live', ['policy.shadowed'], WHOLE)).length === 1,
  )
  const answer = await gate.call(bot, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  assert.equal(answer.body.data.decidedBy, 'no_policy')
  assert.match((await withPolicies(gate, 'policies shadow')).stdout, /\ndeny {14}1 {6}0/)
  assert.equal((await withPolicies(gate, 'policies promote')).code, 0)
  assert.deepEqual(folders(gate), ['acme'])
  await until('it is in force', () => inForce(gate) !== undefined)
})
