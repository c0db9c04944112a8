import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { noteCancelled } from '../../src/actions/approvals/approvals.ts'
import { isLane, laneNumber } from '../../src/audit/chain.ts'
import { idMaker } from '../../src/base/id.ts'
import { type Gate, startGate, temporaryFolder } from '../helpers.ts'
import { processorMs } from '../processor.ts'
import { HANGS_MS, until } from '../until.ts'
import { openStream, type Reader, type SseEvent } from './sse.ts'
import { assertDone } from './support.ts'

type Key = Awaited<ReturnType<Gate['key']>>
const TOLD = /^(approval|gate|killswitch|policy)\./

interface Scene {
  gate: Gate
  keys: Record<'owner' | 'agent' | 'operator' | 'sandbox' | 'admin', Key>
}

async function scene(t: Parameters<typeof startGate>[0], dir = temporaryFolder()): Promise<Scene> {
  const gate = await startGate(t, { dir })
  const keys = {
    owner: await gate.key(),
    agent: await gate.key({ roles: ['agent'] }),
    operator: await gate.key({ roles: ['operator'] }),
    sandbox: await gate.key({ environment: 'test' }),
    admin: await gate.key({ roles: ['admin'] }),
  }
  return { gate, keys }
}

let amount = 2000
/** One thing of many, by number: decisions, holds, votes, uses, stops of every level, notes, in live and test. */
async function act({ gate, keys }: Scene, kind: number): Promise<void> {
  const key = kind % 2 === 0 ? keys.agent : keys.sandbox
  const post = async (by: Key, path: string, body: object) => (await gate.call(by, 'POST', path, body)).body.data
  const voter = kind % 2 === 0 ? keys.owner : await gate.key({ environment: 'test' })
  const stop = { reason: 'drill', triggeredBy: 'ann' }
  const over = { recoveredBy: 'ann', comment: 'over' }
  if (kind < 4) await post(key, '/gate/check', { tenantId: 'acme', action: 'email.send' })
  else if (kind < 8) {
    amount += 1
    const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount } }
    const { approvalId } = await post(key, '/gate/check', body)
    if (approvalId === null) return
    await post(voter, `/approvals/${approvalId}/${kind < 6 ? 'approve' : 'reject'}`, { approverId: 'x' })
    await post(key, '/gate/check', body)
  } else if (kind === 8) await post(keys.owner, '/audit/log', { eventType: 'my.note', data: {} })
  else {
    const [by, level] = kind === 9 ? [keys.admin, 'L4'] : [keys.operator, 'L3']
    await post(by, '/killswitch/trigger', { level, ...stop })
    await post(by, '/killswitch/recover', { level, ...over })
  }
}
const KINDS = 11

const idsOf = (events: readonly SseEvent[]): string[] => events.map(({ data }) => data.id)

/** Entries of which a key with every role is told, in order, by their chains. */
async function toldIn(gate: Gate, trail: string): Promise<Map<string, string[]>> {
  const told = new Map<string, string[]>()
  const add = async (from: string, types: RegExp) => {
    const page = { trail: from, order: 'asc', limit: 5000, offset: 0, sections: [] } as const
    const { items } = await gate.server.store.trailPage(page)
    for (const { header } of items.filter(({ header }) => types.test(header.type)))
      told.set(header.chain, [...(told.get(header.chain) ?? []), header.id])
  }
  await add(trail, TOLD)
  await add('_system', /^killswitch\./)
  if (trail === 'acme/test') await add('acme/live', /^policy\./)
  return told
}
const countIn = async (gate: Gate, trail: string) => [...(await toldIn(gate, trail)).values()].flat().length

/** Events by the chain that they are from, and where they stand in it: between chains there is no order. */
async function byChain(events: readonly SseEvent[], { server }: Gate) {
  const placed = events.map(async ({ id, event, data }) => {
    const chain = (await server.store.entry(data.id))?.header.chain ?? ''
    const place = placeIn(id, chain)
    assert.ok(place, id)
    return { chain, place, event, data }
  })
  return (await Promise.all(placed)).sort((a, b) => a.chain.localeCompare(b.chain))
}

/** A chain's part of a position, which is `own-service~lane:length` or `own-service-live~lane:length`. */
function placeIn(id: string, chain: string): string | undefined {
  const [shared = '', ...lanes] = id.split('~')
  const [own, service, live = own] = shared.split('-')
  if (isLane(chain)) return lanes.find((lane) => lane.startsWith(`${laneNumber(chain)}:`))
  return { _system: service, 'acme/live': live }[chain] ?? own
}

/** Waits until no event has come for a while. */
async function settled(reader: Reader): Promise<SseEvent[]> {
  for (let seen = -1; seen !== reader.events.length; ) {
    seen = reader.events.length
    await sleep(1000)
  }
  return reader.events
}

const first = await scene({ after })

test('from each id on, exactly what came after it, and the same to the byte; across a restart too', async (t) => {
  const { gate, keys } = first
  const readers = new Map<Key, Reader>()
  for (const key of Object.values(keys)) readers.set(key, await openStream(t, gate.server.url, key, startOf(key, keys)))
  for (let kind = 0; kind < KINDS; kind += 1) await act(first, kind)
  // Those that are told of everything have it all, and the others soon.
  for (const [key, chain] of [
    [keys.owner, 'acme/live'],
    [keys.sandbox, 'acme/test'],
  ] as const)
    await until('all is told', async () => readers.get(key)?.events.length === (await countIn(gate, chain)))
  const told = new Map<Key, SseEvent[]>()
  await Promise.all([...readers].map(async ([key, reader]) => told.set(key, await settled(reader))))
  await gate.server.close()
  const again = await startGate(t, { dir: gate.dir })
  for (const [key, events] of told) {
    assert.ok(events.length > 4)
    for (const [i, { id }] of [{ id: startOf(key, keys) }, ...events].entries()) {
      const reader = await openStream(t, again.server.url, key, id)
      const rest = events.slice(i)
      while (reader.events.length < rest.length) await sleep(2)
      await sleep(5)
      assert.deepEqual(await byChain(reader.events, again), await byChain(rest, again))
      reader.close()
    }
  }
  // Nothing comes late to who has all.
  const last = await openStream(t, again.server.url, keys.owner, told.get(keys.owner)?.at(-1)?.id)
  await sleep(300)
  assert.deepEqual(last.events, [])
})

/** Before everything. A test key follows the live side's policies too. */
function startOf(key: Key, { sandbox }: Scene['keys']): string {
  return key === sandbox ? '0-0-0' : '0-0'
}

test('nothing is lost and nothing comes twice, however often a reader comes back while others act', async (t) => {
  const busy = await scene(t)
  const { gate, keys } = busy
  for (const [key, chain] of [
    [keys.owner, 'acme/live'],
    [keys.sandbox, 'acme/test'],
  ] as const) {
    const got: SseEvent[] = []
    let lastId = startOf(key, keys)
    let acting = true
    /** Until as much has come as there is, however slow the machine is. */
    const allOf = async (reader: Reader, earlier: number) => {
      const end = performance.now() + HANGS_MS
      do await settled(reader)
      while (earlier + reader.events.length < (await countIn(gate, chain)) && performance.now() < end)
    }
    const acts = (async () => {
      const each = async (start: number) => {
        for (let i = 0; i < 12; i += 1) await act(busy, (start + i * 5) % KINDS)
      }
      await Promise.all([each(0), each(3), each(7)])
      acting = false
    })()
    for (let more = true; more; ) {
      const isLast = !acting
      // Else the service notes later what the stops cancelled, when nobody reads any more.
      if (isLast)
        await noteCancelled({ store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) })
      const reader = await openStream(t, gate.server.url, key, lastId)
      await (isLast ? allOf(reader, got.length) : sleep(Math.random() * 250))
      reader.close()
      got.push(...reader.events)
      lastId = reader.lastId()
      more = !isLast
    }
    await acts
    const ids = idsOf(got)
    assert.equal(new Set(ids).size, ids.length)
    const told = await toldIn(gate, chain)
    assert.ok(ids.length > 20 && (told.get('_system')?.length ?? 0) > 1)
    for (const [, of] of told)
      assert.deepEqual(
        ids.filter((id) => of.includes(id)),
        of,
      )
    assert.equal(ids.length, await countIn(gate, chain))
  }
})

test('who goes on after many entries that are not its own gets its own, and holds up nobody', async (t) => {
  const { gate, keys } = await scene(t)
  const [mine, other] = [await gate.key({ roles: ['agent'] }), keys.agent]
  const body = { tenantId: 'acme', action: 'email.send' }
  const decide = async (by: Key) => {
    const answer = await gate.call(by, 'POST', '/gate/check', body)
    assertDone(answer)
    return answer.body.data.decisionId
  }
  const decisionId = await decide(mine)
  for (let i = 0; i < 10; i += 1) await Promise.all(Array.from({ length: 50 }, () => decide(other)))
  const readers = await Promise.all(Array.from({ length: 8 }, () => openStream(t, gate.server.url, mine, '0-0')))
  // Checks go on meanwhile: between two answers this process does little for others.
  const times: number[] = []
  while (readers.some(({ events }) => events.length === 0) || times.length < 10) {
    const sent = processorMs()
    await gate.call(keys.owner, 'GET', '/killswitch/status')
    times.push(processorMs() - sent)
  }
  assert.ok(Math.max(...times) < 200)
  const last = await decide(mine)
  for (const reader of readers) {
    await reader.find(({ data }) => data.data.id === last)
    assert.deepEqual(
      reader.events.filter(({ event }) => event === 'gate.decision').map(({ data }) => data.data.id),
      [decisionId, last],
    )
  }
})
