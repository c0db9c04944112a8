import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Explanation } from '../../src/gate/explain.ts'
import type { Limited } from '../../src/replay/shown.ts'
import { ACME_POLICY, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { BIN, type Ended, run, runBuilt } from './program.ts'

/** Turns text around, and colours it in a terminal that knows C1 controls. */
const HOSTILE = '\u202e\u009b31m'

/** Checks of a bundle, in the order in which they are reported. */
const CHECKS =
  'form certificate revocation signature segment openings checkpoint inclusion anchors approval times'.split(' ')
const OTHER_VKEY = 'gate.example+ab049850+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea'

// One folder for all rows: an active stop over `stopped`, a key and a decision in `acme`, policies good and bad.
const world = {
  root: temporaryFolder(),
  data: '',
  policies: '',
  made: '',
  keyId: '',
  agentKey: '',
  spareKeyId: '',
  decision: '',
  bundle: '',
  trust: '',
  vkey: '',
  logKeyId: '',
}

before(async () => {
  const { root } = world
  world.data = join(root, 'data')
  world.policies = join(root, 'policies')
  world.made = join(root, 'made')
  writeFiles(root, {
    'policies/acme/main.yaml': ACME_POLICY,
    'broken/acme/main.yaml': ACME_POLICY.replace('effect: allow', 'effect: alow'),
    'empty/.keep': '',
    'careful/acme/main.yaml': 'apiVersion: gate-sidecar/v1\ntenant: acme\n',
    'careless/acme/main.yaml':
      'apiVersion: gate-sidecar/v1\ntenant: acme\nrules:\n  - { id: all, actions: ["**"], effect: allow, reason: R. }\n',
    'beside/acme/main.yaml': ACME_POLICY,
    'beside/acme.yaml': ACME_POLICY,
    'beside/bad name/main.yaml': ACME_POLICY,
    'beside/..data/main.yaml': ACME_POLICY,
    'hostile/acme/main.yaml': ACME_POLICY.replace('"payment.*"', `"${HOSTILE}"`),
    'garbage.json': 'not json',
    'nothing.json': '{}',
  })
  const agent = JSON.parse(ok(await run(['keys', 'create', '--tenant', 'acme', '--role', 'agent', ...at(), '--json'])))
  world.agentKey = agent.key
  world.keyId = agent.id
  const spare = ok(await run(['keys', 'create', '--tenant', 'acme', '--role', 'agent', ...at(), '--json']))
  world.spareKeyId = JSON.parse(spare).id
  ok(await run(['tenants', 'create', 'stopped', ...at()]))
  const gate = await startGate({ after }, { dir: root, policies: {} })
  const asked = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 5, note: HOSTILE } }
  const { body } = await gate.call({ secret: world.agentKey, tenant: 'acme' }, 'POST', '/gate/check', asked)
  world.decision = body.data.decisionId
  await gate.server.close()
  ok(await run(['killswitch', 'trigger', '--tenant', 'stopped', '--level', 'L3', '--reason', 'drill', ...at()]))
  world.bundle = join(root, 'bundle.json')
  const bundle = ok(await run(['evidence', 'export', world.decision, ...at()]))
  writeFileSync(world.bundle, bundle)
  writeFileSync(join(root, 'forged.json'), bundle.replace('payment.transfer', 'payment.transfex'))
  world.trust = join(root, 'trust.json')
  ok(await run(['signing-keys', 'export-trust', '--out', world.trust, ...at()]))
  const [logKey] = JSON.parse(ok(await run(['signing-keys', 'show', ...at(), '--json'])))
  world.vkey = logKey.vkey
  world.logKeyId = logKey.id
  const revoked = [{ publicKey: logKey.publicKey, since: '2020-01-01T00:00:00.000Z' }]
  const trust = { v: 1, logKeys: [{ vkey: logKey.vkey, until: null }], revoked }
  writeFileSync(join(root, 'revoked.json'), JSON.stringify(trust))
})

function at(): string[] {
  return ['--data', world.data]
}

/** A copy of the data folder, of which nothing more is wanted. */
function movable(): string {
  const dir = join(world.root, 'movable')
  cpSync(world.data, dir, { recursive: true })
  return dir
}

function ok({ code, stdout, stderr }: Ended): string {
  assert.equal(code, 0, stderr)
  return stdout
}

/** Every command that does something, with arguments that lack nothing. */
const COMMANDS = [
  'serve',
  'backup',
  'keys create',
  'keys list',
  'keys rotate',
  'keys revoke',
  'tenants create',
  'tenants list',
  'tenants set-plan',
  'store migrate',
  'store copy',
  'policies push',
  'policies rollback',
  'policies shadow',
  'policies promote',
  'policies override',
  'policies history',
  'validate',
  'lint',
  'test',
  'fmt',
  'check',
  'risk',
  'approvals list',
  'approvals show',
  'approvals approve',
  'approvals reject',
  'approvals cancel',
  'explain',
  'decisions list',
  'decisions show',
  'replay',
  'suggest',
  'diff',
  'audit list',
  'audit tail',
  'audit log',
  'audit export',
  'audit redact',
  'audit prune',
  'audit restore',
  'audit verify',
  'evidence export',
  'evidence policy-change',
  'evidence verify',
  'signing-keys show',
  'signing-keys rotate',
  'signing-keys revoke',
  'signing-keys export-trust',
  'signing-keys export-seal',
  'killswitch status',
  'killswitch trigger',
  'killswitch recover',
  'mcp',
  'hook claude-code',
  'console',
  'health',
  'openapi',
  'init',
  'schema policy',
  'schema test',
  'schema config',
  'config print',
  'completion',
]

for (const command of COMMANDS) {
  test(`${command} --help: usage, options, an example`, async () => {
    const { code, stdout, stderr } = await runBuilt([...command.split(' '), '--help'])
    assert.equal(code, 0)
    assert.equal(stderr, '')
    assert.match(stdout, new RegExp(`^Usage: gate-sidecar ${command} \\[options\\]`))
    assert.match(stdout, new RegExp(`\nExample:\n {2}gate-sidecar ${command}( |$)`, 'm'))
    // The relay reads no settings, and prints what the protocol says.
    if (command === 'mcp') return
    // It asks a running sidecar, whose settings these are.
    if (command !== 'console') assert.match(stdout, /--config <file>/)
    assert.match(stdout, /--json /)
  })
}

for (const group of ['tenants', 'policies', 'evidence', 'hook']) {
  test(`${group} --help: an example of each of its commands`, async () => {
    const { stdout } = await run([group, '--help'])
    const shown = COMMANDS.filter((command) => command.startsWith(`${group} `)).map(
      (command) => ` {2}gate-sidecar ${command} .*\n`,
    )
    assert.match(stdout, new RegExp(`\nExample:\n${shown.join('')}$`))
  })
}

test('the commands tested here are all that there are', async () => {
  const listed = async (...group: string[]): Promise<string[]> => {
    const { stdout } = await run([...group, '--help'])
    const section = stdout.split(/Commands:\n|\nExample:/)[1] ?? ''
    const names = [...section.matchAll(/^ {2}([a-z-]+)/gm)].map((match) => String(match[1]))
    return names.filter((name) => name !== 'help')
  }
  const groups = new Set(COMMANDS.filter((command) => command.includes(' ')).map((command) => command.split(' ')[0]))
  const found: string[] = []
  for (const name of await listed()) {
    if (groups.has(name)) found.push(...(await listed(name)).map((part) => `${name} ${part}`))
    else found.push(name)
  }
  assert.deepEqual(found.sort(), [...COMMANDS].sort())
})

interface Row {
  name: string
  args: () => string[]
  code: 0 | 1 | 2 | 3
  stdout?: RegExp
  stderr?: RegExp
  /** Members of the JSON that --json prints, and what they are. */
  json?: (value: Record<string, unknown>) => void
}

const riskOf = (context: string): string[] => [
  'risk',
  '--tenant',
  'acme',
  '--action',
  'payment.transfer',
  '--context',
  context,
]
const replay = (draft: string, ...rest: string[]) => ['replay', '--policies', join(world.root, draft), ...rest, ...at()]
const stop = (verb: string, ...rest: string[]) => ['killswitch', verb, '--tenant', 'acme', ...rest]

const ROWS: Row[] = [
  { name: 'no command', args: () => [], code: 2, stderr: /Usage: gate-sidecar/ },
  {
    name: 'a misspelt command',
    args: () => ['sreve'],
    code: 2,
    stderr: /^gate-sidecar: unknown command 'sreve' \(Did you mean serve\?\)\. See `gate-sidecar --help`\.\n$/,
  },
  {
    name: 'a misspelt option',
    args: () => ['keys', 'list', '--dta', 'x'],
    code: 2,
    stderr:
      /^gate-sidecar: unknown option '--dta' \(Did you mean --data\?\)\. See `gate-sidecar keys list --help`\.\n$/,
  },
  {
    name: 'an argument too many',
    args: () => ['keys', 'list', 'x'],
    code: 2,
    stderr: /^gate-sidecar: too many arguments for 'list'\. .* but got 1\. See `gate-sidecar keys list --help`\.\n$/,
  },
  {
    name: 'the help of a command that does not exist',
    args: () => ['rules', '--help'],
    code: 2,
    stderr: /^gate-sidecar: unknown command 'rules'\. See `gate-sidecar --help`\.\n$/,
  },
  {
    name: 'the help of a command that its group lacks',
    args: () => ['keys', 'creat', '--help'],
    code: 2,
    stderr: /^gate-sidecar: unknown command 'creat' \(Did you mean create\?\)\. See `gate-sidecar keys --help`\.\n$/,
  },
  {
    name: 'help of a command',
    args: () => ['keys', 'help', 'list'],
    code: 0,
    stdout: /^Usage: gate-sidecar keys list /,
  },
  { name: '--version', args: () => ['--version'], code: 0, stdout: /^\d+\.\d+\.\d+\n$/ },

  {
    name: 'keys create --json',
    args: () => [
      'keys',
      'create',
      '--tenant',
      'beta',
      '--role',
      'agent',
      '--role',
      'auditor',
      '--environment',
      'test',
      '--identity',
      'ann',
      '--name',
      'n',
      ...at(),
      '--json',
    ],
    code: 0,
    json: (made) => {
      assert.deepEqual(Object.keys(made), ['id', 'key', 'tenantId', 'roles', 'environment'])
      assert.match(String(made.id), /^key_/)
      assert.match(String(made.key), /^sk_test_/)
      assert.deepEqual([made.tenantId, made.roles, made.environment], ['beta', ['agent', 'auditor'], 'test'])
    },
  },
  {
    name: 'keys create: for people',
    args: () => ['keys', 'create', '--tenant', 'beta', '--role', 'agent', ...at()],
    code: 0,
    stdout: /^sk_live_\w+\nkey_\w+: store the key now/,
  },
  {
    name: 'keys create: admin needs no tenant',
    args: () => ['keys', 'create', '--role', 'admin', ...at(), '--json'],
    code: 0,
    json: (made) => assert.equal(made.tenantId, null),
  },
  {
    name: 'keys create: no role',
    args: () => ['keys', 'create', '--tenant', 'acme', ...at()],
    code: 2,
    stderr: /--role/,
  },
  {
    name: 'keys create: unknown role',
    args: () => ['keys', 'create', '--tenant', 'acme', '--role', 'agnt', ...at()],
    code: 2,
    stderr: /--role.*'agnt'.*agent, approver, auditor, operator, owner, admin/,
  },
  {
    name: 'keys create: unknown environment',
    args: () => ['keys', 'create', '--tenant', 'acme', '--role', 'agent', '--environment', 'prod', ...at()],
    code: 2,
    stderr: /--environment.*live, test/,
  },
  {
    name: 'keys create: no tenant',
    args: () => ['keys', 'create', '--role', 'agent', ...at()],
    code: 2,
    stderr: /--tenant/,
  },
  {
    name: 'keys create: malformed tenant',
    args: () => ['keys', 'create', '--tenant', '../x', '--role', 'agent', ...at()],
    code: 2,
    stderr: /cannot name a tenant/,
  },
  {
    name: 'keys create: expiry in the past',
    args: () => [
      'keys',
      'create',
      '--tenant',
      'acme',
      '--role',
      'agent',
      '--expires-at',
      '2001-01-01T00:00:00.000Z',
      ...at(),
    ],
    code: 2,
    stderr: /a future time/,
  },
  {
    name: 'keys create: an expiry that is no time',
    args: () => ['keys', 'create', '--tenant', 'acme', '--role', 'agent', '--expires-at', 'tomorrow', ...at()],
    code: 2,
    stderr: /--expires-at.*'tomorrow'.*A time such as 2030-01-31T12:00:00Z is expected/,
  },
  {
    name: 'keys create: an expiry without milliseconds, as other commands take times',
    args: () => [
      'keys',
      'create',
      '--tenant',
      'acme',
      '--role',
      'agent',
      '--expires-at',
      '9000-01-01T00:00:00Z',
      ...at(),
    ],
    code: 0,
    stdout: /^sk_live_/,
  },
  {
    name: 'keys create --help: what it cannot do without',
    args: () => ['keys', 'create', '--help'],
    code: 0,
    stdout: /--role .*\n[^-]*\(required\)/,
  },
  {
    name: 'keys create: a name too long',
    args: () => ['keys', 'create', '--tenant', 'acme', '--role', 'agent', '--name', 'n'.repeat(129), ...at()],
    code: 2,
    stderr: /--name must/,
  },
  {
    name: 'keys create: an admin key of a tenant',
    args: () => ['keys', 'create', '--tenant', 'acme', '--role', 'admin', ...at()],
    code: 2,
    stderr: /admin key reaches every tenant/,
  },
  {
    name: 'keys create: test admin',
    args: () => ['keys', 'create', '--role', 'admin', '--environment', 'test', ...at()],
    code: 2,
    stderr: /Admin keys are live keys/,
  },
  {
    name: 'keys list --json: no secret, no hash',
    args: () => ['keys', 'list', '--tenant', 'acme', ...at(), '--json'],
    code: 0,
    stdout: /^(?!.*(sk_live_|hash)).*"id":"key_/,
  },
  {
    name: 'keys list: for people',
    args: () => ['keys', 'list', ...at()],
    code: 0,
    // A service was asked with the one key, and wrote that down when it stopped; with the other nobody has asked.
    stdout:
      /^ID +TENANT +ENVIRONMENT +ROLES +STATE +LAST USED +IDENTITY +NAME\n(?=.* active +\d{4}-\S+Z +-\n)[\s\S]* active +- +-\n/,
  },
  {
    name: 'keys list: unknown tenant',
    args: () => ['keys', 'list', '--tenant', 'acne', ...at()],
    code: 3,
    stderr: /no tenant acne; there are: .*acme/,
  },
  {
    name: 'keys list: no data',
    args: () => ['keys', 'list', '--data', join(world.root, 'none')],
    code: 3,
    stderr: /no readable data file .*--data; or start the service once, or make a key/,
  },
  {
    name: 'keys rotate: unknown',
    args: () => ['keys', 'rotate', 'key_x', ...at()],
    code: 3,
    stderr: /no key key_x; see `gate-sidecar keys list`/,
  },
  {
    name: 'keys rotate: an id that would steer a terminal',
    args: () => ['keys', 'rotate', `key_${HOSTILE}`, ...at()],
    code: 3,
    stderr: /no key key_\\u\{202e\}\\u\{9b\}31m;/,
  },
  {
    name: 'keys rotate: for people',
    args: () => ['keys', 'rotate', world.spareKeyId, '--overlap', '30d', ...at()],
    code: 0,
    stdout: /^sk_live_\w+\nkey_\w+: store the key now.* It replaces key_\w+, which ends at 20/,
  },
  {
    name: 'keys rotate: an overlap too long',
    args: () => ['keys', 'rotate', world.keyId, '--overlap', '31d', ...at()],
    code: 2,
    stderr: /--overlap: 31d is neither 0 nor a duration such as 15m or 24h, at most 30d/,
  },
  {
    name: 'keys revoke: unknown',
    args: () => ['keys', 'revoke', 'key_x', ...at()],
    code: 3,
    stderr: /no key key_x; see `gate-sidecar keys list`/,
  },
  {
    name: 'keys revoke: no id',
    args: () => ['keys', 'revoke', ...at()],
    code: 2,
    stderr: /missing required argument 'id'/,
  },

  {
    name: 'tenants create --json',
    args: () => ['tenants', 'create', 'gamma', ...at(), '--json'],
    code: 0,
    json: (tenant) => assert.deepEqual([tenant.id, tenant.plan], ['gamma', 'enterprise']),
  },
  {
    name: 'tenants create: again is no fault',
    args: () => ['tenants', 'create', 'acme', ...at()],
    code: 0,
    stdout: /^acme \(enterprise\)\n$/,
  },
  {
    name: 'tenants list',
    args: () => ['tenants', 'list', ...at()],
    code: 0,
    stdout: /^TENANT +PLAN +CREATED\n[\s\S]*acme/,
  },
  {
    name: 'tenants list --json',
    args: () => ['tenants', 'list', ...at(), '--json'],
    code: 0,
    stdout: /^\[\{.*"id":"acme"/,
  },
  {
    name: 'tenants set-plan',
    args: () => ['tenants', 'set-plan', 'acme', 'pro', ...at()],
    code: 0,
    stdout: /acme now has the plan pro/,
  },
  {
    name: 'tenants set-plan --json',
    args: () => ['tenants', 'set-plan', 'acme', 'enterprise', ...at(), '--json'],
    code: 0,
    json: (tenant) => assert.equal(tenant.plan, 'enterprise'),
  },
  {
    name: 'store migrate: of a data file',
    args: () => ['store', 'migrate', ...at()],
    code: 2,
    stderr: /Name the database with --store; a data file such as in .* needs no command\./,
  },
  {
    name: 'store migrate: where no server is',
    args: () => ['store', 'migrate', '--store', 'postgres://nobody@127.0.0.1:1/gate'],
    code: 3,
    stderr: /The store postgres:\/\/nobody@127\.0\.0\.1:1\/gate cannot be used: .*ECONNREFUSED/,
  },
  {
    name: 'store migrate: a password in the address',
    args: () => ['store', 'migrate', '--store', 'postgres://nobody:secret@127.0.0.1:1/gate'],
    code: 2,
    stderr: /--store: "postgres:\/\/nobody:…@127.* is not accepted \(PostgreSQL database .* without a password/,
  },
  {
    name: 'store copy',
    args: () => ['store', 'copy', '--from', movable(), '--to', join(world.root, 'moved')],
    code: 0,
    stdout: /^\d+ entries of \d chains were moved to .*moved, and verified on both sides\.\n.* is marked as moved/,
  },
  {
    name: 'store copy --json',
    args: () => [
      'store',
      'copy',
      '--from',
      join(world.root, 'moved'),
      '--to',
      join(world.root, 'again'),
      '--json',
      '--signing-key',
      join(world.data, 'signing-key.pem'),
    ],
    code: 0,
    json: ({ to, chains, resumed }) => {
      assert.equal(to, join(world.root, 'again'))
      assert.match(JSON.stringify(chains), /\{"chain":"acme\/live","entries":\d+\}/)
      assert.equal(resumed, false)
    },
  },
  {
    name: 'store copy: without a target',
    args: () => ['store', 'copy', '--from', world.data],
    code: 2,
    stderr: /required option '--to <place>' not specified/,
  },
  {
    name: 'backup: of a PostgreSQL store',
    args: () => ['backup', join(world.root, 'pg.db'), '--store', 'postgres://nobody@127.0.0.1:1/gate'],
    code: 3,
    stderr: /A PostgreSQL database has backups of its own/,
  },
  {
    name: 'tenants set-plan: unknown plan',
    args: () => ['tenants', 'set-plan', 'acme', 'gold', ...at()],
    code: 2,
    stderr: /free, pro, enterprise/,
  },
  {
    name: 'tenants set-plan: unknown tenant',
    args: () => ['tenants', 'set-plan', 'acne', 'pro', ...at()],
    code: 3,
    stderr: /no tenant acne/,
  },

  {
    name: 'validate',
    args: () => ['validate', '--policies', world.policies],
    code: 0,
    stdout: /^1 policy set: 0 errors, 0 warnings\.\n$|1 policy set: 0 errors, \d+ warnings?\.\n$/,
  },
  {
    name: 'validate: faults, with the line and a pointer',
    args: () => ['validate', '--policies', join(world.root, 'broken')],
    code: 1,
    stdout: /^acme\/main\.yaml:\d+:\d+ error GATE1104 [\s\S]*\^+ did you mean `allow`\?/,
  },
  {
    name: 'validate: what would steer a terminal is shown escaped',
    args: () => ['validate', '--policies', join(world.root, 'hostile')],
    code: 1,
    stdout:
      /^acme\/main\.yaml[^\p{Cf}\u0080-\u009f]*"\\u\{202e\}\\u\{9b\}31m" is not an action pattern[^\p{Cf}\u0080-\u009f]*$/u,
  },
  {
    name: 'validate --json: the same, as JSON escapes it',
    args: () => ['validate', '--policies', join(world.root, 'hostile'), '--json'],
    code: 1,
    stdout: /^[^\p{Cf}\u0080-\u009f]*\\u202e\\u009b31m[^\p{Cf}\u0080-\u009f]*$/u,
  },
  {
    name: 'validate --format json',
    args: () => ['validate', '--policies', join(world.root, 'broken'), '--format', 'json'],
    code: 1,
    json: ({ valid, diagnostics, ...rest }) => {
      assert.equal(valid, false)
      assert.deepEqual(rest, {})
      assert.ok(Array.isArray(diagnostics))
      assert.deepEqual(Object.keys(diagnostics[0]), [
        'file',
        'line',
        'column',
        'severity',
        'code',
        'message',
        'path',
        'suggestion',
      ])
      assert.deepEqual(
        [diagnostics[0].file, diagnostics[0].code, diagnostics[0].suggestion],
        ['acme/main.yaml', 'GATE1104', 'allow'],
      )
    },
  },
  {
    name: 'validate --json is the same',
    args: () => ['validate', '--policies', world.policies, '--json'],
    code: 0,
    json: ({ valid }) => assert.equal(valid, true),
  },
  {
    name: 'lint: nothing to say',
    args: () => ['lint', '--policies', join(world.root, 'careful')],
    code: 0,
    stdout: /^1 policy set: 0 errors, 0 warnings\.\n$/,
  },
  {
    name: 'lint: advice that validate does not give',
    args: () => ['lint', '--policies', join(world.root, 'careless'), '--tenant', 'acme'],
    code: 1,
    stdout: /^acme\/main\.yaml:4:26 warning GATE2105 [\s\S]*1 policy set: 0 errors, 1 warning\.\n$/,
  },
  {
    name: 'lint: validate has nothing to say of it',
    args: () => ['validate', '--policies', join(world.root, 'careless')],
    code: 0,
    stdout: /^1 policy set: 0 errors, 0 warnings\.\n$/,
  },
  {
    name: 'lint --format json',
    args: () => ['lint', '--policies', join(world.root, 'careless'), '--format', 'json'],
    code: 1,
    json: ({ valid, diagnostics }) => {
      assert.equal(valid, true)
      assert.deepEqual(
        (diagnostics as { code: string }[]).map(({ code }) => code),
        ['GATE2105'],
      )
    },
  },
  {
    name: 'lint: errors too',
    args: () => ['lint', '--policies', join(world.root, 'broken')],
    code: 1,
    stdout: /error GATE1104/,
  },
  {
    name: 'lint: no such tenant',
    args: () => ['lint', '--policies', world.policies, '--tenant', '../acme'],
    code: 3,
    stderr: /no policy folder of \.\.\/acme in/,
  },
  {
    name: 'lint: no folder',
    args: () => ['lint', '--policies', join(world.root, 'none')],
    code: 3,
    stderr: /no folder .*--policies/,
  },
  { name: 'lint: unknown format', args: () => ['lint', '--format', 'xml'], code: 2, stderr: /text, json/ },
  {
    name: 'validate: policies that lie where nothing reads them',
    args: () => ['validate', '--policies', join(world.root, 'beside')],
    code: 0,
    stdout:
      /^acme\.yaml:1:1 warning GATE2001 [^\n]+\n[\s\S]*\nbad name:1:1 warning GATE2001 [^\n]+\n[\s\S]*0 errors, [2-9] warnings\.\n$/,
  },
  { name: 'validate: unknown format', args: () => ['validate', '--format', 'xml'], code: 2, stderr: /text, json/ },
  {
    name: 'validate: no folder',
    args: () => ['validate', '--policies', join(world.root, 'none')],
    code: 3,
    stderr: /no folder .*--policies/,
  },
  {
    name: "validate: a tenant's folder given for the one above",
    args: () => ['validate', '--policies', join(world.policies, 'acme')],
    code: 3,
    stderr: /has no tenant folder/,
  },

  {
    name: 'check: allowed',
    args: () => [
      'check',
      '--tenant',
      'acme',
      '--action',
      'payment.transfer',
      '--context',
      '{"amount": 5}',
      '--policies',
      world.policies,
    ],
    code: 0,
    stdout:
      /^allow\nreason {8}.+\ndecided by {4}allow_rule, rule payments at acme\/main\.yaml:\d+\nrisk {10}0 \(approval from 40, denied from 80\)\n$/,
  },
  {
    name: 'replay: the same policies change nothing',
    args: () => ['replay', '--policies', world.policies, ...at()],
    code: 0,
    stdout:
      /^replay of acme\/live from .*\ndraft +sha256:.*\nhistory +what was allowed then\ndecided +1 request\nchanged +0 \(0 %\)/,
  },
  {
    name: 'replay --fail-on: what changes, with both explanations',
    args: () => replay('careful', '--fail-on', 'allow->deny>0', '--verbose'),
    code: 1,
    stdout:
      /\n1 +allow \(rule payments\) → deny \(default\)\n +first +dec_.*\n +then +.*\n +draft +.*\n +as it was decided\n[\s\S]* by the draft\n[\s\S]*limit +allow->deny>0: 1, EXCEEDED/,
  },
  {
    name: 'replay --json',
    args: () => replay('careful', '--fail-on', 'deny->allow>0', '--fail-on', 'changed>1', '--json'),
    code: 0,
    json: ({ replays }) => {
      const [one] = replays as Limited[]
      assert.ok(one)
      const { trail, history, to, limits, report } = one
      assert.deepEqual([trail, history, to, limits.length], ['acme/live', 'recorded', null, 2])
      assert.deepEqual(report.matrix, [{ from: 'allow', to: 'deny', count: 1 }])
      const [kind] = report.kinds
      assert.deepEqual([kind?.first.id, kind?.first.before?.rules[0]?.id], [world.decision, 'payments'])
    },
  },
  {
    name: 'replay --format markdown',
    args: () => replay('careful', '--format', 'markdown'),
    code: 0,
    stdout: /^### Replay of `acme\/live`\n/,
  },
  {
    name: 'replay --format junit',
    args: () => replay('careful', '--format', 'junit'),
    code: 0,
    stdout: /^<\?xml [\s\S]*<\/testsuites>\n$/,
  },
  {
    name: 'replay: a limit of another form',
    args: () => replay('careful', '--fail-on', 'allow->deny'),
    code: 2,
    stderr: /FROM->TO>N/,
  },
  {
    name: 'replay: a range that ends before it begins',
    args: () => replay('careful', '--from', '2026-01-02', '--to', '2026-01-01'),
    code: 2,
    stderr: /before it begins/,
  },
  {
    name: 'replay: two beginnings',
    args: () => replay('careful', '--from', '2026-01-02', '--since', '1h'),
    code: 2,
    stderr: /either --since or --from/,
  },
  {
    name: 'replay: a sample by its own history',
    args: () => replay('careful', '--sample', '5', '--history', 'draft'),
    code: 2,
    stderr: /give one of them/,
  },
  {
    name: 'replay: a draft with faults',
    args: () => replay('broken'),
    code: 3,
    stderr: /The policies of acme have faults:[\s\S]*GATE/,
  },
  {
    name: 'replay: no requests',
    args: () => replay('careful', '--environment', 'test'),
    code: 3,
    stderr: /No tenant with policies has requests in test/,
  },
  {
    name: 'replay: an unknown tenant',
    args: () => replay('careful', '--tenant', 'nobody'),
    code: 3,
    stderr: /There is no tenant nobody/,
  },
  {
    name: 'check --explain: every rule about it, and what its conditions saw',
    args: () => [
      'check',
      '--tenant',
      'acme',
      '--action',
      'payment.transfer',
      '--context',
      '{"amount": 5}',
      '--explain',
      '--policies',
      world.policies,
    ],
    code: 0,
    stdout:
      /^allow\n[\s\S]*\nno {3}deny huge +acme\/main\.yaml:\d+\nno {5}context\.amount greaterThan 100000 +is 5 +acme\/main\.yaml:\d+\n[\s\S]*\nrisk factors:\n/,
  },
  {
    name: 'check: held',
    args: () => [
      'check',
      '--tenant',
      'acme',
      '--action',
      'payment.transfer',
      '--context',
      '{"amount": 5000}',
      '--policies',
      world.policies,
    ],
    code: 1,
    stdout: /^require_approval/,
  },
  {
    name: 'check --json',
    args: () => [
      'check',
      '--tenant',
      'acme',
      '--action',
      'payment.transfer',
      '--context',
      '{"amount": 200000}',
      '--policies',
      world.policies,
      '--json',
    ],
    code: 1,
    json: (answer) => {
      const { decision, rule, decidedBy, riskScore } = answer
      assert.deepEqual([decision, rule, decidedBy, riskScore], ['deny', 'huge', 'deny_rule', 30])
      assert.ok(!('explanation' in answer))
    },
  },
  {
    name: 'check --explain --json',
    args: () => [
      'check',
      '--tenant',
      'acme',
      '--action',
      'payment.transfer',
      '--context',
      '{"amount": 200000}',
      '--explain',
      '--policies',
      world.policies,
      '--json',
    ],
    code: 1,
    json: ({ decision, explanation }) => {
      assert.equal(decision, 'deny')
      const { rules } = explanation as Explanation
      assert.deepEqual([rules.length, rules[0]?.id, rules[0]?.decides], [3, 'huge', true])
    },
  },
  {
    name: 'check: context that is no JSON',
    args: () => ['check', '--tenant', 'acme', '--action', 'a', '--context', '{', '--policies', world.policies],
    code: 2,
    stderr: /--context is not valid JSON: /,
  },
  {
    name: 'check: context that is no object',
    args: () => ['check', '--tenant', 'acme', '--action', 'a', '--context', '[]', '--policies', world.policies],
    code: 2,
    stderr: /--context must be object/,
  },
  {
    name: 'check: malformed action',
    args: () => ['check', '--tenant', 'acme', '--action', 'a b', '--policies', world.policies],
    code: 2,
    stderr: /--action must/,
  },
  {
    name: 'check: malformed time',
    args: () => ['check', '--tenant', 'acme', '--action', 'a', '--at', 'noon', '--policies', world.policies],
    code: 2,
    stderr: /--at: noon/,
  },
  {
    name: 'check: unknown environment',
    args: () => ['check', '--tenant', 'acme', '--action', 'a', '--environment', 'prod'],
    code: 2,
    stderr: /live, test/,
  },
  {
    name: 'check: no such tenant',
    args: () => ['check', '--tenant', 'acne', '--action', 'a', '--policies', world.policies],
    code: 3,
    stderr: /no policy folder of acne in .*; did you mean acme\?/,
  },
  {
    name: 'check: policies with faults',
    args: () => ['check', '--tenant', 'acme', '--action', 'a', '--policies', join(world.root, 'broken')],
    code: 3,
    stderr: /GATE1104/,
  },

  {
    name: 'risk',
    args: () => [...riskOf('{"amount": 5000}'), '--policies', world.policies],
    code: 0,
    stdout:
      /^risk score: 15\n\nrisk factors:\nyes {2}amount +adds 15 of 30 {2}acme\/main\.yaml:\d+\n {7}context\.amount from 0 to 10000 +is 5000\n$/,
  },
  {
    name: 'risk --json: as POST /gate/risk answers',
    args: () => [...riskOf('{"amount": 5000}'), '--policies', world.policies, '--json'],
    code: 0,
    json: (risk) => assert.deepEqual(risk, { score: 15, factors: [{ name: 'amount', weight: 30, contribution: 15 }] }),
  },
  {
    name: 'risk: context that is no object',
    args: () => [...riskOf('null'), '--policies', world.policies],
    code: 2,
    stderr: /--context must be object/,
  },
  {
    name: 'risk: policies with faults',
    args: () => [...riskOf('{}'), '--policies', join(world.root, 'broken')],
    code: 3,
    stderr: /GATE1104/,
  },

  {
    name: 'approvals list: none',
    args: () => ['approvals', 'list', '--tenant', 'acme', '--status', 'rejected', ...at()],
    code: 0,
    stdout: /^No rejected approvals\.\n$/,
  },
  {
    name: 'approvals list: neither tenant nor key',
    args: () => ['approvals', 'list', ...at()],
    code: 2,
    stderr: /--tenant, or give a key with --key/,
  },
  {
    name: 'approvals list: unknown status',
    args: () => ['approvals', 'list', '--tenant', 'acme', '--status', 'open', ...at()],
    code: 2,
    stderr: /pending, approved, rejected, expired, cancelled, consumed/,
  },
  {
    name: 'approvals list: a key of the other environment',
    args: () => ['approvals', 'list', '--environment', 'test', '--key', world.agentKey, ...at()],
    code: 2,
    stderr: /A live key cannot read test/,
  },
  {
    name: 'approvals show: unknown',
    args: () => ['approvals', 'show', 'apr_x', ...at()],
    code: 3,
    stderr: /no such approval: apr_x\. See `gate-sidecar approvals list`/,
  },

  {
    name: 'audit list: no chain named',
    args: () => ['audit', 'list', ...at()],
    code: 2,
    stderr: /Give either --tenant or --chain/,
  },
  {
    name: 'audit list: two chains named',
    args: () => ['audit', 'list', '--tenant', 'acme', '--chain', '_system', ...at()],
    code: 2,
    stderr: /Give either --tenant or --chain/,
  },
  {
    name: 'audit list: the chain of the service',
    args: () => ['audit', 'list', '--chain', '_system', '--type', 'tenant.created', '--order', 'asc', ...at()],
    code: 0,
    stdout: /^SEQ .*\n +1 .* tenant\.created +host:\d+ +acme\n/,
  },
  {
    name: 'audit list: a malformed time',
    args: () => ['audit', 'list', '--tenant', 'acme', '--from', 'noon', ...at()],
    code: 2,
    stderr: /--from: noon is neither a day such as/,
  },
  {
    name: 'audit list: too many',
    args: () => ['audit', 'list', '--tenant', 'acme', '--limit', '501', ...at()],
    code: 2,
    stderr: /--limit.*from 1 to 500/,
  },
  {
    name: 'audit tail: unknown chain',
    args: () => ['audit', 'tail', '--chain', 'acme/prod', ...at()],
    code: 3,
    stderr: /no chain acme\/prod; choose one of _system, acme\/live/,
  },
  {
    name: 'audit restore: no anchor file is set',
    args: () => ['audit', 'restore', '--reason', 'x', ...at()],
    code: 1,
    stdout: /^No checkpoint is missing; nothing was written\. .*give --anchor-file/,
  },
  {
    name: 'audit verify',
    args: () => ['audit', 'verify', ...at()],
    code: 0,
    stdout:
      /^_system +unanchored +\d+ entries, \d+ not signed yet, but sealed, \d+ not anchored\nacme\/live +unanchored +\d+ entries, /,
  },
  {
    name: 'audit verify --json',
    args: () => ['audit', 'verify', '--chain', 'acme/live', ...at(), '--json'],
    code: 0,
    json: ({ valid, chains, fault }) => {
      assert.deepEqual([valid, fault], [true, null])
      assert.ok(Array.isArray(chains) && chains.length === 1 && chains[0].entriesChecked > 2)
    },
  },
  {
    name: 'audit verify: a range of days',
    args: () => ['audit', 'verify', '--from', '2026-01-01', '--to', '2999-01-01', ...at()],
    code: 0,
    stdout: /acme\/live +unanchored +\d+ entries/,
  },
  {
    name: 'audit verify: half a range',
    args: () => ['audit', 'verify', '--from', '2026-01-01', ...at()],
    code: 2,
    stderr: /Give --from and --to together/,
  },
  {
    name: 'audit verify: a malformed day',
    args: () => ['audit', 'verify', '--from', 'x', '--to', 'y', ...at()],
    code: 2,
    stderr: /--from must be a day/,
  },
  {
    name: 'audit verify: unknown chain',
    args: () => ['audit', 'verify', '--chain', 'acme/prod', ...at()],
    code: 3,
    stderr: /no chain acme\/prod; choose one of _system, acme\/live/,
  },
  {
    name: 'audit verify: no data',
    args: () => ['audit', 'verify', '--data', join(world.root, 'none')],
    code: 3,
    stderr: /no readable data file/,
  },

  {
    name: 'evidence export',
    args: () => ['evidence', 'export', world.decision, ...at()],
    code: 0,
    json: ({ version, signatures }) =>
      assert.deepEqual([version, Object.keys(Object(signatures))], ['1.0', ['service']]),
  },
  {
    name: 'evidence export --out',
    args: () => ['evidence', 'export', world.decision, '--out', join(world.root, 'out.json'), ...at(), '--json'],
    code: 0,
    json: (told) => assert.deepEqual(told, { decision: world.decision, file: join(world.root, 'out.json') }),
  },
  {
    name: 'evidence export --dsse',
    args: () => ['evidence', 'export', world.decision, '--dsse', ...at()],
    code: 0,
    json: ({ payloadType }) => assert.equal(payloadType, 'application/vnd.gate-sidecar.trust-bundle.v1+json'),
  },
  {
    name: 'evidence export: unknown decision',
    args: () => ['evidence', 'export', 'dec_x', ...at()],
    code: 3,
    stderr: /no decision dec_x/,
  },
  {
    name: 'evidence export: a file that cannot be written',
    args: () => ['evidence', 'export', world.decision, '--out', join(world.root, 'none', 'x'), ...at()],
    code: 3,
    stderr: /none\/x cannot be used: it does not exist/,
  },
  {
    name: 'evidence verify --trust: without any data, a line for each check',
    args: () => ['evidence', 'verify', world.bundle, '--trust', world.trust],
    code: 0,
    stdout: new RegExp(`^${CHECKS.map((check) => `${check.padEnd(11)}  ok\n`).join('')}VALID \\(.*\\)\n$`),
  },
  {
    name: 'evidence verify --vkey --json',
    args: () => ['evidence', 'verify', world.bundle, '--vkey', world.vkey, '--json'],
    code: 0,
    json: ({ verdict, checks }) => assert.deepEqual([verdict, (checks as []).length], ['valid', CHECKS.length]),
  },
  {
    name: 'evidence verify: nothing is pinned',
    args: () => ['evidence', 'verify', world.bundle],
    code: 2,
    stdout:
      /\ncertificate +unknown +No log key[\s\S]*\ncheckpoint +unknown +No log key[\s\S]*\nUNATTRIBUTED \(no pinned key\)\n$/,
  },
  {
    name: 'evidence verify: a key of another instance is pinned',
    args: () => ['evidence', 'verify', world.bundle, '--vkey', OTHER_VKEY],
    code: 2,
    stdout: /\nUNATTRIBUTED \(no pinned key\)\n$/,
  },
  {
    name: 'evidence verify: the log key is revoked',
    args: () => ['evidence', 'verify', world.bundle, '--trust', join(world.root, 'revoked.json')],
    code: 2,
    stdout: /\nrevocation +unknown +The log key is revoked since 2020[\s\S]*\nINCOMPLETE\n$/,
  },
  {
    name: 'evidence verify: forged',
    args: () => ['evidence', 'verify', join(world.root, 'forged.json'), '--trust', world.trust],
    code: 1,
    stdout: /\nsignature +FAILED +The signature does not fit\.\n[\s\S]*\nINVALID\n$/,
  },
  {
    name: 'evidence verify: forged, and nothing is pinned',
    args: () => ['evidence', 'verify', join(world.root, 'forged.json'), '--json'],
    code: 1,
    json: ({ valid, signatureValid, verdict, reasons }) =>
      assert.deepEqual([valid, signatureValid, verdict, (reasons as []).length > 0], [false, false, 'invalid', true]),
  },
  {
    name: 'evidence verify: no trust file',
    args: () => ['evidence', 'verify', world.bundle, '--trust', join(world.root, 'nothing.json')],
    code: 3,
    stderr: /not a trust file: \/v is missing/,
  },
  {
    name: 'evidence verify: a trust file that is not there',
    args: () => ['evidence', 'verify', world.bundle, '--trust', join(world.root, 'none.json')],
    code: 3,
    stderr: /none\.json cannot be used: it does not exist/,
  },
  {
    name: 'evidence verify: no vkey',
    args: () => ['evidence', 'verify', world.bundle, '--vkey', 'PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw='],
    code: 2,
    stderr: /--vkey: .* is not the vkey of a log key/,
  },
  {
    name: 'evidence verify: no bundle',
    args: () => ['evidence', 'verify', join(world.root, 'nothing.json'), '--trust', world.trust],
    code: 1,
    stdout: /^form +FAILED +This is not a bundle: \/bundleId is missing\.\nINVALID\n$/,
  },
  {
    name: 'evidence verify: no JSON',
    args: () => ['evidence', 'verify', join(world.root, 'garbage.json')],
    code: 1,
    stdout: /^form +FAILED .*\nINVALID\n$/,
  },
  {
    name: 'evidence export: what an agent sent does not steer a terminal',
    args: () => ['evidence', 'export', world.decision, ...at()],
    code: 0,
    stdout: /^[^\p{Cf}\u0080-\u009f]*"note":"\\u202e\\u009b31m"[^\p{Cf}\u0080-\u009f]*$/u,
  },
  {
    name: 'evidence verify: no file',
    args: () => ['evidence', 'verify', join(world.root, 'none.json')],
    code: 3,
    stderr: /none\.json cannot be used: it does not exist/,
  },
  {
    name: 'signing-keys show',
    args: () => ['signing-keys', 'show', ...at()],
    code: 0,
    stdout: /^Pin this log key: gate-\w+\+[0-9a-f]{8}\+A.{43}\nPURPOSE +STATUS.*\nlog +active .*\n/,
  },
  {
    name: 'signing-keys show --json',
    args: () => ['signing-keys', 'show', '--limit', '1', ...at(), '--json'],
    code: 0,
    json: (keys) =>
      assert.deepEqual(
        (keys as unknown as { id: string }[]).map(({ id }) => id),
        [world.logKeyId],
      ),
  },
  {
    name: 'signing-keys show: no data',
    args: () => ['signing-keys', 'show', '--data', join(world.root, 'none')],
    code: 3,
    stderr: /none/,
  },
  {
    name: 'signing-keys export-trust',
    args: () => ['signing-keys', 'export-trust', ...at()],
    code: 0,
    json: ({ v, logKeys }) => assert.deepEqual([v, logKeys], [1, [{ vkey: world.vkey, until: null }]]),
  },
  {
    name: 'signing-keys export-seal',
    args: () => ['signing-keys', 'export-seal', '--out', join(world.root, 'seal-key.json'), ...at(), '--json'],
    code: 0,
    json: ({ logKey }) => assert.equal(logKey, world.logKeyId),
  },
  {
    name: 'signing-keys revoke: the one in use',
    args: () => ['signing-keys', 'revoke', world.logKeyId, '--since', '2026-01-31T12:00:00Z', ...at()],
    code: 2,
    stderr: /in use; rotate it first/,
  },
  {
    name: 'signing-keys revoke: unknown',
    args: () => ['signing-keys', 'revoke', 'sha256:x', '--since', '2026-01-31T12:00:00Z', ...at()],
    code: 3,
    stderr: /There is no signing key sha256:x/,
  },
  {
    name: 'signing-keys revoke: no time',
    args: () => ['signing-keys', 'revoke', world.logKeyId, '--since', 'yesterday', ...at()],
    code: 2,
    stderr: /--since: yesterday is not a time/,
  },

  {
    name: 'killswitch status: none',
    args: () => [...stop('status'), ...at()],
    code: 0,
    stdout: /No kill switch is active/,
  },
  {
    name: 'killswitch status: one',
    args: () => ['killswitch', 'status', '--tenant', 'stopped', ...at()],
    code: 1,
    stdout: /^L3 stopped since .*: drill\n$/,
  },
  {
    name: 'killswitch status --json',
    args: () => ['killswitch', 'status', '--tenant', 'stopped', ...at(), '--json'],
    code: 1,
    json: ({ active, level, scope }) => assert.deepEqual([active, level, scope], [true, 'L3', 'stopped']),
  },
  {
    name: 'killswitch status: the other environment is not stopped',
    args: () => ['killswitch', 'status', '--tenant', 'stopped', '--environment', 'test', ...at()],
    code: 0,
  },
  {
    name: 'killswitch: unknown tenant',
    args: () => ['killswitch', 'trigger', '--tenant', 'acne', '--level', 'L3', '--reason', 'x', ...at()],
    code: 3,
    stderr: /no tenant acne/,
  },
  {
    name: 'killswitch: unknown environment',
    args: () => [...stop('trigger', '--environment', 'prod', '--level', 'L3', '--reason', 'x'), ...at()],
    code: 2,
    stderr: /live, test/,
  },
  {
    name: 'killswitch: unknown level',
    args: () => [...stop('trigger', '--level', 'L9', '--reason', 'x'), ...at()],
    code: 2,
    stderr: /L1, L2, L3, L4/,
  },
  {
    name: 'killswitch: no reason',
    args: () => [...stop('trigger', '--level', 'L3'), ...at()],
    code: 2,
    stderr: /--reason/,
  },
  {
    name: 'killswitch: unknown domain',
    args: () => [
      ...stop('trigger', '--level', 'L2', '--scope', 'fiance', '--reason', 'x', '--policies', world.policies),
      ...at(),
    ],
    code: 2,
    stderr: /known domains: finance, communication/,
  },
  {
    name: 'killswitch: malformed scope',
    args: () => [...stop('trigger', '--level', 'L1', '--scope', 'a b', '--reason', 'x'), ...at()],
    code: 2,
    stderr: /not an action or a pattern/,
  },
  {
    name: 'killswitch recover: none',
    args: () => [...stop('recover', '--comment', 'x'), ...at()],
    code: 3,
    stderr: /No such kill switch is active\. See `gate-sidecar killswitch status`/,
  },
  { name: 'killswitch recover: no comment', args: () => [...stop('recover'), ...at()], code: 2, stderr: /--comment/ },

  {
    name: 'health: nobody there',
    args: () => ['health', '--port', '1', '--json'],
    code: 1,
    json: ({ ready, message }) => assert.ok(ready === false && /ECONNREFUSED/.test(String(message))),
  },
  { name: 'health: no port', args: () => ['health', '--port', 'http'], code: 2, stderr: /--port: "http"/ },
  { name: 'openapi', args: () => ['openapi'], code: 0, json: ({ openapi }) => assert.equal(openapi, '3.1.0') },
  {
    name: 'init: a folder for named tools',
    args: () => [
      'init',
      '--tenant',
      'named',
      '--policies',
      world.made,
      '--tool',
      'get_balance',
      '--tool',
      'send_money',
    ],
    code: 0,
    stdout:
      /^wrote .*named\/main\.yaml\nwrote .*main\.test\.yaml\n(?:wrote .*\/schemas\/(?:policy|test)\.json\n)*\nallow: 1 tool by rule reading\nrequire_approval: 1 tool by rule destructive\n\nNext:\n {2}gate-sidecar validate --policies .*\n {2}gate-sidecar test --tenant named --policies .*\n {2}gate-sidecar check .*\n {2}gate-sidecar keys create --tenant named --role agent\n$/,
  },
  {
    name: 'init --json: names that had to change, and hostile ones',
    args: () => ['init', '--tenant', 'json', '--policies', world.made, '--tool', 'a b\u001b[31m', '--json'],
    code: 0,
    json: ({ renamed, rules, files, notes, next }) => {
      assert.deepEqual(renamed, [{ tool: 'a b\u001b[31m', action: 'a_b_31m' }])
      assert.deepEqual(rules, [{ id: 'other', effect: 'require_approval', actions: ['a_b_31m'] }])
      assert.ok(Array.isArray(files) && files.length >= 2)
      assert.equal(Array.isArray(next) && next.length, 4)
      assert.deepEqual(notes, [])
    },
  },
  {
    name: 'init: names that would be one action',
    args: () => ['init', '--tenant', 'two', '--policies', world.made, '--tool', 'a b', '--tool', 'a_b'],
    code: 3,
    stderr: /The tools "a b" and "a_b" would both be the action a_b; rename one/,
  },
  {
    name: 'init: a folder that holds anything is left as it is',
    args: () => ['init', '--tenant', 'acme', '--policies', world.policies],
    code: 3,
    stderr: /acme is not empty, and init overwrites nothing; choose another --tenant or --policies/,
  },
  {
    name: 'init: a malformed tenant',
    args: () => ['init', '--tenant', '../x', '--policies', world.made],
    code: 2,
    stderr: /--tenant: \.\.\/x is not a tenant id/,
  },
  { name: 'init: no tenant', args: () => ['init'], code: 2, stderr: /--tenant/ },
  {
    name: 'init: a tool without a name',
    args: () => ['init', '--tenant', 'x', '--policies', world.made, '--tool', ''],
    code: 2,
    stderr: /--tool: Tool 1 of the list has no name/,
  },
  {
    name: 'init: a list that is no JSON',
    args: () => ['init', '--tenant', 'x', '--policies', world.made, '--tools', join(world.root, 'garbage.json')],
    code: 3,
    stderr: /garbage\.json: Line 1 is "not json"/,
  },
  {
    name: 'init: a list that is none',
    args: () => ['init', '--tenant', 'x', '--policies', world.made, '--tools', join(world.root, 'nothing.json')],
    code: 3,
    stderr: /nothing\.json: The object has no array called tools/,
  },
  {
    name: 'init: a list that is not there',
    args: () => ['init', '--tenant', 'x', '--policies', world.made, '--tools', join(world.root, 'none.json')],
    code: 3,
    stderr: /none\.json cannot be used: it does not exist/,
  },
  {
    name: 'schema policy',
    args: () => ['schema', 'policy'],
    code: 0,
    json: ({ $schema, $id, title }) =>
      assert.deepEqual(
        [$schema, $id, title],
        ['https://json-schema.org/draft/2020-12/schema', 'urn:gate-sidecar:schema:policy', 'gate-sidecar policy'],
      ),
  },
  {
    name: 'schema test --json: on one line',
    args: () => ['schema', 'test', '--json'],
    code: 0,
    stdout: /^\{"\$schema":.*"urn:gate-sidecar:schema:test".*\}\n$/,
  },
  {
    name: 'schema config',
    args: () => ['schema', 'config'],
    code: 0,
    json: ({ $id, additionalProperties }) =>
      assert.deepEqual([$id, additionalProperties], ['urn:gate-sidecar:schema:config', false]),
  },
  { name: 'schema: unknown', args: () => ['schema', 'polcy'], code: 2, stderr: /Did you mean policy/ },
  {
    name: 'config print: for people',
    args: () => ['config', 'print', '--port', '80'],
    code: 0,
    stdout:
      /^SETTING +VALUE\ndata +\.\/data\nstore\nstorePassword\nmaxStaleness +2s\nname\npolicies +\.\/policies\nhost +127\.0\.0\.1\nport +80\nsocket\n/,
  },
  {
    name: 'config print --show-origin',
    args: () => ['config', 'print', '--show-origin', '--allowed-hosts', 'A.example,b'],
    code: 0,
    stdout:
      /^SETTING +VALUE +FROM\n[\s\S]*\nallowedHosts +a\.example,b +flag --allowed-hosts\n[\s\S]*\nlogLevel +info +default\n$/,
  },
  { name: 'config print: no port', args: () => ['config', 'print', '--port', 'x'], code: 2, stderr: /--port: "x"/ },
  {
    name: 'completion --json',
    args: () => ['completion', 'fish', '--json'],
    code: 0,
    json: ({ shell, script }) => assert.ok(shell === 'fish' && /complete -c gate-sidecar/.test(String(script))),
  },
  { name: 'completion: unknown shell', args: () => ['completion', 'tcsh'], code: 2, stderr: /bash, zsh, fish/ },
  { name: 'serve: no port', args: () => ['serve', '--port', '65536'], code: 2, stderr: /--port: "65536"/ },
  {
    name: 'serve: no log level',
    args: () => ['serve', '--log-level', 'loud'],
    code: 2,
    stderr: /debug, info, warn, error, silent/,
  },
  {
    name: 'serve: no policies folder',
    args: () => ['serve', '--port', '0', ...at(), '--policies', join(world.root, 'none')],
    code: 2,
    stderr: /no policies folder/,
  },
  {
    name: 'serve: an address of another machine',
    args: () => ['serve', '--host', '192.0.2.1', '--port', '0', ...at(), '--policies', world.policies],
    code: 3,
    stderr: /Cannot listen on 192\.0\.2\.1.*--host/,
  },
]

describe('each command', () => {
  for (const { name, args, code, stdout, stderr, json } of ROWS) {
    test(name, async () => {
      // A service is a process: it takes over signals and the end.
      const ended = await (name.startsWith('serve') ? runBuilt : run)(args())
      assert.equal(ended.code, code, ended.stderr)
      if (stdout !== undefined) assert.match(ended.stdout, stdout)
      if (stderr !== undefined) assert.match(ended.stderr, stderr)
      else assert.equal(ended.stderr, '')
      assert.doesNotMatch(ended.stderr, /\n {4}at /, 'a stack trace')
      json?.(JSON.parse(ended.stdout))
    })
  }
})

test('keys revoke ends a key, and again is no fault', async () => {
  const made = JSON.parse(ok(await run(['keys', 'create', '--tenant', 'acme', '--role', 'agent', ...at(), '--json'])))
  assert.match(ok(await run(['keys', 'revoke', made.id, ...at()])), new RegExp(`${made.id} is revoked`))
  assert.notEqual(JSON.parse(ok(await run(['keys', 'revoke', made.id, ...at(), '--json']))).revokedAt, null)
  assert.match(ok(await run(['keys', 'list', ...at()])), new RegExp(`${made.id}.*revoked`))
})

test('killswitch trigger, status, recover: the way of a stop', async () => {
  ok(await run(['tenants', 'create', 'delta', ...at()]))
  const base = ['--tenant', 'delta', ...at(), '--policies', world.policies]
  const triggered = JSON.parse(
    ok(await run(['killswitch', 'trigger', '--level', 'L1', '--scope', 'x.*', '--reason', 'r', ...base, '--json'])),
  )
  assert.deepEqual([triggered.active, triggered.level, triggered.scope, triggered.covers], [true, 'L1', 'x.*', []])
  assert.match(
    triggered.warning,
    /^No recent action matches x\.\*, and no policies of delta are known; check its spelling/,
  )
  assert.equal((await run(['killswitch', 'status', ...base])).code, 1)
  const told = await run(['killswitch', 'trigger', '--level', 'L1', '--scope', 'x.*', '--reason', 'r', ...base])
  assert.match(told.stdout, /^L1 x\.\* since .*\nWARNING: .*check its spelling/)
  ok(await run(['killswitch', 'trigger', '--level', 'L3', '--reason', 'r', ...base]))
  const recovered = ok(await run(['killswitch', 'recover', '--comment', 'over', ...base]))
  assert.match(recovered, /^Ended: L3 delta\nStill active:\nL1 x\.\* since [^\n]*\n$/)
  const last = ok(await run(['killswitch', 'recover', '--comment', 'over', ...base]))
  assert.equal(last, 'Ended: L1 x.*\nNo kill switch is active.\n')
  assert.equal((await run(['killswitch', 'status', ...base])).code, 0)
})

test('an answer that cannot be written is no answer: 3, and what to think of it', {
  skip: !existsSync('/dev/full'),
}, () => {
  for (const command of ['health --port 1', 'tenants list']) {
    const line = `"${process.execPath}" "${BIN}" ${command} ${command.startsWith('h') ? '' : `--data "${world.data}"`} > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' })
    assert.match(stderr, /^gate-sidecar: stdout cannot be written: ENOSPC[^\n]*\n$/)
    assert.equal(status, 3)
  }
})

for (const args of [
  ['keys', 'create', '--tenant', 'no tenant', '--role', 'agent'],
  ['tenants', 'create', 'no tenant'],
]) {
  test(`${args.slice(0, 2).join(' ')}: a refused tenant leaves no data behind`, async () => {
    const data = join(temporaryFolder(), 'data')
    const { code, stderr } = await run([...args, '--data', data])
    assert.equal(code, 2)
    assert.match(stderr, /cannot name a tenant/)
    assert.equal(existsSync(data), false)
  })
}
