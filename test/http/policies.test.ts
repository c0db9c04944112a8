import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run } from '../cli/program.ts'
import { ACME_POLICY, type Answer, inThisThread, startGate, temporaryFolder, writeFiles } from '../helpers.ts'
import { assertDone, assertRefused, entries, raw, requestText } from './support.ts'

const gate = await startGate({ after })
const operator = await gate.key({ roles: ['operator'] })
const PATH = '/policies/validate'

interface Sent {
  files: { name: string; text: string }[]
  lists?: { path: string; text: string }[]
}

const validate = (body: object, key = operator): Promise<Answer> => gate.call(key, 'POST', PATH, body)
const header = 'apiVersion: gate-sidecar/v1\ntenant: acme\n'
const file = (text: string, name = 'main.yaml') => ({ name, text })
const WITH_LIST = `${header}lists: {bad: {file: lists/bad.txt}}\nrules:\n  - {id: a, actions: ["**"], effect: deny, reason: A., when: {fact: agent, operator: inList, value: bad}}\n`

// Each is also put into a folder and given to the command: the faults are the same.
const SETS: { name: string; sent: Sent; valid: boolean; codes: string[] }[] = [
  { name: 'a valid set', sent: { files: [file(ACME_POLICY)] }, valid: true, codes: [] },
  {
    name: 'faults in several files, a byte order mark, CRLF and tabs',
    sent: {
      files: [
        file(`\uFEFF${header}ruels: []\r\n`),
        file(`${header}rules:\n\t- {id: x}\n`, 'b.yml'),
        file('{"apiVersion": "gate-sidecar/v1", "tenant": "other"}', 'c.json'),
      ],
    },
    valid: false,
    codes: ['GATE1101', 'GATE1003', 'GATE1110'],
  },
  {
    name: 'a name that two files declare',
    sent: { files: [file(ACME_POLICY), file(ACME_POLICY, 'b.yaml')] },
    valid: false,
    codes: [],
  },
  { name: 'no file', sent: { files: [] }, valid: false, codes: ['GATE1018'] },
  { name: 'an empty file', sent: { files: [file('')] }, valid: false, codes: ['GATE1005'] },
  {
    name: 'a file that is too large',
    sent: { files: [file('#'.repeat(1024 * 1024 + 1))] },
    valid: false,
    codes: ['GATE1001'],
  },
  {
    name: 'a test of another shape',
    sent: { files: [file(ACME_POLICY), file('tests: 3\n', 'main.test.yaml')] },
    valid: false,
    codes: [],
  },
  {
    name: 'a list that is there',
    sent: { files: [file(WITH_LIST)], lists: [{ path: 'lists/bad.txt', text: 'eve\n' }] },
    valid: true,
    codes: [],
  },
  { name: 'a list that is not there', sent: { files: [file(WITH_LIST)] }, valid: false, codes: ['GATE1213'] },
  {
    name: 'a list without values, and one that nobody names',
    sent: {
      files: [file(WITH_LIST)],
      lists: [
        { path: 'lists/bad.txt', text: '# none\n' },
        { path: 'lists/other.txt', text: 'x' },
      ],
    },
    valid: true,
    codes: ['GATE2009'],
  },
  {
    name: 'a list outside the folder',
    sent: { files: [file(WITH_LIST.replace('lists/bad.txt', '../../secret.txt'))] },
    valid: false,
    codes: ['GATE1213'],
  },
]

/** Returns the result of the `validate` command for the same bytes in a folder. */
async function commanded({ files, lists = [] }: Sent): Promise<{ valid: boolean; diagnostics: object[] }> {
  const root = temporaryFolder()
  writeFiles(root, { 'acme/lists/README': '' })
  writeFiles(join(root, 'acme'), Object.fromEntries(files.map(({ name, text }) => [name, text])))
  writeFiles(join(root, 'acme'), Object.fromEntries(lists.map(({ path, text }) => [path, text])))
  const { stdout, stderr } = await run(['validate', '--policies', root, '--format', 'json'])
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

for (const { name, sent, valid, codes } of SETS) {
  test(`validate: ${name}: as the command says`, async () => {
    const answer = await validate(sent)
    assertDone(answer)
    const { data } = answer.body
    const found: { code: string; endColumn?: number; excerpt?: string; excerptColumn?: number }[] = data.diagnostics
    for (const code of codes)
      assert.ok(
        found.some((fault) => fault.code === code),
        `${code} in ${JSON.stringify(found)}`,
      )
    assert.equal(data.valid, valid)
    assert.match(String(data.digest), valid ? /^sha256:[0-9a-f]{64}$/ : /^null$/)
    assert.deepEqual(
      {
        valid: data.valid,
        diagnostics: found.map(({ endColumn: _, excerpt: __, excerptColumn: ___, ...shown }) => shown),
      },
      await commanded(sent),
    )
  })
}

test('validate: says what the set would be: its digest is the one that decides when the same files are in force', async () => {
  const { data } = (await validate({ tenantId: 'acme', files: [file(ACME_POLICY)] })).body
  const inForce = (await gate.call(operator, 'GET', '/policies')).body.data
  assert.deepEqual([data.digest, data.files, data.rules, data.factors], [inForce.digest, ['main.yaml'], 4, 1])
})

const REFUSED: {
  name: string
  body: object
  error: 'invalid_request' | 'tenant_mismatch' | 'invalid_json'
  path?: string
}[] = [
  { name: 'no files', body: {}, error: 'invalid_request' },
  { name: 'an unknown member', body: { files: [], file: [] }, error: 'invalid_request' },
  { name: 'an unknown member of a file', body: { files: [{ ...file(''), size: 1 }] }, error: 'invalid_request' },
  { name: 'a text that is none', body: { files: [{ name: 'a.yaml', text: null }] }, error: 'invalid_request' },
  { name: 'lists as a mapping', body: { files: [], lists: { 'a.txt': '' } }, error: 'invalid_request' },
  { name: 'another tenant', body: { tenantId: 'other', files: [] }, error: 'tenant_mismatch' },
  {
    name: 'more files than are taken',
    body: { files: Array.from({ length: 1001 }, () => file('')) },
    error: 'invalid_request',
  },
  { name: 'a lone surrogate', body: { files: [file('\ud800')] }, error: 'invalid_json' },
  ...[
    'a/b.yaml',
    '../a.yaml',
    'a\\b.yaml',
    '/etc/a.yaml',
    '.a.yaml',
    'a.txt',
    'yaml',
    '',
    'a\n.yaml',
    'a\0.yaml',
    'A.YAML',
    `${'a'.repeat(256)}.yaml`,
  ].map((name) => ({
    name: `the name ${JSON.stringify(name.slice(0, 20))}`,
    body: { files: [file(ACME_POLICY), file('', name)] },
    error: 'invalid_request' as const,
    path: '/files/1/name',
  })),
  { name: 'a name twice', body: { files: [file(''), file('')] }, error: 'invalid_request', path: '/files/1/name' },
  ...['../a.txt', '/etc/passwd', 'lists/../../a', 'https://a', '.', 'C:/a', 'a\\b', 'a\0', ''].map((path) => ({
    name: `the path ${JSON.stringify(path)}`,
    body: { files: [], lists: [{ path, text: '' }] },
    error: 'invalid_request' as const,
    path: '/lists/0/path',
  })),
  {
    name: 'a path twice',
    body: {
      files: [],
      lists: [
        { path: 'a', text: '' },
        { path: 'a', text: '' },
      ],
    },
    error: 'invalid_request',
    path: '/lists/1/path',
  },
]

for (const { name, body, error, path } of REFUSED) {
  test(`validate refuses ${name}`, async () => {
    const answer = await validate(body)
    assertRefused(answer, error)
    if (path !== undefined)
      assert.deepEqual(
        answer.body.details.map((detail: { path: string }) => detail.path),
        [path],
      )
  })
}

test('validate: three files of the largest size fit, and a body that is larger is refused', async () => {
  const full = (name: string) => file(`${header}${'#'.repeat(1024 * 1024 - header.length)}`, name)
  assertDone(await validate({ files: [full('a.yaml'), full('b.yaml'), full('c.yaml')] }))
  const body = JSON.stringify({ files: ['a', 'b', 'c', 'd'].map((name) => full(`${name}.yaml`)) })
  const tooLarge = await raw(
    gate,
    requestText(operator, `POST ${PATH}`, { 'Content-Length': String(body.length) }, ' '),
  )
  assertRefused(tooLarge, 'payload_too_large')
})

test('validate keeps and records nothing, and opens no file', async () => {
  const before = [await entries(gate), (await gate.call(operator, 'GET', '/policies')).body.data.digest]
  // A list of that path lies in the folder, and is not looked at.
  writeFiles(join(gate.dir, 'policies/acme'), { 'lists/bad.txt': 'eve\n' })
  const { data } = (await validate({ files: [file(WITH_LIST)] })).body
  assert.deepEqual(
    data.diagnostics.map(({ code }: { code: string }) => code),
    ['GATE1213'],
  )
  assert.deepEqual([await entries(gate), (await gate.call(operator, 'GET', '/policies')).body.data.digest], before)
})

test('validate: of a tenant one draft is worked on and four wait, whatever its keys; others have the second place', async (t) => {
  const ends: (() => void)[] = []
  const { policyWorker } = inThisThread
  const slow = await startGate(t, {
    threads: {
      ...inThisThread,
      policyWorker: {
        ...policyWorker,
        async validate(source) {
          if (source.tenant === 'acme') await new Promise<void>((resolve) => ends.push(resolve))
          return policyWorker.validate(source)
        },
      },
    },
  })
  const [a, inTest, other] = [
    await slow.key(),
    await slow.key({ environment: 'test' }),
    await slow.key({ tenant: 'other' }),
  ]
  const ask = (key: typeof a): Promise<Answer> => slow.call(key, 'POST', PATH, { files: [file(ACME_POLICY)] })
  const ofOneTenant = [a, a, inTest, a, inTest, a].map(ask)
  assertRefused(await Promise.race(ofOneTenant), 'overloaded')
  assertDone(await ask(other))
  assert.equal(ends.length, 1)
  const ending = setInterval(() => ends.shift()?.(), 1)
  const statuses = (await Promise.all(ofOneTenant)).map(({ status }) => status)
  clearInterval(ending)
  assert.deepEqual(statuses.sort(), [200, 200, 200, 200, 200, 503])
})

test('validate: a set that does not load within its limits is not valid, and says so', async (t) => {
  const fault = 'takes more than 5 s to load'
  const { policyWorker } = inThisThread
  const slow = await startGate(t, {
    threads: { ...inThisThread, policyWorker: { ...policyWorker, validate: async () => ({ fault }) } },
  })
  const { data } = (await slow.call(await slow.key(), 'POST', PATH, { files: [file('a: 1'), file('', 'a.test.yaml')] }))
    .body
  assert.deepEqual([data.valid, data.digest, data.files], [false, null, ['main.yaml']])
  assert.deepEqual(
    data.diagnostics.map(({ code, message }: { code: string; message: string }) => [code, message]),
    [['GATE1020', `The policy set ${fault}.`]],
  )
})

const DENYING = `${ACME_POLICY}  - {id: stop, actions: ["**"], effect: deny, reason: Nothing for now.}\n`
const RELOAD = '/policies/reload'

test('reload: what is in the folder is in force when it answers, and the entry names who asked', async (t) => {
  const still = await startGate(t, { watch: 'off' })
  const key = await still.key({ roles: ['operator', 'auditor', 'agent'], identity: 'ann' })
  writeFileSync(join(still.dir, 'policies/acme/main.yaml'), DENYING)
  const answer = await still.call(key, 'POST', RELOAD, { tenantId: 'acme' })
  assertDone(answer)
  const { current, watching, digest, rules } = answer.body.data
  assert.deepEqual([current, watching, rules], [true, false, 5])
  const check = await still.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  assert.deepEqual([check.body.data.decision, check.body.data.policyDigest], ['deny', digest])
  const [entry] = (await still.call(key, 'GET', '/audit/chain?eventType=policy.loaded')).body.data
  assert.deepEqual([entry.data.changes.digest, entry.actor.id, entry.actor.identity], [digest, key.id, 'ann'])
})

test('reload: a set with faults is answered with 200: not current, what is wrong, and what is in force', async (t) => {
  const still = await startGate(t, { watch: 'off' })
  const key = await still.key()
  const before = (await still.call(key, 'GET', '/policies')).body.data
  writeFileSync(join(still.dir, 'policies/acme/main.yaml'), `${ACME_POLICY}nonsense: 1\n`)
  const answer = await still.call(key, 'POST', RELOAD)
  assertDone(answer)
  const { data } = answer.body
  assert.deepEqual([data.current, data.digest, data.faults.length], [false, before.digest, 1])
  assert.equal(data.diagnostics[0].code, 'GATE1101')
  const [entry] = (await still.call(key, 'GET', '/audit/chain?eventType=policy.rejected')).body.data
  assert.equal(entry.actor.id, key.id)
  assert.ok(data.checkedAt > before.checkedAt)
})

test('reload takes no body, an empty one, or the tenant, and nothing else', async () => {
  assertDone(await gate.call(operator, 'POST', RELOAD))
  assertDone(await gate.call(operator, 'POST', RELOAD, {}))
  assertDone(await raw(gate, requestText(operator, `POST ${RELOAD}`, { 'Content-Length': '0' })))
  assertRefused(await gate.call(operator, 'POST', RELOAD, { tenantId: 'other' }), 'tenant_mismatch')
  assertRefused(await gate.call(operator, 'POST', RELOAD, { tenant: 'acme' }), 'invalid_request')
  assertRefused(await gate.call(operator, 'POST', RELOAD, '{'), 'invalid_json')
  assertRefused(
    await raw(gate, requestText(operator, `POST ${RELOAD}`, { 'Content-Type': 'text/plain' }, '{}')),
    'unsupported_media_type',
  )
  assertRefused(await gate.call(operator, 'POST', `${RELOAD}?force=1`), 'invalid_request')
})

test('reload: a test key cannot, since the policies are those of live agents too', async () => {
  assertRefused(
    await gate.call(await gate.key({ roles: ['operator'], environment: 'test' }), 'POST', RELOAD),
    'forbidden',
  )
})

test('reload: of a tenant without a folder nothing comes, and the service stays ready', async () => {
  const stranger = await gate.key({ tenant: 'nobody' })
  const { data } = (await gate.call(stranger, 'POST', RELOAD)).body
  assert.deepEqual([data.current, data.digest, data.faults], [false, null, []])
  assertDone(await gate.call(operator, 'GET', '/readyz'))
})

test('reload: many at once share attempts, and never two compile one tenant at a time', async (t) => {
  let [running, most, compiled] = [0, 0, 0]
  const { policyWorker } = inThisThread
  const counted = await startGate(t, {
    threads: {
      ...inThisThread,
      policyWorker: {
        ...policyWorker,
        async compileAndTest(source) {
          running += 1
          compiled += 1
          most = Math.max(most, running)
          await new Promise((done) => setTimeout(done, 700))
          running -= 1
          return policyWorker.compileAndTest(source)
        },
      },
    },
  })
  const key = await counted.key()
  compiled = 0
  writeFileSync(join(counted.dir, 'policies/acme/main.yaml'), DENYING)
  const asked = await Promise.all(Array.from({ length: 20 }, () => counted.call(key, 'POST', RELOAD)))
  for (const { body } of asked) assert.deepEqual([body.data.current, body.data.rules], [true, 5])
  assert.deepEqual([most, compiled], [1, 1])
})
