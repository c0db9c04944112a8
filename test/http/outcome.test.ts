import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { redact } from '../../src/actions/audit/redact.ts'
import { outcomeWatch } from '../../src/actions/outcomes/missing.ts'
import { idMaker } from '../../src/base/id.ts'
import { createLogger } from '../../src/service/log.ts'
import { ACME_POLICY, type Answer, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused, entriesOf } from './support.ts'

let now = Date.parse('2026-03-01T10:00:00.000Z')
const warned: { decisionId?: string; msg: string }[] = []
const log = createLogger('warn', { write: (line: string) => void warned.push(JSON.parse(line)) })
const policies = {
  'acme/main.yaml': ACME_POLICY,
  'globex/main.yaml': ACME_POLICY.replace('tenant: acme', 'tenant: globex'),
}
const gate = await startGate({ after }, { clock: () => now, policies, settings: { outcomeWithin: '1s' }, log })
const owner = await gate.key()
const agent = await gate.key({ roles: ['agent'] })
const deps = { store: gate.server.store, clock: () => now, newId: idMaker(() => now, randomBytes) }

const MAIL = { tenantId: 'acme', action: 'email.send' }
const HELD = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 5000 } }

async function decide(body: object = MAIL, key = agent): Promise<string> {
  const answer = await gate.call(key, 'POST', '/gate/check', body)
  assertDone(answer)
  return answer.body.data.decisionId
}

const tell = (body: object, key = agent, headers = {}): Promise<Answer> =>
  gate.call(key, 'POST', '/gate/outcome', body, headers)
const bypasses = async (): Promise<number> => {
  const text = await (await fetch(`${gate.server.url}/metrics`)).text()
  return Number(/^gate_sidecar_possible_bypasses_total (\d+)$/m.exec(text)?.[1])
}
const warningsOf = (decisionId: string): string[] =>
  warned.filter((line) => line.decisionId === decisionId).map(({ msg }) => msg)
const outcomeOf = async (decisionId: string, key = owner) =>
  (await gate.call(key, 'GET', `/decisions/${decisionId}`)).body.data.outcome

test('what became of an allowed action is recorded, and shown with its decision and in the trail', async () => {
  const decisionId = await decide()
  const answer = await tell({ decisionId, status: 'failed', durationMs: 12, error: 'the server hung up' })
  assertDone(answer)
  const { data } = answer.body
  const { recordedAt, entryId, ...told } = data
  assert.deepEqual(told, {
    decisionId,
    action: 'email.send',
    decision: 'allow',
    status: 'failed',
    possibleBypass: false,
    observed: false,
    durationMs: 12,
    error: 'the server hung up',
  })
  const { decisionId: _, action, decision, ...shown } = data
  assert.deepEqual(await outcomeOf(decisionId), shown)
  const [entry] = (await gate.call(owner, 'GET', '/audit/chain?eventType=outcome.recorded')).body.data
  assert.equal(entry.id, entryId)
  assert.equal(entry.timestamp, recordedAt)
  assert.deepEqual(entry.data, {
    decisionId,
    action,
    reportedBy: agent.id,
    status: 'failed',
    possibleBypass: false,
    observed: false,
    durationMs: 12,
    error: 'the server hung up',
  })
})

test('the same again is answered as it is recorded, also after the Idempotency-Key is forgotten; another outcome is refused', async () => {
  const decisionId = await decide()
  const first = await tell({ decisionId, status: 'succeeded' }, agent, { 'idempotency-key': 'one' })
  const before = await entriesOf(gate, 'outcome.recorded')
  now += 3_600_000
  const again = await tell({ decisionId, status: 'succeeded', durationMs: 3 })
  assert.deepEqual(again.body.data, first.body.data)
  assertRefused(await tell({ decisionId, status: 'failed' }), 'outcome_conflict')
  assert.equal(await entriesOf(gate, 'outcome.recorded'), before)
})

test('an Idempotency-Key is for one body', async () => {
  const [one, other] = [await decide(), await decide()]
  assertDone(await tell({ decisionId: one, status: 'succeeded' }, agent, { 'idempotency-key': 'two' }))
  const headers = { 'idempotency-key': 'two' }
  assertRefused(await tell({ decisionId: other, status: 'succeeded' }, agent, headers), 'idempotency_conflict')
  assertDone(await tell({ decisionId: other, status: 'succeeded' }))
})

test('many reports at once make one entry', async () => {
  const decisionId = await decide()
  const before = await entriesOf(gate, 'outcome.recorded')
  const answers = await Promise.all(Array.from({ length: 20 }, () => tell({ decisionId, status: 'succeeded' })))
  for (const answer of answers) assertDone(answer)
  assert.equal(new Set(answers.map(({ body }) => body.data.entryId)).size, 1)
  assert.equal(await entriesOf(gate, 'outcome.recorded'), before + 1)
})

test('of outcomes that contradict each other at once, one counts', async () => {
  const decisionId = await decide()
  const answers = await Promise.all(['succeeded', 'failed', 'not_run'].map((status) => tell({ decisionId, status })))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  assert.equal(answers.filter(({ body }) => body.error === 'outcome_conflict').length, 2)
})

for (const [what, run, possibleBypass] of [
  ['an action that ran though it was held may have bypassed the gate', { status: 'succeeded' }, true],
  ['one that ran though it was held, of an agent that only watches, too', { status: 'failed', observed: true }, true],
  ['one that was held and did not run has not', { status: 'not_run' }, false],
] as const) {
  test(what, async () => {
    const decisionId = await decide(HELD)
    const before = await bypasses()
    const { data } = (await tell({ decisionId, ...run })).body
    assert.deepEqual([data.decision, data.possibleBypass], ['require_approval', possibleBypass])
    assert.equal(data.observed, 'observed' in run)
    await tell({ decisionId, ...run })
    assert.equal((await bypasses()) - before, Number(possibleBypass))
    assert.deepEqual(warningsOf(decisionId), possibleBypass ? ['an action ran without an allow'] : [])
  })
}

const contradictions: [asked: object, recorded: string, told: string, counts: boolean][] = [
  [MAIL, 'not_run', 'succeeded', true],
  [MAIL, 'not_run', 'failed', true],
  [HELD, 'not_run', 'succeeded', true],
  [MAIL, 'succeeded', 'failed', false],
  [MAIL, 'succeeded', 'not_run', false],
  [MAIL, 'failed', 'succeeded', false],
]
for (const [asked, recorded, told, counts] of contradictions) {
  const what = `${recorded} and then ${told} of ${asked === MAIL ? 'an allowed' : 'a held'} action`
  test(`${what} is refused, and ${counts ? 'counts once as a possible bypass' : 'hides nothing'}`, async () => {
    const decisionId = await decide(asked)
    assertDone(await tell({ decisionId, status: recorded }, agent, { 'idempotency-key': decisionId }))
    const before = await bypasses()
    for (const headers of [{ 'idempotency-key': decisionId }, {}, {}])
      assertRefused(await tell({ decisionId, status: told }, agent, headers), 'outcome_conflict')
    assert.equal((await bypasses()) - before, Number(counts))
    assert.deepEqual(warningsOf(decisionId), counts ? ['an action ran that was reported as not run'] : [])
    assert.equal((await outcomeOf(decisionId)).status, recorded)
  })
}

test("another agent's decision is not found, nor one of another tenant or environment, nor an entry that is no decision", async () => {
  const other = await gate.key({ roles: ['agent'] })
  const sandbox = await gate.key({ environment: 'test' })
  const elsewhere = await gate.key({ tenant: 'else' })
  const decisionId = await decide()
  for (const key of [other, owner, sandbox, elsewhere])
    assertRefused(await tell({ decisionId, status: 'succeeded' }, key), 'not_found')
  for (const id of [decisionId.replace('dec_', 'aud_'), 'dec_x', '', `${decisionId}0`])
    assertRefused(await tell({ decisionId: id, status: 'succeeded' }), 'not_found')
})

test('an identity of one tenant and environment is nobody in another', async () => {
  const bot = { roles: ['agent' as const], identity: 'bot' }
  const decisionId = await decide(MAIL, await gate.key(bot))
  for (const key of [await gate.key({ ...bot, environment: 'test' }), await gate.key({ ...bot, tenant: 'else' })])
    assertRefused(await tell({ decisionId, status: 'succeeded' }, key), 'not_found')
})

test('keys of one identity are one agent: a rotated key reports for the one before it', async () => {
  const [first, second] = [
    await gate.key({ roles: ['agent'], identity: 'bot' }),
    await gate.key({ roles: ['agent'], identity: 'bot' }),
  ]
  assertDone(await tell({ decisionId: await decide(MAIL, first), status: 'succeeded' }, second))
})

for (const [what, body] of [
  ['no decision', { status: 'succeeded' }],
  ['no status', { decisionId: 'dec_x' }],
  ['another status', { decisionId: 'dec_x', status: 'missing' }],
  ['a field that is none', { decisionId: 'dec_x', status: 'succeeded', result: 1 }],
  ['a duration below 0', { decisionId: 'dec_x', status: 'succeeded', durationMs: -1 }],
  ['an error that is too long', { decisionId: 'dec_x', status: 'failed', error: 'x'.repeat(2001) }],
] as const)
  test(`${what} is an invalid request`, async () => assertRefused(await tell(body), 'invalid_request'))

test('the error can be erased, and what became of the action stays', async () => {
  const decisionId = await decide()
  const { entryId } = (await tell({ decisionId, status: 'failed', error: 'Joe Doe, 4000 0000 0000 0002' })).body.data
  const { chain, seq } = (await gate.server.store.entry(entryId))?.header ?? assert.fail()
  const range = { chain, first: seq, end: seq + 1, reason: 'asked for' }
  assert.equal((await redact(deps, { kind: 'host', id: 'host:0' }, range)).sections, 1)
  const { status, error } = await outcomeOf(decisionId)
  assert.deepEqual([status, error], ['failed', null])
  const sections = (await gate.server.store.entry(entryId))?.sections.map(({ name }) => name)
  assert.deepEqual(new Set(sections), new Set(['data', 'actor']))
  const day = { startDate: '2026-03-01', endDate: '2026-03-02' }
  assert.equal((await gate.call(owner, 'POST', '/audit/verify', day)).body.data.valid, true)
})

test('an allow whose outcome never came is recorded as missing once, and one that comes late still counts', async () => {
  const mine = await gate.key({ roles: ['agent'] })
  const early = await decide(MAIL, mine)
  assertDone(await tell({ decisionId: await decide(MAIL, mine), status: 'succeeded' }, mine))
  const [reported, silent, held] = [await decide(MAIL, mine), await decide(MAIL, mine), await decide(HELD, mine)]
  await tell({ decisionId: reported, status: 'not_run' }, mine)
  now += 1001
  await until('the outcome is missing', async () => (await outcomeOf(silent)) !== null)
  const { recordedAt: _, entryId, ...missing } = await outcomeOf(silent)
  const nothing = { observed: false, durationMs: null, error: null }
  assert.deepEqual(missing, { status: 'missing', possibleBypass: true, ...nothing })
  const entry = await gate.server.store.entry(entryId)
  assert.equal(entry?.header.type, 'outcome.missing')
  assert.equal((await outcomeOf(reported)).status, 'not_run')
  assert.equal(await outcomeOf(early), null, 'of what was before its first report nothing is expected')
  assert.equal(await outcomeOf(held), null, 'what was not allowed has no outcome to wait for')

  const late = await tell({ decisionId: silent, status: 'succeeded' }, mine)
  assertDone(late)
  const shown = await outcomeOf(silent)
  assert.deepEqual([shown.status, shown.entryId], ['succeeded', late.body.data.entryId])
})

test('an agent that never reports is told of nowhere, and another does not make it one that does', async () => {
  const [silent, reporter] = [await gate.key({ roles: ['agent'] }), await gate.key({ roles: ['agent'] })]
  const quiet = await decide(MAIL, silent)
  await tell({ decisionId: await decide(MAIL, reporter), status: 'succeeded' }, reporter)
  const [unreported, later] = [await decide(MAIL, reporter), await decide(MAIL, silent)]
  now += 1001
  await until('the other one is missing', async () => (await outcomeOf(unreported)) !== null)
  assert.deepEqual([await outcomeOf(quiet), await outcomeOf(later)], [null, null])
})

test('an allow without an outcome is found in each tenant and environment of an identity', async () => {
  const bot = { roles: ['agent' as const, 'auditor' as const], identity: 'bot' }
  const keys = [
    await gate.key(bot),
    await gate.key({ ...bot, environment: 'test' }),
    await gate.key({ ...bot, tenant: 'globex' }),
  ]
  const silent = []
  for (const key of keys) {
    const mail = { ...MAIL, tenantId: key.tenant }
    assertDone(await tell({ decisionId: await decide(mail, key), status: 'succeeded' }, key))
    silent.push({ decisionId: await decide(mail, key), key })
  }
  now += 1001
  // The service searches at times too; a search of our own is over when this goes on.
  await outcomeWatch(deps, { withinMs: 1000, onMissing: () => undefined })()
  for (const { decisionId, key } of silent) assert.equal((await outcomeOf(decisionId, key))?.status, 'missing')
})

test("a caller's own entries are no outcomes, whatever they say", async () => {
  const mine = await gate.key({ roles: ['agent'] })
  const decisionId = await decide(MAIL, mine)
  const data = { decisionId, reportedBy: mine.id, status: 'succeeded', possibleBypass: false }
  assertDone(await gate.call(mine, 'POST', '/audit/log', { eventType: 'my.note', data }))
  assert.equal(await outcomeOf(decisionId), null)
  assertDone(await tell({ decisionId, status: 'failed' }, mine))
  assert.equal((await outcomeOf(decisionId)).status, 'failed')
})
