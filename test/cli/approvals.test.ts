import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { ErrorCode } from '../../src/base/errors.ts'
import { type KeyOptions, withCaller, withReader } from '../../src/cli/caller.ts'
import { ROUTES } from '../../src/keys/routes.ts'
import { POLICY } from '../approvals/scenes.ts'
import { type Answer, startGate } from '../helpers.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'
import { memoryIo } from './io.ts'
import { type RunOptions, run } from './program.ts'

/** Keys have the same rights on the host's command line as over HTTP, on the same file and at the same time. */
const gate = await startGate({ after }, { policies: { 'acme/main.yaml': POLICY } })
const data = join(gate.dir, 'data')
const DATA = ['--data', data]
let n = 0

const keys: Record<string, Awaited<ReturnType<typeof gate.key>>> = {
  agent: await gate.key({ roles: ['agent'] }),
  other: await gate.key({ roles: ['agent'] }),
  ann: await gate.key({ roles: ['approver'], identity: 'ann' }),
  nameless: await gate.key({ roles: ['approver'] }),
  auditor: await gate.key({ roles: ['auditor'] }),
  tester: await gate.key({ environment: 'test' }),
  stranger: await gate.key({ tenant: 'beta' }),
  admin: await gate.key({ roles: ['admin'] }),
  revoked: await gate.key({ roles: ['approver'] }),
}
const secretOf = (name: string): string => keys[name]?.secret ?? ''
await http('admin', 'DELETE', `/keys/${keys.revoked?.id}`)

async function out(args: string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await run(args, options)
  assert.equal(code, 0, stderr)
  return stdout
}

/** Options of `run` for a command that has its key in the environment. */
const as = (name: string): RunOptions => ({ env: { GATE_SIDECAR_KEY: secretOf(name) } })
const json = async (args: string[], options: RunOptions = {}) =>
  JSON.parse(await out([...args, ...DATA, '--json'], options))

async function http(name: string, method: string, path: string, body?: object): Promise<Answer['body']> {
  const key = { id: '', secret: secretOf(name), tenant: 'acme' }
  return (await gate.call(key, method, path, body)).body.data
}

const ask = async (action = 'pay.one', at = ++n, name = 'agent'): Promise<{ decision: string; approvalId: string }> =>
  http(name, 'POST', '/gate/check', {
    tenantId: 'acme',
    action,
    context: {
      n: at,
      note: 'a\u001b[31m\u202e\u009bruby',
      payee: 'p\u0430ypal, \u03a1ayments – caf\u00e9 \u043f\u0440\u0438\u0432\u0435\u0442',
    },
  })
const statusOf = async (id: string): Promise<string> => (await http('nameless', 'GET', `/approvals/${id}`)).status

test('approve: a reader that waits at a running server sees it; the secret comes from a pipe', async () => {
  const { approvalId } = await ask()
  const waiting = http('agent', 'GET', `/approvals/${approvalId}?wait=25`)
  const args = ['approvals', 'approve', approvalId, '--comment', 'fine', '--key', '-', ...DATA, '--json']
  const view = JSON.parse(await out(args, { input: `${secretOf('ann')}\n` }))
  assert.equal((await waiting).status, 'approved')
  assert.deepEqual(view, await http('ann', 'GET', `/approvals/${approvalId}`))
  const [vote] = view.votes
  assert.deepEqual([vote.principal, vote.approverId, vote.comment], ['ann', 'ann', 'fine'])
  assert.equal((await ask('pay.one', n)).decision, 'allow')
})

test('approve: votes are told by number until the quorum is met', async () => {
  const { approvalId } = await ask('pay.two')
  const approve = ['approvals', 'approve', approvalId, ...DATA]
  assert.equal(await out(approve, as('ann')), `${approvalId} is pending: 1 of 2 votes.\n`)
  assert.match(await out([...approve, '--approver-id', 'bob'], as('nameless')), /is approved: the same request/)
})

test('reject: the request is denied with the reason', async () => {
  const { approvalId } = await ask()
  const rejected = await out(['approvals', 'reject', approvalId, '--reason', 'unknown', ...DATA], as('ann'))
  assert.match(rejected, new RegExp(`^${approvalId} is rejected: the same request is denied until 20`))
  assert.equal((await ask('pay.one', n)).decision, 'deny')
})

test('cancel: by the requester, and the same request needs a new approval', async () => {
  const { approvalId } = await ask()
  assert.match(await out(['approvals', 'cancel', approvalId, ...DATA], as('agent')), /is cancelled/)
  assert.equal(await statusOf(approvalId), 'cancelled')
  assert.notEqual((await ask('pay.one', n)).approvalId, approvalId)
})

test('list and show: a key sees what it may see over HTTP, the host sees all; nothing steers the terminal', async () => {
  const mine = (await ask()).approvalId
  const theirs = (await ask('pay.two', ++n, 'other')).approvalId
  const list = async (options?: RunOptions, more: string[] = ['--tenant', 'acme']): Promise<string[]> =>
    (await json(['approvals', 'list', ...more], options)).map(({ id }: { id: string }) => id)
  const [host, agent] = await Promise.all([list(), list(as('agent'), [])])
  assert.ok(host.includes(mine) && host.includes(theirs))
  assert.ok(agent.includes(mine) && !agent.includes(theirs))

  const shown = await out(['approvals', 'list', '--tenant', 'acme', '--limit', '1', ...DATA])
  assert.match(
    shown,
    /^ID +ACTION +STATUS +RISK +REQUESTED BY +VOTES +TIME LEFT\napr_\S+ +pay\.\w+ +pending .* 0\/\d +59m \d+s\nand \d+ more/,
  )
  const text = await out(['approvals', 'show', theirs, ...DATA])
  for (const part of [
    /votes +0 of 2/,
    /not bound +context\.toolCallId/,
    /rule +two/,
    /"payee": "p\\u\{430\}ypal, \\u\{3a1\}ayments – café привет"/,
    /"note": "a\\u001b\[31m\\u\{202e\}\\u\{9b\}ruby"/,
  ])
    assert.match(text, part)
  const raw = await out(['approvals', 'show', theirs, ...DATA, '--json'])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is there is what is asked
  for (const printed of [text, raw]) assert.doesNotMatch(printed, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  assert.deepEqual(JSON.parse(raw), await http('ann', 'GET', `/approvals/${theirs}`))
  assert.equal((await run(['approvals', 'show', theirs, ...DATA], as('agent'))).code, 3)
})

const REFUSED: [name: string, key: string, more: Partial<KeyOptions>, error: { code?: ErrorCode; message: RegExp }][] =
  [
    ['an empty key', '', {}, { code: 'unauthenticated', message: /not valid/ }],
    ['a revoked key', 'revoked', {}, { code: 'unauthenticated', message: /not valid/ }],
    ['a role too low', 'auditor', {}, { code: 'forbidden', message: /needs a key with role approver/ }],
    ['a key for another tenant', 'ann', { tenant: 'beta' }, { code: 'tenant_mismatch', message: /another tenant/ }],
    ['an admin key that names no tenant', 'admin', {}, { message: /name one with --tenant/ }],
    [
      'an admin key that names none there is',
      'admin',
      { tenant: 'acne' },
      { code: 'not_found', message: /no such tenant/ },
    ],
  ]

for (const [name, key, more, error] of REFUSED) {
  test(`${name} is refused before anything is done`, async () => {
    const options = { io: memoryIo().io, data, key: secretOf(key), ...more }
    const work = () => assert.fail('the command went on')
    await assert.rejects(withCaller(options, ROUTES.approve, work), error)
    await assert.rejects(withReader(options, ROUTES.approve, { check: 'allButApprovals' }, work), error)
  })
}

test('a key acts in its own chain; an admin key in that of the tenant that it names', async () => {
  const chainFor = (key: string, tenant?: string) =>
    withCaller(
      { io: memoryIo().io, data, key: secretOf(key), ...(tenant && { tenant }) },
      ROUTES.approve,
      async (_, { chain }) => chain,
    )
  assert.equal(await chainFor('ann'), 'acme/live')
  assert.equal(await chainFor('tester'), 'acme/test')
  assert.equal(await chainFor('admin', 'beta'), 'beta/live')
})

const UNDONE: [
  name: string,
  key: string | undefined,
  more: string[],
  input: string | undefined,
  code: number,
  stderr: RegExp,
][] = [
  ['no key', undefined, [], undefined, 2, /needs an API key: set GATE_SIDECAR_KEY/],
  ['an input without end', undefined, ['--key', '-'], 'x'.repeat(1e6), 3, /not valid/],
  ['a role too low', 'agent', [], undefined, 3, /needs a key with role approver/],
  ['a key of another tenant', 'stranger', [], undefined, 3, /no such approval/],
  ['a key without identity', 'nameless', [], undefined, 2, /name the approver with --approver-id/],
  ["another name than the key's", 'ann', ['--approver-id', 'bob'], undefined, 3, /belongs to ann/],
]

describe('a vote that is refused', () => {
  for (const [name, key, more, input, code, stderr] of UNDONE) {
    test(name, async () => {
      const { approvalId } = await ask()
      const options = { ...(key !== undefined && as(key)), ...(input !== undefined && { input }) }
      const ended = await run(['approvals', 'approve', approvalId, ...more, ...DATA], options)
      assert.equal(ended.code, code, ended.stderr)
      assert.match(ended.stderr, stderr)
      assert.doesNotMatch(ended.stdout + ended.stderr, /sk_(live|test)_\w|\n {4}at /)
      const { status, votes } = await http('nameless', 'GET', `/approvals/${approvalId}`)
      assert.deepEqual([status, votes], ['pending', []])
    })
  }
})

test('keys rotate: a running server follows, and the new key uses what the old one asked for', async () => {
  const { approvalId } = await ask('pay.one', ++n, 'other')
  const made = await json(['keys', 'rotate', keys.other?.id ?? '', '--overlap', '0'])
  assert.deepEqual(Object.keys(made), ['id', 'key', 'tenantId', 'roles', 'environment', 'expiresAt', 'replaces'])
  assert.equal(made.replaces.replacedBy, made.id)
  keys.successor = { id: made.id, secret: made.key, tenant: 'acme' }
  await until('the old key is refused', async () => (await ask('pay.one', n, 'other')) === undefined)
  assert.equal((await ask('pay.one', n, 'successor')).approvalId, approvalId)
  assert.match(
    await out(['keys', 'list', ...DATA]),
    new RegExp(`${keys.other?.id} .* expired +\\S+ +-\n[\\s\\S]*${made.id} .* active`),
  )
})

test('an approval that was altered in the file is neither shown nor voted for', async () => {
  const { approvalId } = await ask()
  tamper(data, (db) =>
    db.prepare("UPDATE approval SET body = replace(body, 'ruby', 'blue') WHERE id = ?").run(approvalId),
  )
  const commands = [
    ['show', approvalId],
    ['approve', approvalId],
    ['list', '--status', 'pending'],
  ]
  for (const command of commands) {
    const { code, stdout, stderr } = await run(['approvals', ...command, ...DATA], as('ann'))
    assert.deepEqual([code, stdout], [3, ''])
    assert.match(stderr, new RegExp(`stored approval ${approvalId} (does not match|differs from what) the audit chain`))
  }
  const vote = { tenantId: 'acme', approverId: 'ann' }
  for (const [method, path, body] of [
    ['GET', ''],
    ['POST', '/approve', vote],
    ['POST', '/reject', vote],
  ] as const) {
    const ann = { secret: secretOf('ann'), tenant: 'acme' }
    const answer = await gate.call(ann, method, `/approvals/${approvalId}${path}`, body)
    assert.deepEqual([answer.status, answer.body.error], [503, 'audit_unavailable'])
    assert.match(answer.body.message, new RegExp(`${approvalId} does not match the audit chain`))
  }
})
