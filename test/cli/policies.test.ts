import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { ACME_POLICY, temporaryFolder, writeFiles } from '../helpers.ts'
import { run } from './program.ts'

const root = temporaryFolder()
const DIGEST = 'sha256:[0-9a-f]{64}'
const SMALL = 'apiVersion: gate-sidecar/v1\ntenant: acme\nrules:\n'
const MAIL = '  - {id: mail, actions: ["email.*"], effect: allow, reason: Fine.}\n'
const data = ['--tenant', 'acme', '--data', join(root, 'data')]

before(async () => {
  writeFiles(root, {
    'policies/acme/main.yaml': `${SMALL}${MAIL}`,
    'more/main.yaml': `${SMALL}${MAIL}`,
    'more/lists/vips.txt': 'ann\n',
    'more/vips.yaml': `${SMALL}  - {id: vip, actions: [call], effect: deny, reason: R., when: {fact: context.who, operator: inList, value: vips}}\nlists: {vips: {file: lists/vips.txt}}\n`,
    'observed/main.yaml': ACME_POLICY.replace(
      'tenant: acme',
      'tenant: acme\nmode: observe\napproval: {approvers: [board]}',
    ),
    'declared/main.yaml': ACME_POLICY,
    'other/main.yaml': SMALL.replace('acme', 'other') + MAIL,
    'large/main.yaml': `${SMALL}${MAIL}`,
    'store.json': JSON.stringify({ policies: 'store:', data: join(root, 'data') }),
    'empty/.keep': '',
  })
  for (let i = 0; i < 17; i += 1) writeFiles(root, { [`large/n${i}.yaml`]: `# ${'x'.repeat(1024 * 1024 - 10)}\n` })
  mkdirSync(join(root, 'linked'))
  symlinkSync('../more/main.yaml', join(root, 'linked/main.yaml'))
  assert.equal((await run(['tenants', 'create', 'acme', '--data', join(root, 'data')])).code, 0)
})

const at = (path: string): string => join(root, path)

/** Commands, in this order, with what they print. */
const ROWS: { name: string; args: string[]; code?: number; stdout?: RegExp; stderr?: RegExp }[] = [
  { name: 'history before the first push', args: ['history'], stdout: /^No set of acme came into force yet\.\n$/ },
  {
    name: 'rollback before the first push',
    args: ['rollback'],
    code: 3,
    stderr: /No set of acme came into force yet; push/,
  },
  {
    name: 'push without a path',
    args: ['push', '--policies', at('policies')],
    stdout: new RegExp(`^acme has the set ${DIGEST}: 1 rule in 1 file\\.\n$`),
  },
  {
    name: 'push of the same set from a folder with another name',
    args: ['push', at('more/main.yaml')],
    stdout: new RegExp(`^acme has this set already, ${DIGEST}\\.\n$`),
  },
  {
    name: 'push of one file, with the list that it names',
    args: ['push', at('more/vips.yaml')],
    stdout: new RegExp(
      `^acme has the set ${DIGEST}: 1 rule in 1 file\\.\nThe set before was ${DIGEST}\\.\n1 warning; `,
    ),
  },
  {
    name: 'push of policies that are observed, with a group without keys',
    args: ['push', at('observed')],
    stdout: /\nIt is only observed: every action runs, unless it is stopped\.\n.*approver groups: board\.\n$/s,
  },
  {
    name: 'rollback for people',
    args: ['rollback'],
    stdout: new RegExp(`^acme has the set ${DIGEST}: 1 rule in 1 file\\.\nThe set before was ${DIGEST}\\.\n`),
  },
  {
    name: 'history for people',
    args: ['history', '--limit', '2'],
    stdout: new RegExp(
      `^LOADED +SET +MODE +RULES +BY\n\\S+ +${DIGEST} +enforce +1 +host:\\d+ +newest\n\\S+ +${DIGEST} +observe +4 +host:\\d+\n$`,
    ),
  },
  {
    name: 'push of the policies of another tenant',
    args: ['push', at('other')],
    code: 1,
    stdout: /^acme\/main\.yaml:2:9 error GATE\d{4} /,
  },
  {
    name: 'push of a set that is too large',
    args: ['push', at('large')],
    code: 1,
    stdout: /GATE1023 The folder holds more than 16777216 bytes/,
  },
  { name: 'push of a link out of the folder', args: ['push', at('linked')], code: 1, stdout: /GATE1022/ },
  {
    name: 'push of a folder without policies',
    args: ['push', at('empty')],
    code: 1,
    stdout: /GATE1018 The folder has no policy file/,
  },
  {
    name: 'push of nothing',
    args: ['push', at('nowhere')],
    code: 3,
    stderr: /nowhere cannot be used: it does not exist\./,
  },
  {
    name: 'push without a path, of a tenant without a folder',
    args: ['push', '--policies', at('more')],
    code: 3,
    stderr: /There is no policy folder of acme in /,
  },
  {
    name: 'push without a path, by settings of a sidecar',
    args: ['push', '--config', at('store.json')],
    code: 2,
    stderr: /the setting policies is store:; name a folder with --policies/,
  },
  {
    name: 'rollback to a text that is no digest',
    args: ['rollback', '--to', 'yesterday'],
    code: 2,
    stderr: /--to: yesterday is not a digest/,
  },
  {
    name: 'rollback to a set that never was',
    args: ['rollback', '--to', `sha256:${'0'.repeat(64)}`],
    code: 3,
    stderr: /The set sha256:0+ is not in the store/,
  },
]

for (const { name, args, code = 0, stdout = /^$/, stderr = /^$/ } of ROWS) {
  test(`policies: ${name}`, async () => {
    const ended = await run(['policies', ...args, ...data])
    assert.match(ended.stderr, stderr)
    assert.match(ended.stdout, stdout)
    assert.equal(ended.code, code)
  })
}

test('policies push: a tenant that does not exist is not made', async () => {
  const { code, stderr } = await run(['policies', 'push', at('policies/acme'), '--tenant', 'acm', '--data', at('data')])
  assert.equal(code, 3)
  assert.match(stderr, /There is no tenant acm; there are: acme\./)
})

test('a stop tells of what it covers by the set in the store, where policies come from there', async () => {
  assert.equal((await run(['policies', 'push', at('declared'), ...data])).code, 0)
  const trigger = [
    'killswitch',
    'trigger',
    '--tenant',
    'acme',
    '--level',
    'L1',
    '--scope',
    'payment.*',
    '--reason',
    'drill',
  ]
  const { code, stdout, stderr } = await run([...trigger, '--config', at('store.json')])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^It covers: payment\.transfer$/m)
})

test('the demo, and policies that are not watched, do not go with policies from the store', async () => {
  for (const [more, told] of [
    ['--demo', /leave out --demo/],
    ['--watch=off', /comes into force on every sidecar at once; leave out --watch off/],
  ] as const) {
    const { code, stderr } = await run(['serve', '--policies', 'store:', '--data', at('data'), more])
    assert.equal(code, 2)
    assert.match(stderr, told)
  }
})
