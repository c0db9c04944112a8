import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { type DecisionFilter, listDecisions, MAX_SEARCHED } from '../../src/actions/decisions/list.ts'
import type { DecisionEntry, EntryDraft } from '../../src/audit/draft.ts'
import { globMatches, parseGlob } from '../../src/base/glob.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { fileTest, startGate, temporaryFolder } from '../helpers.ts'
import { aDecision, note } from '../store/drafts.ts'
import { tamper } from '../store/used-folder.ts'
import { assertDone, assertRefused, untilLoaded } from './support.ts'

const T0 = Date.parse('2026-03-01T10:00:00.000Z')
let now = T0
const gate = await startGate({ after }, { clock: () => now })
const bot = await gate.key({ roles: ['agent'], identity: 'bot-7' })
const other = await gate.key({ roles: ['agent'] })
const tester = await gate.key({ roles: ['agent', 'auditor'], environment: 'test' })
const auditor = await gate.key({ roles: ['auditor'] })
const stranger = await gate.key({ tenant: 'other', roles: ['owner'] })
await untilLoaded(gate, auditor)

type Key = typeof auditor
const list = (query = '', key: Key = auditor) => gate.call(key, 'GET', `/decisions${query}`)
const listed = async (query = '', key: Key = auditor) => {
  const answer = await list(query, key)
  assertDone(answer)
  return answer.body.data
}
const amountOf = new Map<string, number | string>()
const check = async (key: Key, action: string, amount?: number): Promise<string> => {
  now += 1000
  const body = { tenantId: 'acme', action, ...(amount !== undefined && { context: { amount } }) }
  const { decisionId } = (await gate.call(key, 'POST', '/gate/check', body)).body.data
  amountOf.set(decisionId, amount ?? action)
  return decisionId
}
/** Lists the decisions by their amounts, or by their actions where there is none. */
const asked = async (query = '', key: Key = auditor) =>
  (await listed(query, key)).items.map(({ id }: { id: string }) => amountOf.get(id))

for (const [key, amount] of [
  [bot, 5],
  [other, 2000],
  [bot, 200_000],
] as const)
  await check(key, 'payment.transfer', amount)
await check(bot, 'email.send')
await check(tester, 'email.send')

test('decisions are listed newest first, each as it was answered, and of the own environment only', async () => {
  assert.deepEqual(await asked(), ['email.send', 200_000, 2000, 5])
  assert.deepEqual(await asked('', tester), ['email.send'])
  assert.deepEqual(await listed('', stranger), { items: [], next: null, searchedTo: null })
  const [, , held] = (await listed()).items
  const told = (await gate.call(auditor, 'GET', `/decisions/${held.id}`)).body.data
  for (const member of ['id', 'timestamp', 'seq', 'entryId', 'action', 'decision', 'rule', 'reason', 'riskScore'])
    assert.deepEqual(held[member], told[member], member)
  assert.deepEqual(
    [held.decidedBy, held.agent, held.keyId, held.session, held.approvalId, held.redacted],
    ['hold_rule', other.id, other.id, null, told.approval.id, false],
  )
})

const FILTERS: [query: string, found: (number | string)[]][] = [
  ['?decision=allow', ['email.send', 5]],
  ['?decision=require_approval', [2000]],
  ['?action=payment.transfer', [200_000, 2000, 5]],
  ['?action=payment', []],
  ['?action=*.send', ['email.send']],
  ['?action=**', ['email.send', 200_000, 2000, 5]],
  ['?rule=huge', [200_000]],
  ['?agent=bot-7', ['email.send', 200_000, 5]],
  [`?agent=${other.id}&action=payment.*`, [2000]],
  ['?agent=bot-7&decision=deny', [200_000]],
  ['?decidedBy=hold_rule', [2000]],
  ['?rule=UG', []],
  ['?rule=UG&match=part', [200_000]],
  ['?agent=BOT&match=part&decision=allow', ['email.send', 5]],
  ['?agent=bot&match=whole', []],
  ['?session=s', []],
  ['?session=s&match=part', []],
  ['?minRisk=6', [200_000, 2000]],
  ['?minRisk=100', []],
  ['?from=2026-03-01T11:00:02%2B01:00', ['email.send', 200_000, 2000]],
  ['?to=2026-03-01T10:00:02Z', [5]],
  ['?from=2026-03-01T10:00:02Z&to=2026-03-01T10:00:03Z', [2000]],
  ['?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', []],
]

for (const [query, found] of FILTERS) {
  test(`GET /decisions${query} finds ${JSON.stringify(found)}`, async () => {
    assert.deepEqual(await asked(query), found)
  })
}

const REFUSED = [
  '?limit=0',
  '?limit=201',
  '?limit=x',
  '?decision=maybe',
  '?decidedBy=chance',
  '?match=glob',
  '?action=a**.b',
  '?action=',
  '?action=a%20b',
  '?minRisk=101',
  '?minRisk=-1',
  '?from=2026-03-01',
  '?to=2026-03-01T10:00:00',
  '?before=-1',
  `?rule=${'x'.repeat(257)}`,
  '?offset=1',
  '?reason=x',
]

for (const query of REFUSED) {
  test(`GET /decisions${query.slice(0, 40)} is refused`, async () =>
    assertRefused(await list(query), 'invalid_request', query))
}

fileTest(
  'of a decision that is not there any more, the list has its place, unless it is asked for by content',
  async (t) => {
    const own = await startGate(t)
    const key = await own.key()
    const body = { tenantId: 'acme', action: 'email.send' }
    const { decisionId } = (await own.call(key, 'POST', '/gate/check', body)).body.data
    tamper(join(own.dir, 'data'), (db) => db.exec("DELETE FROM section WHERE name = 'grounds'"))
    const [item] = (await own.call(key, 'GET', '/decisions')).body.data.items
    assert.deepEqual([item.id, item.redacted, item.action, item.reason], [decisionId, true, null, null])
    for (const query of ['?action=**', '?decision=allow', '?minRisk=0'])
      assert.deepEqual((await own.call(key, 'GET', `/decisions${query}`)).body.data.items, [], query)
  },
)

const store = openStore({ dir: temporaryFolder(), create: true, clock: () => now })
after(() => store.close())
const deps = { store, clock: () => now, newId: () => '' }
const append = async (entries: EntryDraft[]): Promise<void> =>
  void (await store.commit({ guards: [], writes: [], entries }))

/** A decision whose members all come from few values, or another entry. */
const draft = fc.option(
  fc.record({
    decision: fc.constantFrom('allow', 'deny', 'require_approval'),
    action: fc.constantFrom('a.b', 'a.c', 'x'),
    agent: fc.constantFrom('ann', 'bob'),
    session: fc.constantFrom('s', null),
    score: fc.constantFrom(0, 50, 100),
  }),
  { freq: 3 },
)
type Drafted = NonNullable<typeof draft extends fc.Arbitrary<infer T> ? T : never>
const wanted = fc.record(
  {
    decision: fc.constantFrom('allow', 'deny'),
    action: fc.constantFrom('a.b', 'a.*', '**').map((text) => parseGlob(text)),
    agent: fc.constantFrom('ann', 'bob', 'nobody'),
    session: fc.constant('s'),
    minRisk: fc.constantFrom(0, 50, 60),
  },
  { requiredKeys: [] },
)

function entryOf(chain: string, made: Drafted | null): EntryDraft {
  if (made === null) return note({}, { chain })
  const base = aDecision(made.decision, { action: made.action })
  const caller = { ...base.grounds.caller, agent: made.agent }
  const grounds = { ...base.grounds, caller, session: made.session }
  return { ...base, chain, risk: { score: made.score, factors: [] }, grounds }
}

/** The plain filter that the pages are held to. */
function fits(
  entry: EntryDraft,
  { decision, action, agent, session, minRisk }: DecisionFilter,
): entry is DecisionEntry {
  if (entry.kind !== 'decision') return false
  const { decision: decided, grounds, risk } = entry
  if (decision !== undefined && decided.decision !== decision) return false
  if (action !== undefined && !globMatches(action, decided.action)) return false
  if (agent !== undefined && grounds.caller.agent !== agent) return false
  if (session !== undefined && grounds.session !== session) return false
  return minRisk === undefined || risk.score >= minRisk
}

test('over the pages every decision that fits comes once, in order, while new ones arrive', async () => {
  let runs = 0
  const drafts = fc.array(draft, { maxLength: 350, size: 'max' })
  const meanwhile = fc.array(draft, { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(drafts, meanwhile, wanted, fc.integer({ min: 1, max: 60 }), async (made, more, filter, limit) => {
      runs += 1
      const chain = `t${runs}/live`
      const before = made.map((one) => entryOf(chain, one))
      if (before.length > 0) await append(before)
      const seen: string[] = []
      for (let next: string | null | undefined; next !== null; ) {
        const page = await listDecisions(deps, { trail: chain, limit, before: next, filter })
        assert.ok(page.items.length <= limit)
        assert.equal(page.searchedTo === null, page.next === null)
        seen.push(...page.items.map(({ id }) => id))
        if (more.length > 0) await append(more.map((one) => entryOf(chain, one)))
        next = page.next
      }
      const expected = before.filter((entry) => fits(entry, filter)).map(({ decision }) => decision.id)
      assert.deepEqual(seen, expected.reverse())
    }),
    { numRuns: 40 },
  )
})

test('one request looks at so many entries and says where the next one goes on', async () => {
  const chain = 'long/live'
  const first = { ...aDecision('deny'), chain }
  await append([first])
  for (let i = 0; i < MAX_SEARCHED + 500; i += 500)
    await append(Array.from({ length: 500 }, () => ({ ...aDecision('allow'), chain })))
  const query = { trail: chain, limit: 5, filter: { decision: 'deny' as const } }
  const page = await listDecisions(deps, query)
  const at = page.next === null ? undefined : await store.entry(page.next)
  assert.deepEqual([page.items, at?.header.seq], [[], 502], 'the genesis of the chain and the first decision are left')
  assert.match(page.searchedTo ?? '', /^2026-/)
  const rest = await listDecisions(deps, { ...query, before: page.next ?? undefined })
  assert.deepEqual([rest.items.map(({ id }) => id), rest.next, rest.searchedTo], [[first.decision.id], null, null])
})

test('large entries end a request early, and none is lost where they end it', async () => {
  const chain = 'large/live'
  const base = aDecision('allow')
  const grounds = { ...base.grounds, reason: 'x'.repeat(20_000) }
  const ids: string[] = []
  for (let i = 0; i < 10; i += 1) {
    const made = Array.from({ length: 50 }, () => ({ ...aDecision('allow'), chain, grounds }))
    ids.unshift(...made.map(({ decision }) => decision.id).reverse())
    await append(made)
  }
  const seen: string[] = []
  for (let next: string | null | undefined; next !== null; ) {
    const page = await listDecisions(deps, { trail: chain, limit: 200, before: next, filter: { decision: 'allow' } })
    seen.push(...page.items.map(({ id }) => id))
    next = page.next
  }
  assert.deepEqual(seen, ids)
  const none = await listDecisions(deps, { trail: chain, limit: 200, filter: { decision: 'deny' } })
  const reached = none.next === null ? undefined : await store.entry(none.next)
  assert.ok(reached !== undefined && reached.header.seq > 50, 'some 8 MiB are read at once')
})
