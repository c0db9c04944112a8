import { createHook, executionAsyncId } from 'node:async_hooks'
import { test } from 'node:test'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { assertDone } from './support.ts'

/** Limits of a plain check. Each hop is a turn of the queue and an object; they came one by one, and were 21. */
const MOST_HOPS = 6
const MOST_PROMISES = 12

/** Counts the promises that descend from requests, and how often one of them goes on. */
function countHops() {
  const ours = new Set<number>()
  const promises = new Set<number>()
  const counts = { hops: 0, promises: 0 }
  const hook = createHook({
    init(id, type, trigger) {
      // The parser of the connection is what each of its requests comes from.
      const isOurs = type === 'HTTPINCOMINGMESSAGE' || ours.has(trigger) || ours.has(executionAsyncId())
      if (!isOurs) return
      ours.add(id)
      if (type !== 'PROMISE') return
      promises.add(id)
      counts.promises += 1
    },
    before(id) {
      if (promises.has(id)) counts.hops += 1
    },
  }).enable()
  return { counts, end: () => hook.disable() }
}

test('a plain check takes few asynchronous hops', async (t) => {
  const { counts, end } = countHops()
  t.after(end)
  const gate = await startGate(t)
  const key = await gate.key()
  const check = async () =>
    assertDone(await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' }))
  // The first one compiles shapes and policies.
  for (let i = 0; i < 3; i += 1) await check()
  // One that comes within a second of a stall of the process waits for turns that others do not take.
  await until('a check takes few hops', async () => {
    const before = { ...counts }
    await check()
    const [hops, promises] = [counts.hops - before.hops, counts.promises - before.promises]
    t.diagnostic(`${hops} hops, ${promises} promises`)
    return hops > 0 && hops <= MOST_HOPS && promises <= MOST_PROMISES
  })
})
