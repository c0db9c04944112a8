import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { outcomeWatch } from '../../src/actions/outcomes/missing.ts'
import { sectionValue } from '../../src/audit/entry.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Store } from '../../src/store/store.ts'
import { startGate } from '../helpers.ts'
import { LIVE } from '../store/drafts.ts'
import { lanesBeside } from './lanes.ts'
import { assertDone, assertRefused } from './support.ts'

let now = Date.parse('2026-03-01T10:00:00.000Z')
const clock = () => now
const gate = await startGate({ after }, { clock, settings: { outcomeWithin: 'off' } })
const owner = await gate.key()
const lanes = await lanesBeside({ after }, gate, clock)

const outcomeOf = async (decisionId: string) =>
  (await gate.call(owner, 'GET', `/decisions/${decisionId}`)).body.data.outcome
const tell = (key: typeof owner, decisionId: string, status: string) =>
  gate.call(key, 'POST', '/gate/outcome', { decisionId, status })
const decide = async (key: typeof owner): Promise<string> =>
  (await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })).body.data.decisionId

/** A search for missing outcomes by a sidecar that has looked at nothing yet. */
const search = (store = gate.server.store) =>
  outcomeWatch({ store, clock, newId: idMaker(clock, randomBytes) }, { withinMs: 1000, onMissing: () => undefined })()

/** Decisions whose outcome is recorded as missing, each as often as it is. */
async function missing(): Promise<string[]> {
  const { store } = lanes
  const found: string[] = []
  for (const chain of await store.lanes(LIVE))
    for (const entry of await store.entriesFrom(chain, 0, 1000))
      if (entry.header.type === 'outcome.missing') found.push(String(sectionValue(entry, 'data')?.decisionId))
  return found
}

test('an outcome is recorded once for a decision in a lane, wherever an outcome of it stands', async () => {
  const agent = await gate.key({ roles: ['agent'] })
  const decided = await lanes.decide(1, agent)
  const first = await tell(agent, decided, 'succeeded')
  assertDone(first)
  assert.equal((await tell(agent, decided, 'succeeded')).body.data.entryId, first.body.data.entryId)
  const elsewhere = await decide(agent)
  await lanes.tell(2, agent, elsewhere)
  assert.equal((await outcomeOf(elsewhere)).status, 'succeeded')
  assertRefused(await tell(agent, elsewhere, 'failed'), 'outcome_conflict')
})

test('an allow without an outcome is found in every lane after the first report in any, and recorded once', async () => {
  const agent = await gate.key({ roles: ['agent'] })
  const early = await lanes.decide(2, agent)
  now += 1
  // Of one time, the order of a trail is that of its lanes.
  const before = await lanes.decide(1, agent)
  await lanes.tell(2, agent, await lanes.decide(2, agent))
  const behind = await lanes.decide(3, agent)
  now += 1
  const silent = await Promise.all([0, 1, 2, 3].map((lane) => lanes.decide(lane, agent)))
  const told = [await lanes.decide(1, agent), await decide(agent), await lanes.decide(3, agent)] as const
  await lanes.tell(3, agent, told[0])
  await lanes.tell(2, agent, told[1])
  assertDone(await tell(agent, told[2], 'not_run'))
  await lanes.decide(1, await gate.key({ roles: ['agent'] }))
  now += 1001
  await Promise.all([search(), search(lanes.store), search()])
  assert.deepEqual((await missing()).sort(), [behind, ...silent].sort())
  assert.deepEqual([await outcomeOf(early), await outcomeOf(before)], [null, null])
  assert.equal((await outcomeOf(silent[1] ?? '')).status, 'missing')
})

test('a search that others overtake goes on, and what they recorded is recorded once', async () => {
  const agent = await gate.key({ roles: ['agent'] })
  await lanes.tell(0, agent, await lanes.decide(0, agent))
  now += 1
  const silent: string[] = []
  for (let i = 0; i < 8; i += 1) silent.push(await lanes.decide(1, agent))
  now += 1001
  const { store } = gate.server
  const before = await missing()
  // Another sidecar records the first of them between each read and its commit.
  const overtaken: Store = {
    ...store,
    async unreported(query) {
      const found = await store.unreported(query)
      if (found[0] !== undefined) await lanes.tell(2, agent, found[0].decisionId, 'outcome.missing')
      return found
    },
  }
  await search(overtaken)
  assert.deepEqual((await missing()).filter((id) => !before.includes(id)).sort(), silent.sort())
})

test('a search goes on where it stopped, in lanes that are new too', async () => {
  const agent = await gate.key({ roles: ['agent'] })
  await lanes.tell(0, agent, await lanes.decide(0, agent))
  const before = await missing()
  const watch = outcomeWatch(
    { store: lanes.store, clock, newId: idMaker(clock, randomBytes) },
    { withinMs: 1000, onMissing: () => undefined },
  )
  const silent: string[] = []
  for (const lane of [1, 7, 1, 7]) {
    now += 1
    silent.push(await lanes.decide(lane, agent))
    now += 1001
    await watch()
  }
  assert.deepEqual((await missing()).filter((id) => !before.includes(id)).sort(), silent.sort())
})
