import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { after, before } from 'node:test'
import { DAY_MS, movableClock } from '../../src/base/time.ts'
import { fileTest, type Gate, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { assertDone } from '../http/support.ts'
import { type Ended, run } from './program.ts'

const HOUR_MS = 3_600_000
/** Ends quotes, lines and comments, and turns text around. */
const HOSTILE = 'ACME "x": }\n# \u202e\u009b31m'
const POLICY = `apiVersion: gate-sidecar/v1
tenant: shop
facts:
  context.amount: { type: number }
  context.to: { type: string }
lists: { partners: { file: lists/partners.txt } }
history: { count: { many: { actions: ["pay.*"], within: 1h, by: agent } } }
actions:
  pay.out: { context: { type: object, required: [amount], properties: { amount: { type: number } } } }
rules:
  - id: partners
    actions: ["pay.*"]
    effect: deny
    reason: Not to these.
    when:
      all:
        - { fact: context.to, operator: exists }
        - { fact: context.to, operator: inList, value: partners }
  # A person of finance looks at these.
  - id: large
    actions: ["pay.*"]
    effect: require_approval
    reason: Large payments need a person. # as agreed in May
    when: { fact: context.amount, operator: greaterThan, value: 1000 } # EUR
  - { id: many, actions: ["pay.*"], effect: require_approval, reason: Too many., when: { fact: history.count.many, operator: greaterThan, value: 1000 } }
  - { id: notes, actions: [note.save], effect: require_approval, reason: Notes are read., approval: { selfApproval: true } }
  - { id: pays, actions: ["pay.*"], effect: allow, reason: Payments are part of the work. }
  - { id: orders, actions: [order.read, order.delete], effect: allow, reason: So are orders. }
`
const root = temporaryFolder()
const at = (...names: string[]): string => join(root, ...names)

/** Three days of a shop: small payments, and large ones to one recipient, which two people always approve. */
async function live(gate: Gate, move: (byMs: number) => void): Promise<void> {
  const agent = await gate.key({ tenant: 'shop', roles: ['agent'], identity: 'bot' })
  const people = [
    await gate.key({ tenant: 'shop', roles: ['approver'], identity: 'eve' }),
    await gate.key({ tenant: 'shop', roles: ['approver'], identity: 'joe' }),
  ]
  const ask = async (action: string, context: object, key = agent) => {
    move(60_000)
    const answer = await gate.call(key, 'POST', '/gate/check', { tenantId: 'shop', action, context })
    assertDone(answer)
    return answer.body.data
  }
  for (let i = 0; i < 12; i += 1) {
    if (i % 4 === 3) move(20 * HOUR_MS)
    await ask('pay.out', { amount: 10 + i, to: 'someone', ticket: `t-${i}` })
    await ask('order.read', {})
    const large = { amount: 1100 + 10 * i, to: HOSTILE, ticket: `t-${i}` }
    const { decision, approvalId } = await ask('pay.out', large)
    assert.equal(decision, 'require_approval')
    const person = people[i % 2] ?? assert.fail()
    const vote = { approverId: i % 2 === 0 ? 'eve' : 'joe', comment: 'Yes.' }
    assertDone(await gate.call(person, 'POST', `/approvals/${approvalId}/approve`, vote))
    assert.equal((await ask('pay.out', large)).decidedBy, 'approval')
  }
  // Its own approvals say nothing.
  const self = await gate.key({ tenant: 'shop', roles: ['agent', 'approver'], identity: 'self' })
  for (let i = 0; i < 12; i += 1) {
    const { approvalId } = await ask('note.save', { kind: 'a' }, self)
    const vote = { approverId: 'self', comment: 'Yes.' }
    assertDone(await gate.call(self, 'POST', `/approvals/${approvalId}/approve`, vote))
    assert.equal((await ask('note.save', { kind: 'a' }, self)).decidedBy, 'approval')
    move(3 * HOUR_MS)
  }
  const refused = await ask('pay.out', { amount: 1150, to: 'mallory', ticket: 't' })
  const no = { approverId: 'eve', reason: 'No.' }
  assertDone(await gate.call(people[0] ?? assert.fail(), 'POST', `/approvals/${refused.approvalId}/reject`, no))
}

const suggest = (...args: string[]): Promise<Ended> =>
  run(['suggest', '--tenant', 'shop', '--data', at('data'), '--policies', at('policies'), ...args])

before(async () => {
  writeFiles(root, { 'policies/shop/lists/partners.txt': 'mallory-inc\n', 'policies/shop/notes.md': 'Read me.\n' })
  // Days of the trail begin at the same hour, whenever the test runs.
  const behindMs = (Date.now() % DAY_MS) + 112 * HOUR_MS
  const { clock, move } = movableClock(() => Date.now() - behindMs)
  const gate = await startGate({ after }, { dir: root, policies: { 'shop/main.yaml': POLICY }, clock })
  await live(gate, move)
  await gate.server.close()
  const failing =
    'apiVersion: gate-sidecar/v1\ntenant: shop\ntests: [{ name: t, matrix: { actions: [pay.out] }, expect: { decision: allow } }]\n'
  writeFiles(root, {
    'taken/shop/main.yaml': POLICY,
    'file/shop': '',
    'other/new/main.yaml': POLICY.replace('tenant: shop', 'tenant: new')
      .replace(/lists: .*\n/, '')
      .replace(/inList, value: partners/, 'equal, value: x'),
    'failing/shop/main.yaml': POLICY,
    'failing/shop/lists/partners.txt': 'mallory-inc\n',
    'failing/shop/main.test.yaml': failing,
    'base/shop/main.yaml': POLICY,
    'base/shop/lists/partners.txt': 'mallory-inc\n',
  })
  symlinkSync(at('policies'), at('link'))
  symlinkSync(at('policies/later'), at('nowhere'))
  writeFiles(root, { 'report/.shop.replay.json': '{}' })
  mkdirSync(at('linked'))
  symlinkSync(at('policies/shop'), at('linked/shop'))
})

/** Number of entries of the trail. */
async function audited(): Promise<string> {
  const { stdout } = await run(['audit', 'verify', '--data', at('data')])
  return stdout.split('\n').find((line) => line.startsWith('shop/live')) ?? assert.fail(stdout)
}

/** Every file below a folder, by path. */
const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(folder, path), readFileSync(path, 'utf8')]),
  )

fileTest(
  'a draft is written beside the policies in force: whole, amended in its text, with tests that pass',
  async () => {
    const before = [filesIn(at('policies')), await audited()]
    const { code, stdout, stderr } = await suggest('--free', 'context.ticket', '--out', at('draft'))
    assert.equal(code, 0, stderr)
    assert.deepEqual([filesIn(at('policies')), await audited()], before)
    const draft = filesIn(at('draft/shop'))
    const names = ['lists/partners.txt', 'main.yaml', 'notes.md', 'suggested.test.yaml', 'suggested.yaml']
    assert.deepEqual(Object.keys(draft).sort(), names)
    assert.equal(
      draft['main.yaml'],
      POLICY.replace(
        'when: { fact: context.amount, operator: greaterThan, value: 1000 }',
        'when: { all: [{ not: { condition: suggested-4 } }, { fact: context.amount, operator: greaterThan, value: 1000 }] }',
      ).replace('pays, actions: ["pay.*"]', 'pays, actions: [pay.out]'),
    )
    // Tests carry what conditions and schemas read, and nothing else of a request.
    assert.doesNotMatch(draft['suggested.test.yaml'] ?? '', /ticket|t-\d/)
    for (const text of [stdout, draft['suggested.yaml'], draft['suggested.test.yaml']])
      assert.doesNotMatch(text ?? assert.fail(), /[\u202e\u009b]/)
    assert.match(stdout, /\nsuggested-1 {2}tightens {2}rule pays allows pay\.out instead of pay\.\*\n/)
    assert.match(stdout, /\nsuggested-2 {2}tightens {2}order\.delete requires approval, which rule orders allows now\n/)
    assert.match(stdout, /\nsuggested-3 {2}tightens {2}pay\.\* requires approval if context\.amount is above 50\n/)
    assert.match(
      stdout,
      /\nsuggested-4 {2}loosens {2}pay\.out is allowed by rule pays if context\.to is "ACME \\"x\\": }\\n# \\u\{202e\}/,
    )
    assert.match(stdout, /12 requests by 1 agent on 3 days, approved by 2 people\n/)
    assert.match(
      stdout,
      /\n {4}any value {3}context\.ticket\n {4}changes {5}12 require_approval → allow\n {4}tests {7}3 changed, 3 unchanged\n/,
    )
    assert.match(stdout, /\nrequire_approval {2}12 {5}13 {16}0\n/)
    assert.match(stdout, /The draft is not in force\. Next:\n {2}gate-sidecar test --policies \S+\n/)
  },
)

fileTest('the draft passes validate and test, lint finds no error, and a replay of it is kept beside it', async () => {
  const draft = ['--policies', at('draft')]
  assert.match(
    (await run(['validate', ...draft])).stdout,
    /^shop\/notes\.md:1:1 warning GATE2001 [\s\S]*\n1 policy set: 0 errors, 1 warning\.\n$/,
  )
  const tested = await run(['test', ...draft])
  assert.equal(tested.code, 0, tested.stdout)
  assert.match(tested.stdout, / 0 failed, 0 skipped/)
  const { stdout } = await run(['lint', ...draft, '--format', 'json'])
  assert.doesNotMatch(stdout, /"severity":"error"/)
  const [kept] = JSON.parse(readFileSync(at('draft/.shop.replay.json'), 'utf8')).replays
  const again = await run(['replay', '--since', '30d', '--tenant', 'shop', '--data', at('data'), ...draft, '--json'])
  const [replayed] = JSON.parse(again.stdout).replays
  assert.deepEqual([kept.policyDigest, kept.report.matrix], [replayed.policyDigest, replayed.report.matrix])
})

fileTest('an argument that may have any value bars a shape, unless the author says so', async () => {
  const { code, stdout } = await suggest('--json')
  assert.equal(code, 0)
  const { proposals, notProposed, files, minima } = JSON.parse(stdout)
  assert.deepEqual(
    proposals.map(({ id, kind, effect }: Record<string, string>) => [id, kind, effect]),
    [
      ['suggested-1', 'unused', 'tightens'],
      ['suggested-2', 'unused', 'tightens'],
      ['suggested-3', 'limit', 'tightens'],
    ],
  )
  assert.deepEqual(notProposed, [
    {
      what: 'approvals of pay.out, held by rule large',
      why: 'context.ticket has a new value in many of them, or none; pass --free if it may have any',
    },
  ])
  assert.deepEqual([files, minima], [[], { requests: 10, days: 2, approvers: 1 }])
})

fileTest('the least of requests and people is kept', async () => {
  const many = await suggest('--json', '--free', 'context.ticket', '--min-approvers', '3', '--min', '12')
  assert.match(many.stdout, /"why":"too few have the same shape"/)
  const more = await suggest('--json', '--min', '500')
  assert.deepEqual(JSON.parse(more.stdout).proposals, [])
})

fileTest('erased requests are counted as unknown, and are in no test', async () => {
  cpSync(at('data'), at('erased'), { recursive: true })
  const approvedIn = (stdout: string) =>
    JSON.parse(stdout).proposals.find(({ kind }: Record<string, string>) => kind === 'approved') ?? assert.fail(stdout)
  const { id } = approvedIn((await suggest('--free', 'context.ticket', '--json')).stdout).support.first
  const args = ['--tenant', 'shop', '--entry', id, '--reason', 'Asked for.', '--data', at('erased')]
  const redacted = await run(['audit', 'redact', ...args])
  assert.equal(redacted.code, 0, redacted.stderr)
  const { code, stdout } = await suggest('--free', 'context.ticket', '--json', '--data', at('erased'))
  assert.equal(code, 0)
  const { support, why } = approvedIn(stdout)
  assert.deepEqual([JSON.parse(stdout).counts.unknown, support.requests], [{ erased: 1, pruned: 0 }, 11])
  assert.match(why, /Unknown, since erased: 1 request that the same rule held\./)
})

const REFUSED: [name: string, args: () => string[], code: number, stderr: RegExp][] = [
  ['the folder of the policies in force', () => ['--out', at('policies')], 3, /overlaps the policies in force/],
  ['one in it', () => ['--out', at('policies/draft')], 3, /overlaps the policies in force/],
  ['one around it', () => ['--out', root], 3, /overlaps the policies in force/],
  ['a link to it', () => ['--out', at('link')], 3, /overlaps the policies in force/],
  ['one with a link to it in place of the tenant', () => ['--out', at('linked')], 3, /overlaps the policies in force/],
  ['a link to what is not there yet', () => ['--out', at('nowhere')], 3, /is a link to nothing/],
  ['one with a report', () => ['--out', at('report'), '--free', 'context.ticket'], 3, /overwrites nothing/],
  ['one with a draft', () => ['--out', at('taken')], 3, /shop is not empty, and suggest overwrites nothing/],
  ['one with a file in place of the tenant', () => ['--out', at('file')], 3, /shop is not empty/],
  ['a tenant without policies', () => ['--tenant', 'nobody'], 3, /no policy folder of nobody/],
  ['a tenant without a trail', () => ['--tenant', 'new', '--policies', at('other')], 3, /There is no tenant new/],
  ['an environment without requests', () => ['--environment', 'test'], 3, /shop\/test has no requests in this range/],
  [
    'policies that fail their tests',
    () => ['--policies', at('failing')],
    3,
    /do not pass their tests; correct them first\.\n.*GATE1506/,
  ],
  ['a path that is no argument', () => ['--free', 'amount'], 2, /A path such as context\.note/],
  ['a range twice', () => ['--since', '1d', '--from', '2026-01-01'], 2, /either --since or --from/],
  ['a least number of none', () => ['--min', '0'], 2, /A whole number above 0/],
]
for (const [name, args, code, stderr] of REFUSED) {
  fileTest(`refused: ${name}`, async () => {
    const before = filesIn(at('policies'))
    const ended = await suggest(...args())
    assert.match(ended.stderr, stderr)
    assert.deepEqual([ended.code, ended.stdout, filesIn(at('policies'))], [code, '', before])
  })
}

fileTest('refused: the policies of the settings, where others are the base', async () => {
  const env = { GATE_SIDECAR_POLICIES: at('policies') }
  const args = ['--tenant', 'shop', '--data', at('data'), '--policies', at('base'), '--out', at('policies/draft')]
  const ended = await run(['suggest', ...args], { env })
  assert.deepEqual([ended.code, /overlaps the policies in force/.test(ended.stderr)], [3, true])
})
