import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { revokeKey } from '../../src/actions/keys/keys.ts'
import { seal } from '../../src/audit/entry.ts'
import { parseDigest } from '../../src/base/digest.ts'
import { idMaker } from '../../src/base/id.ts'
import { type Gate, openFile, startGate } from '../helpers.ts'
import { tamper } from '../store/used-folder.ts'

const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
rules:
  - {id: hold, actions: ["pay.*"], effect: require_approval, reason: A person looks., approval: {quorum: 2}}
`
const NEWEST = { chain: 'acme/live', order: 'desc', limit: 1, offset: 0 } as const
const request = (amount: number) => ({ tenantId: 'acme', action: 'pay.out', context: { amount } })

type Key = Awaited<ReturnType<Gate['key']>>

/** A held request of the agent, approved by ann and bob. */
async function approved(t: TestContext) {
  const gate = await startGate(t, { policies: { 'acme/main.yaml': POLICY } })
  const agent = await gate.key({ roles: ['agent'] })
  const [ann, bob] = [await voter(gate, 'ann'), await voter(gate, 'bob')]
  const held = (await gate.call(agent, 'POST', '/gate/check', request(5))).body.data
  for (const [key, approverId] of [
    [ann, 'ann'],
    [bob, 'bob'],
  ] as const) {
    await gate.call(key, 'POST', `/approvals/${held.approvalId}/approve`, { approverId })
  }
  const check = async (amount: number) => (await gate.call(agent, 'POST', '/gate/check', request(amount))).body.data
  return { gate, agent, ann, bob, check, approvalId: held.approvalId as string }
}

function voter(gate: Gate, identity: string): Promise<Key> {
  return gate.key({ roles: ['approver'], identity })
}

/** Changes the file as somebody would who can write it. */
function edit(gate: Gate, sql: string): void {
  tamper(join(gate.dir, 'data'), (db) => db.exec(sql))
}

test('a used approval whose row is set back in the file allows nothing more', async (t) => {
  const { gate, check } = await approved(t)
  assert.equal((await check(5)).decision, 'allow')
  edit(gate, `UPDATE approval SET body = replace(body, '"consumed"', '"approved"')`)
  const again = await check(5)
  assert.equal(again.decision, 'require_approval')
  assert.match(again.reason, /not what the audit chain records/)
})

test('an approval whose row is given the digest of another request allows neither', async (t) => {
  const { gate, check } = await approved(t)
  const other = (await check(1_000_000)).approvalId
  const digest = (id: string): string => `(SELECT digest FROM approval WHERE id = '${id}')`
  edit(
    gate,
    `UPDATE approval SET body = json_set(body, '$.digest', ${digest(other)}) WHERE id <> '${other}';
     UPDATE approval SET body = json_set(body, '$.status', 'cancelled') WHERE id = '${other}'`,
  )
  assert.notEqual((await check(1_000_000)).decision, 'allow')
})

/** Each leaves row and entries in agreement, so that only the chain itself can tell. */
const ALTERED: [what: string, alter: (gate: Gate, id: string) => Promise<void> | void][] = [
  [
    'the row and what its entries say',
    (gate) =>
      edit(
        gate,
        `UPDATE approval SET body = replace(body, 'A person', 'Nobody'); UPDATE section SET json = replace(json, 'A person', 'Nobody') WHERE name = 'data'`,
      ),
  ],
  [
    'the header of an entry',
    (gate) =>
      edit(gate, `UPDATE entry SET header = replace(header, '"ts":"20', '"ts":"19') WHERE type = 'approval.requested'`),
  ],
  ['a whole entry, hashed anew', rewriteRequest],
  [
    'the id of the row, which no entry names then',
    (gate, id) => edit(gate, `UPDATE approval SET id = '${id}x', body = replace(body, '"${id}"', '"${id}x"')`),
  ],
]

/** Writes the entry of the request as if another reason had been given, and the row to fit. */
async function rewriteRequest(gate: Gate): Promise<void> {
  const { items } = await gate.server.store.page({ ...NEWEST, eventType: 'approval.requested' })
  const [stored] = items
  assert.ok(stored)
  const { id, chain, type, seq, prev, ts } = stored.header
  const sections = stored.sections.map(({ name, json }) => ({ name, json: json.replace('A person', 'Nobody') }))
  const salts = Buffer.concat(stored.sections.map(({ salt }) => salt))
  const entry = seal({ seq: seq - 1, hash: prev, tsMs: 0 }, { id, chain, type, sections }, ts, salts)
  tamper(join(gate.dir, 'data'), (db) => {
    db.prepare('UPDATE entry SET header = ?, hash = ? WHERE id = ?').run(entry.headerText, parseDigest(entry.hash), id)
    const write = db.prepare('UPDATE section SET json = ? WHERE chain = ? AND seq = ? AND name = ?')
    for (const { name, json } of entry.sections) write.run(json, chain, seq, name)
    db.exec("UPDATE approval SET body = replace(body, 'A person', 'Nobody')")
  })
}

for (const [what, alter] of ALTERED) {
  test(`an approved request is not allowed once somebody has altered ${what}`, async (t) => {
    const { gate, check, approvalId } = await approved(t)
    await alter(gate, approvalId)
    const { decision, reason } = await check(5)
    assert.equal(decision, 'require_approval')
    assert.match(reason, /not what the audit chain records/)
  })
}

test('a vote by a key that another process has just revoked does not count', async (t) => {
  const { gate, ann, check } = await approved(t)
  const other = openFile(join(gate.dir, 'data'))
  t.after(() => other.close())
  const deps = { store: other, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
  await revokeKey(deps, { actor: { kind: 'host', id: 'host:0' }, caller: undefined }, ann.id)
  assert.equal((await check(5)).decision, 'require_approval')
})

test('who voted with a key that was revoked since may vote again with a new one', async (t) => {
  const { gate, ann, check, approvalId } = await approved(t)
  const owner = await gate.key()
  await gate.call(owner, 'DELETE', `/keys/${ann.id}`)
  const held = await check(5)
  assert.equal(held.decision, 'require_approval')
  assert.notEqual(held.approvalId, approvalId, 'the old approval does not meet the quorum any more')
  const newer = await voter(gate, 'ann')
  const path = `/approvals/${held.approvalId}/approve`
  await gate.call(newer, 'POST', path, { approverId: 'ann' })
  await gate.call(owner, 'DELETE', `/keys/${newer.id}`)
  const newest = await voter(gate, 'ann')
  const carl = await voter(gate, 'carl')
  await gate.call(carl, 'POST', path, { approverId: 'carl' })
  const { body } = await gate.call(newest, 'POST', path, { approverId: 'ann' })
  assert.equal(body.data.status, 'approved')
})

test("an admin's Idempotency-Key of one tenant says nothing of another", async (t) => {
  const gate = await startGate(t)
  const [acme, beta] = [await gate.key(), await gate.key({ tenant: 'beta' })]
  const admin = await gate.key({ roles: ['admin'] })
  const stop = { level: 'L3', reason: 'drill', triggeredBy: 'ops' }
  for (const tenant of ['acme', 'beta']) {
    const answer = await gate.call({ ...admin, tenant }, 'POST', '/killswitch/trigger', stop, {
      'idempotency-key': 'k1',
    })
    assert.deepEqual([answer.status, answer.body.data.active], [200, true], tenant)
  }
  for (const key of [acme, beta]) {
    assert.equal((await gate.call(key, 'GET', '/killswitch/status')).body.data.active, true)
  }
})

test('a key revoked by another process ends no stop', async (t) => {
  const gate = await startGate(t)
  const operator = await gate.key({ roles: ['operator'] })
  await gate.call(operator, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'drill', triggeredBy: 'ops' })
  const other = openFile(join(gate.dir, 'data'))
  t.after(() => other.close())
  const deps = { store: other, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
  await revokeKey(deps, { actor: { kind: 'host', id: 'host:0' }, caller: undefined }, operator.id)
  const answer = await gate.call(operator, 'POST', '/killswitch/recover', { recoveredBy: 'ops', comment: 'over' })
  assert.deepEqual([answer.status, answer.body.error], [401, 'unauthenticated'])
  const owner = await gate.key()
  assert.equal((await gate.call(owner, 'GET', '/killswitch/status')).body.data.active, true)
})

test('a stop repeated with its Idempotency-Key after it was ended is refused, not answered as if it stopped', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  const stop = { level: 'L3', reason: 'drill', triggeredBy: 'ops' }
  const trigger = () => gate.call(key, 'POST', '/killswitch/trigger', stop, { 'idempotency-key': 'k1' })
  assert.equal((await trigger()).body.data.active, true)
  assert.equal((await trigger()).body.data.active, true)
  await gate.call(key, 'POST', '/killswitch/recover', { recoveredBy: 'ops', comment: 'over' })
  assert.deepEqual([(await trigger()).status, (await trigger()).body.error], [409, 'idempotency_conflict'])
})

test('an agent sees what it asked for with any of its keys, and nothing of another agent', async (t) => {
  const gate = await startGate(t, { policies: { 'acme/main.yaml': POLICY } })
  const bot = { roles: ['agent' as const], identity: 'bot' }
  const [first, second, other] = [await gate.key(bot), await gate.key(bot), await gate.key({ roles: ['agent'] })]
  const { approvalId } = (await gate.call(first, 'POST', '/gate/check', request(5))).body.data
  const seen = async (key: Key) => [
    (await gate.call(key, 'GET', `/approvals/${approvalId}`)).status,
    (await gate.call(key, 'GET', '/approvals')).body.data.length,
  ]
  assert.deepEqual(
    [await seen(first), await seen(second), await seen(other)],
    [
      [200, 1],
      [200, 1],
      [404, 0],
    ],
  )
})
