import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { redact } from '../../src/actions/audit/redact.ts'
import { idMaker } from '../../src/base/id.ts'
import { HISTORIES } from '../../src/replay/decide.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { startGate } from '../helpers.ts'
import { assertDone } from '../http/support.ts'
import { begin, live, policies } from './day.ts'
import { changesIn, dayDraft, replayed } from './support.ts'

const HOST = { kind: 'host', id: 'host:0' } as const
test('the unchanged set changes nothing, over histories, sessions, approvals, stops and a clock set back', async (t) => {
  const day = await begin(t)
  await live(day)
  // The trail stays ahead of the clock.
  day.clock.move(-30 * 60_000)
  for (const key of day.agents)
    assertDone(
      await day.gate.call(key, 'POST', '/gate/check', {
        tenantId: 'acme',
        action: 'transfer.bank',
        context: { amount: 1 },
      }),
    )
  for (const history of HISTORIES) {
    const report = await replayed(day.gate.server.store, dayDraft(), { history })
    assert.deepEqual([changesIn(report), report.kinds, report.unevaluable.facts], [{}, [], []], history)
    assert.deepEqual([report.scores.higher, report.scores.lower], [0, 0])
    assert.deepEqual([report.stopped, report.unknown, report.assumed], [1, { erased: 0, pruned: 0 }, 0])
    assert.equal(report.decided, 23)
  }
})

test('after a restart and an erasure, the rest changes nothing, and what is gone is counted as unknown', async (t) => {
  const day = await begin(t)
  await live(day)
  const { store } = day.gate.server
  const end = await lengthOf(store, 'acme/live')
  const deps = { store, clock: day.clock.clock, newId: idMaker(Date.now, randomBytes) }
  await redact(deps, HOST, {
    chain: 'acme/live',
    first: 0,
    end: Math.floor(end / 2),
    reason: 'Asked.',
  })
  await day.gate.server.close()
  const again = await startGate(t, { policies, clock: day.clock.clock, dir: day.gate.dir })
  for (const history of HISTORIES) {
    const report = await replayed(again.server.store, dayDraft(), { history })
    assert.deepEqual([changesIn(report), report.kinds], [{}, []], history)
    assert.ok(report.unknown.erased > 0, JSON.stringify(report.unknown))
    assert.equal(report.decided + report.unknown.erased, 21)
  }
})
