import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { isLane, laneOf } from '../../src/audit/chain.ts'
import { movableClock } from '../../src/base/time.ts'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { postgresDatabase, withClient } from '../postgres.ts'
import {
  aDecision,
  anApproval,
  aStop,
  commit,
  creating,
  enrolment,
  LIVE,
  note,
  only,
  recovered,
  START_MS,
} from './drafts.ts'

const [ONE, TWO] = [laneOf(LIVE, 1), laneOf(LIVE, 2)]

interface Scene {
  url: string
  /** A sidecar more, or a command. */
  open(lanes?: boolean): Promise<Store>
}

/** A database with an agent. What is opened ends with the test. */
async function scene(t: TestContext): Promise<Scene> {
  const url = await postgresDatabase(t)
  const sealKeys = sealKeysAt(join(temporaryFolder(), 'signing-key.pem'))
  const open = async (lanes = true): Promise<Store> => {
    const store = await openServerStore({ address: { url }, clock: () => START_MS, sealKeys, lanes })
    t.after(() => store.close())
    return store
  }
  await commit(await open(false), enrolment())
  return { url, open }
}

const subject = { chain: LIVE, action: 'payment.refund', domain: undefined }
const allow = (store: Store) =>
  store.commit({ guards: [{ kind: 'notStopped', subject }], writes: [], entries: [aDecision('allow')] })
const chainOf = async (decided: ReturnType<typeof allow>): Promise<string | undefined> => {
  const result = await decided
  return result.conflict === null ? result.entries[0]?.chain : result.conflict
}
/** Makes the lease of every lane end, as when its sidecar was not heard of for too long. */
const expire = (url: string) =>
  withClient(url, (client) => client.query("UPDATE gate.sidecar SET expires_at = now() - interval '1 second'"))

/** Holds the lanes to the rules, by the keys and stops of their trail. */
async function assertSound(store: Store): Promise<void> {
  for (const chain of (await store.lanes(LIVE)).filter(isLane)) {
    const { valid, fault } = await verifySeqs(store, chain, undefined)
    assert.deepEqual([chain, valid, fault], [chain, true, null])
  }
}

test('each sidecar decides in a lane of its own; what changes a record stands in the chain that all share', async (t) => {
  const { open } = await scene(t)
  const [a, b, command] = [await open(), await open(), await open(false)]
  assert.deepEqual([await chainOf(allow(a)), await chainOf(allow(b)), await chainOf(allow(command))], [ONE, TWO, LIVE])
  assert.equal(await chainOf(a.commit(only(note()))), ONE)
  assert.equal(await chainOf(a.commit(creating('approval', anApproval()))), LIVE)
  assert.equal(await chainOf(b.commit(creating('switch', aStop()))), LIVE)
  assert.deepEqual(await a.lanes(LIVE), [LIVE, ONE, TWO])
  await assertSound(a)
})

test('a stop that is committed anywhere covers every lane, whether its sidecar has heard of it or not', async (t) => {
  const { open } = await scene(t)
  const [a, b] = [await open(), await open()]
  assert.equal(await chainOf(allow(a)), ONE)
  const stop = aStop()
  await commit(b, creating('switch', stop))
  assert.equal(await chainOf(allow(a)), 'notStopped')
  await commit(b, recovered(stop))
  assert.equal(await chainOf(allow(a)), ONE)
  await assertSound(a)
})

test('a sidecar that lost its lease appends nothing to the lane, and goes on in another', async (t) => {
  const { url, open } = await scene(t)
  const a = await open()
  assert.equal(await chainOf(allow(a)), ONE)
  await expire(url)
  const b = await open()
  assert.equal(await chainOf(allow(b)), ONE)
  assert.equal(await chainOf(allow(a)), TWO)
  assert.equal((await a.lengths([ONE])).get(ONE), 3, 'its genesis and one allow of each')
  await assertSound(b)
})

test('a lane that a sidecar leaves is the next one’s', async (t) => {
  const { open } = await scene(t)
  const a = await openAndUse(open)
  await a.close()
  assert.equal(await chainOf(allow(await open())), ONE)
})

async function openAndUse(open: Scene['open']): Promise<Store> {
  const store = await open()
  assert.equal(await chainOf(allow(store)), ONE)
  return store
}

test('a command appends to a lane in the middle of its use, and its sidecar goes on behind', async (t) => {
  const { open } = await scene(t)
  const a = await openAndUse(open)
  await commit(await open(false), only(note({}, { chain: ONE })))
  assert.deepEqual([await chainOf(allow(a)), (await a.lengths([ONE])).get(ONE)], [ONE, 4])
  await assertSound(a)
})

test('a lane that was cut off by an administrator of the database is not continued', async (t) => {
  const { url, open } = await scene(t)
  const a = await openAndUse(open)
  await allow(a)
  await withClient(url, (client) =>
    client.query(`SET session_replication_role = replica;
      DELETE FROM gate.audit_entry WHERE seq = 2 AND chain = (SELECT number FROM gate.chain WHERE name = '${ONE}');
      UPDATE gate.chain SET length = 2, hash = (SELECT hash FROM gate.audit_entry AS e WHERE seq = 1 AND chain = number)
        WHERE name = '${ONE}'`),
  )
  await assert.rejects(allow(a), /entry 2 and those after it are gone|acme\/live~1/)
})

test('sidecars at once keep every lane sound, and lose nothing', async (t) => {
  const { open } = await scene(t)
  const stores = await Promise.all([open(), open(), open()])
  const decided = await Promise.all(stores.flatMap((store) => Array.from({ length: 40 }, () => chainOf(allow(store)))))
  assert.equal(new Set(decided).size, 3)
  const lengths = await (stores[0] ?? assert.fail()).lengths(decided.map(String))
  assert.deepEqual([...lengths.values()], [41, 41, 41])
  await assertSound(stores[0] ?? assert.fail())
})

test('sidecars have one clock, that of the server, however far apart their own are', async (t) => {
  const { url } = await scene(t)
  const clocks = [3_600_000, -3_600_000].map((byMs) => movableClock(() => Date.now() + byMs))
  for (const { clock, move } of clocks) {
    const store = await openServerStore({ address: { url }, clock, onClock: move, lanes: true })
    t.after(() => store.close())
    const result = await allow(store)
    assert.equal(result.conflict, null)
    const ts = result.conflict === null ? Date.parse(result.entries[0]?.ts ?? '') : 0
    // The server of the tests is on this machine.
    assert.ok(Math.abs(ts - Date.now()) < 60_000, String(ts - Date.now()))
  }
})
