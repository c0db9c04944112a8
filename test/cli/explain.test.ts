import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isVisible } from '../../src/base/visible.ts'
import { ACME_POLICY, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { copyOf, tamper } from '../store/used-folder.ts'
import { type Ended, run } from './program.ts'

/** One decision of each kind, in a data file whose service has ended; the policies have changed since. */
const dir = temporaryFolder()
const gate = await startGate({ after }, { dir })
const agent = await gate.key({ roles: ['agent'], identity: 'bot\u001b[2J' })
const auditor = await gate.key({ roles: ['auditor'] })
while (!gate.server.store.state().policies.has('acme')) await new Promise((resolve) => setTimeout(resolve, 50))
const check = async (amount: unknown) =>
  (await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'payment.transfer', context: { amount } }))
    .body.data.decisionId
const held: string = await check(5000)
const hostile: string = await check('\u001b[2J\u202ex')
const overHttp = (await gate.call(auditor, 'GET', `/decisions/${held}`)).body.data
await gate.server.close()
const data = join(dir, 'data')
const CHANGED = ACME_POLICY.replace('value: 1000}', 'value: 9000}')
writeFiles(dir, { 'policies/acme/main.yaml': CHANGED, 'same/acme/main.yaml': `# As it was.\n${ACME_POLICY}` })
const folder = (name: string) => ['--policies', join(dir, name)]
/** A copy of the file with something done to it. */
const altered = (sql: string): string => {
  const copy = copyOf(data)
  tamper(copy, (db) => db.exec(sql))
  return copy
}
const pruned = altered('DELETE FROM policy_text')

const ROWS: [name: string, args: string[], code: number, shown: RegExp][] = [
  [
    'a decision, by the policies that made it',
    [held, '--data', data, ...folder('policies')],
    0,
    /^require_approval\nreason {8}Large payments.*\ndecided by {4}hold_rule, rule large at acme\/main\.yaml:\d+\n[\s\S]*reproduced {4}yes[\s\S]*\nyes {4}context\.amount greaterThan 1000 +is 5000 +acme\/main\.yaml:\d+\n/,
  ],
  [
    'text of agents, shown and not obeyed',
    [hostile, '--data', data, ...folder('policies')],
    0,
    /asked by .*bot\\u\{1b\}\[2J[\s\S]*is "\\u001b\[2J\\u\{202e\}x"/,
  ],
  [
    'policies that are not kept',
    [held, '--data', pruned, ...folder('policies')],
    3,
    /^require_approval\n[\s\S]*reproduced {4}It cannot be explained: .* are not kept: /,
  ],
  ['policies that only the folder has', [held, '--data', pruned, ...folder('same')], 0, /reproduced {4}yes/],
  ['policies that no folder has', [held, '--data', pruned, ...folder('nowhere')], 3, /are not kept: /],
  [
    'policies that somebody changed',
    [held, '--data', altered(`UPDATE policy_text SET source = replace(source, 'ID', 'IE')`), ...folder('policies')],
    3,
    /reproduced {4}It cannot be explained/,
  ],
  [
    'a request that somebody changed',
    [
      held,
      '--data',
      altered(`UPDATE section SET json = replace(json, '5000', '5') WHERE name = 'request'`),
      ...folder('policies'),
    ],
    1,
    /verified {6}NO: section request[\s\S]*reproduced {4}NO: the recorded decision stands[\s\S]* decision: recorded "require_approval", now "allow"\n/,
  ],
  [
    'a code of a fault',
    ['GATE1203'],
    0,
    /^GATE1203 {2}error {2}The fact is not declared\n\nA rule, a risk factor, [^<]*\n## Fix\n[^<]*\nFrom docs\/errors\/GATE1203\.md\.\n$/,
  ],
  ['a code in small letters', ['gate2002'], 0, /^GATE2002 {2}warning /],
]

for (const [name, args, code, shown] of ROWS) {
  test(`explain: ${name}`, async () => {
    const ended: Ended = await run(['explain', ...args])
    assert.equal(ended.code, code, ended.stderr)
    assert.match(ended.stdout, shown)
    assert.ok(ended.stdout.split('\n').every(isVisible))
  })
}

test('explain --json: as GET /decisions/:id answers', async () => {
  const { code, stdout } = await run(['explain', held, '--data', data, ...folder('policies'), '--json'])
  assert.equal(code, 0)
  const found = JSON.parse(stdout)
  // A hold that was pending then may have passed its deadline.
  assert.deepEqual({ ...found, approval: overHttp.approval }, overHttp)
})

const REFUSED: [args: string[], stderr: RegExp][] = [
  [
    ['dec_01hzy3v4q2m8k7t6r5w4x3y2z1', '--data', data],
    /no decision dec_01hzy3v4q2m8k7t6r5w4x3y2z1; see `gate-sidecar audit list/,
  ],
  [['x', '--data', data], /no decision x/],
  [['GATE9999'], /no code GATE9999/],
  [[held, '--data', join(dir, 'nothing')], /no readable data file/],
]

for (const [args, stderr] of REFUSED) {
  test(`explain ${args[0]} ${args.length}: not found`, async () => {
    const ended = await run(['explain', ...args])
    assert.equal(ended.code, 3)
    assert.match(ended.stderr, stderr)
  })
}
