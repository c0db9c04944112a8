import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startGate, temporaryFolder } from '../helpers.ts'
import { copyOf, tamper } from '../store/used-folder.ts'
import { follow, type RunOptions, run } from './program.ts'

/** The trail and single decisions, read from the file beside the service that writes them. */
const dir = temporaryFolder()
const gate = await startGate({ after }, { dir })
const DATA = ['--data', join(dir, 'data')]
const LIVE = ['--tenant', 'acme', ...DATA]
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
const owner = await gate.key()
const auditor = await gate.key({ roles: ['auditor'] })

const check = async (amount: number) =>
  (await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'payment.transfer', context: { amount } }))
    .body.data
const note = (text: string) =>
  gate.call(agent, 'POST', '/audit/log', { eventType: 'custom.note', data: { text: `${text}\u001b[2J` } })
const chain = async (query: string) => (await gate.call(owner, 'GET', `/audit/chain${query}`)).body.data

// The policies of a new tenant are noted within a second of its making.
while (!gate.server.store.state().policies.has('acme')) await new Promise((resolve) => setTimeout(resolve, 50))
const allowed = await check(5)
const held = await check(5000)
await note('first')

async function out(args: string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await run(args, options)
  assert.equal(code, 0, stderr)
  return stdout
}
const json = async (args: string[], options: RunOptions = {}) => JSON.parse(await out([...args, '--json'], options))

test('list: the entries as GET /audit/chain shows them', async () => {
  assert.deepEqual(await json(['audit', 'list', ...LIVE]), await chain(''))
  const decisions = [
    '--type',
    'gate.decision',
    '--order',
    'asc',
    '--limit',
    '1',
    '--from',
    '2026-01-01',
    '--to',
    '2999-01-01',
  ]
  const [first, ...rest] = await json(['audit', 'list', ...LIVE, ...decisions])
  assert.deepEqual([first.data.id, rest], [allowed.decisionId, []])
})

test('list: a day counts whole, a time to the millisecond', async () => {
  const [newest] = await chain('?limit=1')
  const today = newest.timestamp.slice(0, 10)
  const seqs = async (from: string, to: string) =>
    (await json(['audit', 'list', ...LIVE, '--from', from, '--to', to])).map(({ seq }: { seq: number }) => seq)
  assert.ok((await seqs(today, today)).includes(newest.seq))
  assert.ok(!(await seqs('2020-01-01T00:00:00Z', newest.timestamp)).includes(newest.seq))
})

test('list: for people, a line an entry; nothing steers the terminal', async () => {
  const text = await out(['audit', 'list', ...LIVE, '--limit', '4'])
  const [head, ...lines] = text.trimEnd().split('\n')
  assert.match(head ?? '', /^SEQ +TIME +TYPE +ACTOR +WHAT$/)
  const wanted = [
    /custom\.note +bot +\{"text":"first\\u001b\[2J"\}$/,
    new RegExp(`approval\\.requested +bot +${held.approvalId} payment\\.transfer pending Large`),
    new RegExp(`gate\\.decision +${agent.id} +require_approval payment\\.transfer ${held.decisionId}$`),
    new RegExp(`gate\\.decision +${agent.id} +allow payment\\.transfer ${allowed.decisionId}$`),
    /^and \d+ more/,
  ]
  assert.equal(lines.length, wanted.length, text)
  for (const [i, line] of lines.entries()) assert.match(line, wanted[i] ?? /^$/)
})

test('tail: the newest, oldest of them first, one JSON a line', async () => {
  const lines = (await out(['audit', 'tail', ...LIVE, '--limit', '2', '--json'])).trimEnd().split('\n')
  assert.deepEqual(lines.map((line) => JSON.parse(line)).reverse(), await chain('?limit=2'))
})

// With a limit: what goes on by itself and does not end would hold up all tests.
describe('tail --follow', { timeout: 60_000 }, () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`prints an entry once it is committed, and ends well when told to by ${signal}`, async (t) => {
      const tail = follow(t, ['audit', 'tail', ...LIVE, '--limit', '1', '--follow'])
      await tail.until(/^SEQ.*\n.*\n$/)
      await note(`for ${signal}`)
      const text = await tail.until(new RegExp(`"for ${signal}`))
      assert.equal(text.split(`for ${signal}`).length, 2)
      tail.stop(signal)
      assert.deepEqual(await tail.ended, { code: 0, signal: null, stderr: '' })
    })
  }

  test('ends when nobody reads any more', async (t) => {
    const tail = follow(t, ['audit', 'tail', ...LIVE, '--follow', '--json'])
    await tail.until(/\n$/)
    tail.closeOutput()
    await note('for nobody')
    assert.deepEqual(await tail.ended, { code: 0, signal: null, stderr: '' })
  })
})

test('log: an entry under the key, with what it claims beside', async () => {
  const log = ['audit', 'log', '--type', 'report.sent', '--event-data', '{"report": "q3"}', ...DATA]
  const as = ({ secret }: typeof agent): RunOptions => ({ env: { GATE_SIDECAR_KEY: secret } })
  const written = await json([...log, '--user-id', 'ann'], as(agent))
  assert.deepEqual(written, (await chain('?limit=1'))[0])
  assert.deepEqual(written.data, { report: 'q3' })
  assert.deepEqual([written.actor.id, written.actor.claimedUserId], [agent.id, 'ann'])
  const refused = async (args: string[], options: RunOptions) => {
    const { code, stderr } = await run([...args, ...DATA], options)
    return `${code} ${stderr}`
  }
  assert.match(await refused(log, as(auditor)), /^3 .*needs a key with role agent/)
  assert.match(await refused(['audit', 'log', '--type', 'key.mine', '--event-data', '{}'], as(agent)), /^2 .*reserved/)
  assert.match(
    await refused(['audit', 'log', '--type', 'a.b', '--event-data', '[]'], as(agent)),
    /^2 .*--event-data must/,
  )
  assert.deepEqual((await chain('?limit=1'))[0], written)
})

test('decisions show: all that is recorded, by either id', async () => {
  const found = await json(['decisions', 'show', held.decisionId, ...DATA])
  const { approvalId, decisionId } = held
  for (const member of ['timestamp', 'decision', 'reason', 'rule', 'decidedBy', 'retry', 'riskScore', 'policyDigest'])
    assert.deepEqual(found[member], held[member], member)
  assert.deepEqual([found.factors, found.unevaluable], [held.factors, held.unevaluable])
  assert.deepEqual(found.approval, { id: approvalId, status: 'pending' })
  assert.deepEqual(found.caller, { keyId: agent.id, identity: 'bot', name: null, roles: ['agent'] })
  assert.deepEqual(found.request, { tenantId: 'acme', action: 'payment.transfer', context: { amount: 5000 } })
  const [entry] = await chain('?eventType=gate.decision&limit=1')
  const { id, seq, hash, previousHash } = entry
  assert.deepEqual([found.entryId, found.seq, found.hash, found.previousHash], [id, seq, hash, previousHash])
  assert.deepEqual([found.id, found.chain, found.verified, found.fault], [decisionId, 'acme/live', true, null])
  const text = await out(['decisions', 'show', found.entryId, ...DATA])
  assert.match(text, new RegExp(`^${decisionId} {2}require_approval\n[\\s\\S]*verified +yes[\\s\\S]*"amount": 5000`))
})

test('decisions show: one whose request was altered does not verify', async () => {
  // The file alone is copied, with nothing of it in the log of a process that has it open.
  await gate.server.close()
  const copy = copyOf(join(dir, 'data'))
  tamper(copy, (db) => db.exec(`UPDATE section SET json = replace(json, '5000', '5') WHERE name = 'request'`))
  const { code, stdout } = await run(['decisions', 'show', held.decisionId, '--data', copy])
  assert.equal(code, 1)
  assert.match(stdout, /verified +NO: section request does not match/)
  const unknown = await run(['decisions', 'show', 'dec_01hzy3v4q2m8k7t6r5w4x3y2z1', ...DATA])
  assert.equal(unknown.code, 3)
  assert.match(unknown.stderr, /no decision dec_01hzy3v4q2m8k7t6r5w4x3y2z1; see `gate-sidecar audit list/)
})
