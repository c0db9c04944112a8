import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { type Caller, type CheckDeps, callerOf } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { riskNow } from '../../src/actions/gate/judge.ts'
import { type StoredEntry, sectionValue } from '../../src/audit/entry.ts'
import type { Grounds, HistoryEnd } from '../../src/audit/grounds.ts'
import { idMaker, siblingId } from '../../src/base/id.ts'
import type { Json } from '../../src/base/json.ts'
import { historyFrom, type TakenAction } from '../../src/gate/history.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import type { Snapshot } from '../../src/store/queries.ts'
import { type MakeWriter, writeHere, writeInThread } from '../../src/store/sqlite/writers.ts'
import type { Store } from '../../src/store/store.ts'
import { HEADER, setOf } from '../authoring/sources.ts'
import { factsOverTime } from '../gate/facts-over-time.ts'
import {
  type Answer,
  fileTest,
  type Gate,
  type GateOptions,
  inThisThread,
  startGate,
  temporaryFolder,
} from '../helpers.ts'
import { tamper } from '../store/used-folder.ts'
import { assertDone } from './support.ts'

const cleanup = { after: (work: () => Promise<void> | void) => after(work) }

/** At most two transfers of an agent within an hour, at most 100 of all agents, and no mail after a secret was read. */
const RULES = `
session: {fact: context.session, taken: {secret: ["secret.*"]}}
facts: {context.session: {type: string}, context.amount: {type: number, default: 0}}
history:
  count:
    transfers: {actions: ["transfer.*"], within: 1h, by: agent}
    lately: {actions: ["transfer.*"], within: 30m, by: agent}
    pages: {actions: ["page.*"], within: 1h, by: tenant}
    posts: {actions: [post.write], within: 1h, by: tenant}
  sum: {paid: {actions: ["transfer.*"], fact: context.amount, within: 1h, by: tenant}}
rules:
  - {id: third, actions: ["transfer.*"], effect: deny, reason: Two transfers an hour., when: {fact: history.count.transfers, operator: greaterThan, value: 2}}
  - {id: posts, actions: [post.write], effect: deny, reason: Ten posts an hour., when: {fact: history.count.posts, operator: greaterThan, value: 10}}
  - {id: lately, actions: ["transfer.*"], effect: deny, reason: Ten in half an hour., when: {fact: history.count.lately, operator: greaterThan, value: 10}}
  - {id: pages, actions: [page.write], effect: deny, reason: Too busy., when: {fact: history.count.pages, operator: greaterThan, value: 1000000}}
  - {id: limit, actions: ["transfer.*"], effect: require_approval, reason: Above 100., when: {fact: history.sum.paid, operator: greaterThan, value: 100}}
  - {id: leak, actions: [mail.send], effect: deny, reason: A secret was read., when: {fact: session.taken.secret, operator: equal, value: true}}
  - {id: all, actions: ["**"], effect: allow, reason: R.}
`
const SET = setOf(RULES)

const start = (options: GateOptions = {}): Promise<Gate> =>
  startGate(cleanup, { policies: { 'acme/main.yaml': HEADER + RULES }, ...options })

type Key = Awaited<ReturnType<Gate['key']>>
const ask = (gate: Gate, key: Key, action: string, context = {}): Promise<Answer> =>
  gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action, context })

/** Time after which a check that waits behind others is refused. */
const TURN_LIMIT_MS = 5000

/** Answers to checks at once. One that waited too long behind the others, on a slow disk, is asked again; no other is. */
function askAtOnce(gate: Gate, keys: readonly Key[], action: string): Promise<Answer[]> {
  const decided = async (key: Key): Promise<Answer> => {
    const sinceMs = performance.now()
    const answer = await ask(gate, key, action)
    const waitedTooLong = answer.body.error === 'overloaded' && performance.now() - sinceMs >= TURN_LIMIT_MS
    return waitedTooLong ? decided(key) : answer
  }
  return Promise.all(keys.map(decided))
}

function decisionsOf(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const answer of answers) {
    assertDone(answer)
    const { decision, rule } = answer.body.data
    const told = `${decision} ${rule}`
    counts[told] = (counts[told] ?? 0) + 1
  }
  return counts
}

test('32 checks at once against the third transfer within an hour allow exactly two', async () => {
  const gate = await start()
  const key = await gate.key({ identity: 'bot' })
  const answers = await askAtOnce(
    gate,
    Array.from({ length: 32 }, () => key),
    'transfer.out',
  )
  assert.deepEqual(decisionsOf(answers), { 'allow all': 2, 'deny third': 30 })
})

/** Dependencies and caller of checks without a socket. */
function depsOf({ server: { store } }: Gate): CheckDeps {
  const policies = { get: () => SET }
  return { store, clock: Date.now, newId: idMaker(Date.now, randomBytes), policies, history: historyReader(store) }
}
const callerOfKey = ({ server }: Gate, { id }: Key): Caller =>
  callerOf(server.store.state().keys.get(id) ?? assert.fail('the key is in the store'), 'acme')
const post = { tenantId: 'acme', action: 'post.write' }

test('checks at once that count the same are each decided: of 40 by two agents, ten are allowed', async () => {
  const gate = await start()
  const keys = [await gate.key({ identity: 'bot' }), await gate.key({ identity: 'ann' })]
  const answers = await askAtOnce(gate, Array.from({ length: 20 }, () => keys).flat(), 'post.write')
  assert.deepEqual(decisionsOf(answers), { 'allow all': 10, 'deny posts': 30 })
})

test('an allow that another service overtook is decided anew', async () => {
  const gate = await start()
  const deps = depsOf(gate)
  const caller = callerOfKey(gate, await gate.key({ identity: 'bot' }))
  for (let i = 0; i < 9; i += 1) assert.equal((await check(deps, caller, post)).rule, 'all')
  let due = true
  const commit: Store['commit'] = async (submission) => {
    if (due) {
      due = false
      assert.equal((await check(depsOf(gate), caller, post)).rule, 'all')
    }
    return deps.store.commit(submission)
  }
  const overtaken = await check({ ...deps, store: { ...deps.store, commit } }, caller, post)
  assert.deepEqual([overtaken.decision, overtaken.rule], ['deny', 'posts'])
})

test('checks at once in two services on one file allow exactly two', async () => {
  const gate = await start()
  const key = await gate.key({ identity: 'bot' })
  const other = await start({ dir: gate.dir })
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => [ask(gate, key, 'transfer.out'), ask(other, key, 'transfer.out')]).flat(),
  )
  const told = answers.map(({ body }) => body.data?.decision ?? body.error)
  assert.equal(told.filter((one) => one === 'allow').length, 2, told.join())
  // A check that loses against the other service again and again is told to try again, and is not allowed.
  assert.ok(
    told.every((one) => ['allow', 'deny', 'overloaded'].includes(one)),
    told.join(),
  )
})

test('agents have counts of their own, and share those of the tenant; keys of one identity are one agent', async () => {
  const gate = await start()
  const [bot, twin, ann] = [
    await gate.key({ identity: 'bot' }),
    await gate.key({ identity: 'bot' }),
    await gate.key({ identity: 'ann' }),
  ]
  const told = []
  for (const [key, amount] of [
    [bot, 40],
    [twin, 40],
    [bot, 1],
    [ann, 20],
    [ann, 0.5],
    [ann, 0],
  ] as const)
    told.push(await ask(gate, key, 'transfer.out', { amount }))
  assert.deepEqual(
    told.map(({ body }) => body.data.rule),
    ['all', 'all', 'third', 'all', 'limit', 'all'],
  )
})

test('live and test keys, and tenants, do not count for each other, nor do their sessions', async () => {
  const gate = await start({
    policies: { 'acme/main.yaml': HEADER + RULES, 'beta/main.yaml': HEADER.replace('acme', 'beta') + RULES },
  })
  const keys = [
    await gate.key({ identity: 'bot' }),
    await gate.key({ identity: 'bot', environment: 'test' }),
    await gate.key({ identity: 'bot', tenant: 'beta' }),
  ]
  for (const [i, key] of keys.entries()) {
    const askAs = (action: string, context = {}): Promise<Answer> =>
      gate.call(key, 'POST', '/gate/check', { tenantId: key.tenant, action, context })
    // Each chain is longer than the one before, so that the cached window of another chain would fit.
    for (let filler = 0; filler < 10 * i; filler += 1) assertDone(await askAs('note.read'))
    const answers = [await askAs('transfer.out'), await askAs('transfer.out'), await askAs('transfer.out')]
    assert.deepEqual(decisionsOf(answers), { 'allow all': 2, 'deny third': 1 })
    const inSession = []
    for (const action of ['mail.send', 'secret.read', 'mail.send'])
      inSession.push(await askAs(action, { session: 's' }))
    assert.deepEqual(decisionsOf(inSession), { 'allow all': 2, 'deny leak': 1 })
  }
})

test('a session remembers what was allowed in it, and not what was refused', async () => {
  const gate = await start()
  const key = await gate.key({ identity: 'bot' })
  const mail = async (session: string) => (await ask(gate, key, 'mail.send', { session })).body.data
  assert.equal((await mail('a')).rule, 'all')
  assertDone(await ask(gate, key, 'secret.read', { session: 'a' }))
  assert.equal((await mail('a')).rule, 'leak')
  assert.equal((await mail('b')).rule, 'all')
  const without = (await ask(gate, key, 'mail.send')).body.data
  assert.deepEqual([without.decision, without.rule], ['deny', 'leak'])
  assert.match(without.reason, /session\.taken\.secret is missing/)
})

test('the window moves with the time, and survives a restart', async () => {
  let now = Date.UTC(2026, 4, 1)
  const clock = (): number => now
  const dir = temporaryFolder()
  const gate = await start({ dir, clock })
  const key = await gate.key({ identity: 'bot' })
  const ruled = async (at: Gate) => (await ask(at, key, 'transfer.out', { amount: 1 })).body.data
  const rule = async (at: Gate): Promise<string> => (await ruled(at)).rule
  const first = await ruled(gate)
  assert.equal(first.rule, 'all')
  // In a fleet, an entry is later than all that its decision has read.
  const { ts } = (await entryOf(gate, first.decisionId)).header
  now += 40 * 60_000
  assert.equal(await rule(gate), 'all')
  assert.equal(await rule(gate), 'third')
  await gate.server.close()
  const again = await start({ dir, clock })
  assert.equal(await rule(again), 'third')
  now = Date.parse(ts) + 60 * 60_000 - 1
  assert.equal(await rule(again), 'third')
  now += 1
  assert.equal(await rule(again), 'all')
  assert.equal(await rule(again), 'third')
})

test('a decision that counted is explained by what it counted, whatever has come since', async () => {
  const gate = await start()
  const key = await gate.key({ identity: 'bot', roles: ['agent', 'auditor'] })
  const first = (await ask(gate, key, 'transfer.out', { amount: 60 })).body.data
  const held = (await ask(gate, key, 'transfer.out', { amount: 50 })).body.data
  assert.deepEqual([first.rule, held.rule], ['all', 'limit'])
  for (let i = 0; i < 3; i += 1) await ask(gate, key, 'transfer.out', { amount: 1 })
  for (const [{ decisionId }, count, sum] of [
    [first, 1, 60],
    [held, 2, 110],
  ]) {
    const { body } = await gate.call(key, 'GET', `/decisions/${decisionId}`)
    assert.deepEqual([body.data.reproduced, body.data.differences], [true, []], JSON.stringify(body))
    const seen = new Map(
      body.data.explanation.rules.map((rule: { id: string; condition?: { seen: Json } }) => [
        rule.id,
        rule.condition?.seen,
      ]),
    )
    assert.deepEqual([seen.get('third'), seen.get('limit')], [{ value: count }, { value: sum }])
  }
})

async function entryOf({ server }: Gate, decisionId: string): Promise<StoredEntry> {
  return (await server.store.entry(siblingId(decisionId, 'entry'))) ?? assert.fail()
}

const step = fc.record({
  action: fc.constantFrom('transfer.out', 'transfer.in', 'mail.send', 'secret.read'),
  agent: fc.constantFrom('bot', 'ann'),
  session: fc.constantFrom('s', 't', undefined),
  amount: fc.constantFrom(0.1, 0.2, 7, undefined),
  minutes: fc.constantFrom(0, 1, 25, 59),
})

test('property: what the service reads from its file is what a list of what was allowed comes to', async () => {
  // A server forgets by its own clock the counters that nobody used for a day.
  let now = Date.now()
  const gate = await start({ clock: () => now })
  const keys = { bot: await gate.key({ identity: 'bot' }), ann: await gate.key({ identity: 'ann' }) }
  const { store } = gate.server
  const reader = historyReader(store)
  const allowed: TakenAction[] = []
  const facts = new Map<string, [end: HistoryEnd, values: Json]>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      for (const { action, agent, session, amount, minutes } of steps) {
        now += minutes * 60_000
        const context = { ...(session !== undefined && { session }), ...(amount !== undefined && { amount }) }
        const query = { action, context, plan: undefined, agent, nowMs: now }
        const { history } = await reader.read(SET, 'acme/live', query, null)
        const wanted = Object.fromEntries(factsOverTime(SET, query, historyFrom(SET, query, allowed)))
        assert.deepEqual(Object.fromEntries(factsOverTime(SET, query, history)), wanted)
        const answer = await ask(gate, keys[agent], action, context)
        assertDone(answer)
        const entry = await entryOf(gate, answer.body.data.decisionId)
        const { historyEnd } = sectionValue(entry, 'grounds') as unknown as Grounds
        if (historyEnd !== null) facts.set(JSON.stringify(query), [historyEnd, wanted])
        const atMs = Date.parse(entry.header.ts)
        if (answer.body.data.decision === 'allow') allowed.push({ action, context, agent, atMs })
      }
    }),
    { numRuns: 25 },
  )
  // As it was then, whatever came later.
  for (const [text, [end, wanted]] of facts) {
    const query = JSON.parse(text)
    const { history } = await historyReader(store).at(SET, 'acme/live', query, end)
    assert.deepEqual(Object.fromEntries(factsOverTime(SET, query, history)), wanted)
  }
})

test('a new action of many patterns has a turn of its own before anything asks what is about it, once', async () => {
  const gate = await start()
  const rule = (i: number): string => `  - {id: r${i}, actions: ["*a*b${i}"], effect: allow, reason: R.}\n`
  const sets = [100, 101].map((count) => setOf(`rules:\n${Array.from({ length: count }, (_, i) => rule(i)).join('')}`))
  const caller = callerOfKey(gate, await gate.key())
  const turns = await Promise.all(
    sets.map(async (set) => {
      const known: boolean[] = []
      const pause = async (): Promise<void> => void known.push(set.evaluator.isQuick('xa.b7'))
      const deps = { ...depsOf(gate), policies: { get: () => set }, pause }
      for (const action of ['xa.b7', 'xa.b7']) await check(deps, caller, { tenantId: 'acme', action })
      await riskNow(deps, caller, { action: 'xa.b7' })
      await riskNow(deps, caller, { action: 'xa.b8' })
      return known
    }),
  )
  assert.deepEqual(turns, [[], [false, true]])
})

test('a check that counts is decided, however many others are allowed what it counts', async () => {
  const gate = await start({ threads: { ...inThisThread, writer: writeInThread() } })
  const deps = depsOf(gate)
  const [busy, calm] = [
    callerOfKey(gate, await gate.key({ identity: 'busy' })),
    callerOfKey(gate, await gate.key({ identity: 'calm' })),
  ]
  let over = false
  const others = Array.from({ length: 32 }, async () => {
    while (!over) await check(deps, busy, { tenantId: 'acme', action: 'page.read' })
  })
  try {
    for (let i = 0; i < 20; i += 1) {
      const { rule } = await check(deps, calm, { tenantId: 'acme', action: 'page.write' })
      assert.equal(rule, 'all')
    }
  } finally {
    over = true
    await Promise.all(others)
  }
})

test('a check that counts goes before what it counts and what waits already', async () => {
  const gate = await start()
  const deps = depsOf(gate)
  const { store } = deps
  const caller = callerOfKey(gate, await gate.key({ identity: 'bot' }))
  const context = { session: 'a' }
  let overtakings = 0
  // The overtaking check is counted but counts nothing itself, so it does not wait for a turn.
  const commit: Store['commit'] = (submission) =>
    new Promise((resolve) => {
      const first: Store['commit'] = (other) => {
        overtakings += 1
        const done = store.commit(other)
        resolve(store.commit(submission))
        return done
      }
      const overtaking = { tenantId: 'acme', action: 'read.it', context }
      void check({ ...deps, store: { ...store, commit: first } }, caller, overtaking)
    })
  const overtaken = { tenantId: 'acme', action: 'mail.send', context }
  const answer = await check({ ...deps, store: { ...store, commit } }, caller, overtaken)
  assert.deepEqual([answer.decision, overtakings], ['allow', 1])
})

fileTest('who has waited too long for the checks before it is refused, and not decided', async (t) => {
  const gate = await start()
  const deps = depsOf(gate)
  const caller = callerOfKey(gate, await gate.key({ identity: 'bot' }))
  const now = performance.now.bind(performance)
  let lateMs = 0
  t.mock.method(performance, 'now', () => now() + lateMs)
  let end: () => void = () => undefined
  const long = deps.history.runExclusive(
    SET,
    caller,
    'post.write',
    () => new Promise<void>((resolve) => (end = resolve)),
  )
  const waiting = check(deps, caller, post)
  await nextTurn()
  lateMs = 5001
  end()
  await assert.rejects(waiting, { code: 'overloaded' })
  await long
  assert.equal((await check(deps, caller, post)).rule, 'all')
})

fileTest(
  'a number that was erased is missing whatever the default, and leaves the window with its action',
  async () => {
    let now = Date.UTC(2026, 4, 1)
    const gate = await start({ clock: () => now })
    const key = await gate.key({ identity: 'bot' })
    assertDone(await ask(gate, key, 'transfer.out', { amount: 90 }))
    const reader = historyReader(gate.server.store)
    const paid = async (from = historyReader(gate.server.store)): Promise<Json | undefined> => {
      const query = { action: 'transfer.out', context: { amount: 1 }, agent: 'bot', nowMs: now }
      const { history } = await from.read(SET, 'acme/live', query, null)
      return factsOverTime(SET, query, history).get('history.sum.paid')
    }
    assert.deepEqual([await paid(reader), await paid()], [91, 91])
    tamper(join(gate.dir, 'data'), (db) => db.exec("DELETE FROM section WHERE name = 'request'"))
    // A reader that has read the number before still knows it.
    assert.deepEqual([await paid(reader), await paid()], [91, undefined])
    now += 3_600_000
    assert.deepEqual([await paid(reader), await paid()], [1, 1])
  },
)

fileTest('of many who read long windows at once, one part is read at each turn of the event loop', async () => {
  const gate = await start()
  const caller = callerOfKey(gate, await gate.key({ identity: 'bot' }))
  const deps = depsOf(gate)
  await Promise.all(Array.from({ length: 1200 }, () => check(deps, caller, { tenantId: 'acme', action: 'read.it' })))
  let turn = 0
  let counting = true
  const count = (): void => {
    turn += 1
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  const turns: number[] = []
  const snapshot: Store['snapshot'] = (work) =>
    deps.store.snapshot((at) =>
      work({
        ...at,
        taken(query) {
          turns.push(turn)
          return at.taken(query)
        },
      }),
    )
  const reader = historyReader({ ...deps.store, snapshot })
  const query = { action: 'post.write', agent: 'bot', nowMs: Date.now() }
  await Promise.all(Array.from({ length: 8 }, () => reader.at(SET, 'acme/live', query, 1201)))
  counting = false
  assert.equal(new Set(turns).size, turns.length)
  assert.ok(turns.length >= 8 * 6)
})

fileTest('of entries that count for nobody, a limited number is looked at before other work runs', async () => {
  const gate = await start()
  const { store } = gate.server
  assertDone(await ask(gate, await gate.key({ identity: 'bot' }), 'post.write'))
  tamper(join(gate.dir, 'data'), (db) =>
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
      INSERT INTO audit_entry (at, ts, id, hash, prev, commits, salts, action, effect)
        SELECT last + i, ts, randomblob(16), zeroblob(32), zeroblob(32), x'', x'', 'post.write', 'deny'
          FROM n, (SELECT max(at) AS last, ts FROM audit_entry WHERE chain = (SELECT number FROM chain WHERE name = 'acme/live'))`),
  )
  const end = await lengthOf(store, 'acme/live')
  /** Entries that were looked at in each snapshot. */
  const looked: number[] = []
  const counted = (at: Snapshot): Snapshot => ({
    ...at,
    taken(query) {
      looked.push((looked.pop() ?? 0) + query.end - query.first)
      return at.taken(query)
    },
  })
  const snapshot: Store['snapshot'] = (work) => {
    looked.push(0)
    return store.snapshot((at) => work(counted(at)))
  }
  const query = { action: 'post.write', agent: 'bot', nowMs: Date.now() }
  const { history } = await historyReader({ ...store, snapshot }).at(SET, 'acme/live', query, end)
  assert.equal(history.tallies.get('history.count.posts')?.count, 1)
  assert.ok(Math.max(...looked) <= 500, `${looked}`)
  assert.ok(looked.reduce((sum, one) => sum + one, 0) > 9000)
})

fileTest(
  'a reading goes on when its connection was replaced, and ends at the end of the chain whatever was asked',
  async () => {
    let discard = (): void => undefined
    const writer: MakeWriter = (address, file) => {
      discard = () => file.discard()
      return writeHere(address, file)
    }
    const gate = await start({ threads: { ...inThisThread, writer } })
    const caller = callerOfKey(gate, await gate.key({ identity: 'bot' }))
    const deps = depsOf(gate)
    await Promise.all(Array.from({ length: 500 }, () => check(deps, caller, { tenantId: 'acme', action: 'page.read' })))
    let parts = 0
    const snapshot: Store['snapshot'] = (work) => {
      parts += 1
      discard()
      return deps.store.snapshot(work)
    }
    const query = { action: 'page.write', agent: 'bot', nowMs: Date.now() }
    const { history } = await historyReader({ ...deps.store, snapshot }).at(SET, 'acme/live', query, 2 ** 40)
    assert.equal(history.tallies.get('history.count.pages')?.count, 500)
    assert.ok(parts > 2)
  },
)

test('what is kept of many sessions does not grow with the patterns of a counter', async () => {
  const patterns = Array.from({ length: 2000 }, (_, i) => `pay.region-${i}.account-${i}.*`)
  const set = setOf(`
session: {fact: context.session}
history: {count: {paid: {actions: ${JSON.stringify(patterns)}, within: 1h, by: session}}}
rules: [{id: r, actions: [pay], effect: deny, reason: R., when: {fact: history.count.paid, operator: greaterThan, value: 3}}]`)
  const gate = await start()
  const reader = historyReader(gate.server.store)
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = heap()
  for (let i = 0; i < 300; i += 1)
    await reader.read(set, 'acme/live', { agent: 'bot', nowMs: 0, action: 'pay', context: { session: `s${i}` } }, null)
  const grown = heap() - before
  // A list of the patterns is 70 kB.
  assert.ok(grown < 300 * 10_000, `${grown} bytes`)
})

fileTest('a decision that counted what has been erased since is not said to be reproduced, or not', async () => {
  const gate = await start()
  const key = await gate.key({ identity: 'bot', roles: ['agent', 'auditor'] })
  const first = (await ask(gate, key, 'transfer.out', { amount: 60 })).body.data
  const second = (await ask(gate, key, 'transfer.out', { amount: 30 })).body.data
  const entryId = `aud_${first.decisionId.slice(4)}`
  const erase = "DELETE FROM section WHERE name = 'request' AND seq = (SELECT seq FROM entry WHERE id = ?)"
  tamper(join(gate.dir, 'data'), (db) => db.prepare(erase).run(entryId))
  const { data } = (await gate.call(key, 'GET', `/decisions/${second.decisionId}`)).body
  assert.deepEqual([data.reproduced, data.explanation, data.unexplained.code], [null, null, 'redacted'])
})
