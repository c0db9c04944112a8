import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { callerOf } from '../../src/actions/deps.ts'
import { eventStream } from '../../src/actions/events/events.ts'
import { POSITION_PATTERN } from '../../src/actions/events/position.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { laneOf } from '../../src/audit/chain.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Store } from '../../src/store/store.ts'
import { openFile, temporaryFolder } from '../helpers.ts'
import { aDecision, aKey, commit, creating, LIVE, note } from '../store/drafts.ts'
import { runs } from '../tier.ts'
import { HANGS_MS } from '../until.ts'

/** Lanes whose numbers do not sort like their texts; 0 is the trail's own chain. */
const LANES = [0, 1, 2, 10] as const

interface Append {
  kind: 'append'
  lane: (typeof LANES)[number]
  what: 'decision' | 'outcome' | 'note'
}
/** A new connection takes so many events, of those that are there. */
interface Take {
  kind: 'take'
  events: number
}
/** The client goes back to an earlier position, by the part of its events that it keeps. */
interface Back {
  kind: 'back'
  kept: number
}

const append: fc.Arbitrary<Append> = fc.record({
  kind: fc.constant('append' as const),
  lane: fc.constantFrom(...LANES),
  what: fc.constantFrom('decision' as const, 'outcome' as const, 'note' as const),
})
const take: fc.Arbitrary<Take> = fc.record({ kind: fc.constant('take' as const), events: fc.nat(5) })
const back: fc.Arbitrary<Back> = fc.record({
  kind: fc.constant('back' as const),
  kept: fc.double({ min: 0, max: 1, noNaN: true }),
})
const step = fc.oneof({ weight: 5, arbitrary: append }, { weight: 2, arbitrary: take }, { weight: 1, arbitrary: back })

interface Got {
  id: string
  position: string
}

/** A trail, and a reader of it that may receive everything. */
async function scene(store: Store) {
  const key = aKey({ roles: ['owner'] })
  await commit(store, creating('key', key))
  const caller = callerOf(key, 'acme')
  const newId = idMaker(Date.now, randomBytes)
  const deps = { store, clock: Date.now, newId, policies: new Map(), history: historyReader(store) }
  return {
    async append({ lane, what }: Append): Promise<void> {
      const chain = lane === 0 ? LIVE : laneOf(LIVE, lane)
      const type = what === 'outcome' ? 'outcome.missing' : 'my.note'
      const entry = what === 'decision' ? { ...aDecision('allow'), chain } : note({}, { chain, type })
      await commit(store, { guards: [], writes: [], entries: [entry] })
    },
    /** The first position of a connection, and the events up to so many of them, or of a time. */
    async taken(from: string | undefined, events: number, limitMs = HANGS_MS): Promise<{ start: string; got: Got[] }> {
      const endMs = performance.now() + limitMs
      const got: Got[] = []
      let start: string | undefined
      for await (const { position = '', event } of eventStream(deps, caller, from, () => performance.now() > endMs)
        .items) {
        assert.match(position, new RegExp(POSITION_PATTERN))
        start ??= position
        if (event !== undefined) got.push({ id: JSON.parse(event.json).id, position })
        if (got.length >= events) break
      }
      return { start: start ?? assert.fail(), got }
    },
    /** Ids of the entries that are told, by chain and in order. */
    async told(): Promise<string[][]> {
      const ofChain = async (chain: string) => {
        const headers = (await store.entriesFrom(chain, 0, 1000)).map(({ header }) => header)
        return headers.filter(({ type }) => /^(gate|outcome)\./.test(type)).map(({ id }) => id)
      }
      return Promise.all((await store.lanes(LIVE)).map(ofChain))
    },
  }
}

async function follow(store: Store, steps: readonly (Append | Take | Back)[], meanwhile: readonly Append[]) {
  const reader = await scene(store)
  const isAppend = (one: { kind: string }): one is Append => one.kind === 'append'
  const half = Math.floor(steps.length / 3)
  for (const one of steps.slice(0, half).filter(isAppend)) await reader.append(one)
  const past = (await reader.told()).flat()
  const { start } = await reader.taken(undefined, 0)
  let seen: Got[] = []
  const here = (): string => seen.at(-1)?.position ?? start
  const left = async (): Promise<number> => (await reader.told()).flat().length - past.length - seen.length
  for (const one of steps.slice(half)) {
    if (one.kind === 'append') await reader.append(one)
    else if (one.kind === 'back') seen = seen.slice(0, Math.floor(one.kept * (seen.length + 1)))
    else {
      const connection = await reader.taken(here(), Math.min(one.events, await left()))
      assert.equal(connection.start, here())
      seen.push(...connection.got)
    }
  }
  // A reader that stays while more comes, in lanes that are new too.
  const more = meanwhile.filter(({ what }) => what !== 'note').length
  const [{ got }] = await Promise.all([
    reader.taken(here(), (await left()) + more),
    sleep(20).then(async () => {
      for (const one of meanwhile) await reader.append(one)
    }),
  ])
  seen.push(...got)
  const ids = seen.map(({ id }) => id)
  for (const inChain of await reader.told())
    assert.deepEqual(
      ids.filter((id) => inChain.includes(id)),
      inChain.filter((id) => !past.includes(id)),
    )
  assert.equal(ids.length, (await reader.told()).flat().length - past.length)
  assert.deepEqual((await reader.taken(here(), 1, 150)).got, [])
}

test('whatever is appended where, and wherever a reader goes on, each event comes exactly once', async () => {
  const histories = fc.asyncProperty(
    fc.array(step, { maxLength: 30 }),
    fc.array(append, { maxLength: 6 }),
    async (steps, meanwhile) => {
      const store = openFile(temporaryFolder())
      try {
        await follow(store, steps, meanwhile)
      } finally {
        await store.close()
      }
    },
  )
  await fc.assert(histories, { numRuns: runs(100), endOnFailure: true })
})

test('from each position of a stream on, exactly what came after it comes', async () => {
  const store = openFile(temporaryFolder())
  const reader = await scene(store)
  const { start } = await reader.taken(undefined, 0)
  for (const lane of [1, 0, 10, 10, 2, 1, 0] as const)
    for (const what of ['decision', 'note', 'outcome'] as const) await reader.append({ kind: 'append', lane, what })
  const { got } = await reader.taken(start, 14)
  for (const [i, position] of [start, ...got.map((one) => one.position)].entries()) {
    const rest = await reader.taken(position, 14 - i)
    assert.equal(rest.start, position)
    assert.deepEqual(
      rest.got.map(({ id }) => id).sort(),
      got
        .slice(i)
        .map(({ id }) => id)
        .sort(),
    )
  }
  await store.close()
})
