import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../tier.ts'
import { newWorld, type World } from './histories.ts'
import type { Command } from './histories-command.ts'
import * as c from './histories-commands.ts'
import { assertAsModelled } from './histories-invariants.ts'
import { DUE_MS, discrepancies, failedChecks, LIVE, type Model, newToken, SYSTEM } from './histories-model.ts'
import * as o from './histories-outages.ts'

/** A running service with two people, and the model of what it has written by then. */
async function start(): Promise<{ model: Model; real: World }> {
  const real = await newWorld()
  const agent = await real.key('acme', ['agent'], 'bot')
  const ann = await real.key('acme', ['approver'], 'ann')
  const { store } = real.life
  const lengths = await store.lengths([SYSTEM, LIVE])
  const { nowMs } = real
  const entriesOf = (chain: string) =>
    Array.from({ length: lengths.get(chain) ?? 0 }, () => ({ token: newToken(), atMs: nowMs, waitsMs: DUE_MS }))
  const model: Model = {
    stored: {
      chains: new Map([SYSTEM, LIVE].map((chain) => [chain, entriesOf(chain)])),
      checkpoints: [],
      pruned: new Map(),
      taken: 0,
      keys: [{ token: newToken(), sinceMs: nowMs }],
      decisions: [],
      approvals: [],
      agents: new Map([['acme', agent]]),
    },
    backups: [],
    anchors: [],
    exported: [],
    isSuspended: false,
    bundleKey: null,
    heartbeatMs: nowMs,
    nowMs,
    ann,
  }
  await assertAsModelled(model, real)
  return { model, real }
}

async function run(commands: Iterable<Command>): Promise<Model> {
  const started = await start()
  try {
    await fc.asyncModelRun(async () => started, commands)
  } finally {
    await started.real.life.store.close()
  }
  return started.model
}

const APPROVED = [c.holds, c.votes(0, true), c.uses(0)]

test('what an approval allowed is erased with it, and bundles from before stay as they are', async () => {
  const model = await run([...APPROVED, c.exports(1), c.erases(0, 100), c.exports(1), c.exports(0), o.restarts(true)])
  assert.deepEqual(
    model.exported.map(({ bundle }) => bundle.proof.redacted),
    [[], ['request', 'approval'], ['request']],
  )
})

test('a history that was taken back: nothing is written until that is settled, and no key of it is trusted then', async () => {
  const [check, taken] = [c.checks('acme'), [o.rotates, c.arrives, c.checks('late'), ...APPROVED, c.exports(0)]]
  const suspended = [o.putsBack(0, true), check, c.holds, c.signs, c.exports(0), c.erases(0, 100), c.waits(12)]
  const model = await run([
    check,
    c.exports(0),
    c.signs,
    o.backsUp,
    ...taken,
    ...suspended,
    o.settles,
    check,
    o.rotates,
    c.exports(0),
  ])
  const [, old] = model.exported
  assert.deepEqual(old && failedChecks(model, old), ['certificate'])
  assert.equal(
    model.anchors.some(({ chain, size }) => chain === 'late/live' && size === 0),
    true,
  )
})

test('what was pruned is gone, with its approvals; what is open, and everything later, stays whole', async () => {
  const check = c.checks('acme')
  const old = [check, ...APPROVED, c.exports(0), c.signs, c.holds, check, c.signs]
  const model = await run([
    ...old,
    o.prunes(LIVE),
    check,
    c.exports(0),
    o.restarts(false),
    o.prunes(SYSTEM),
    c.exports(1),
  ])
  assert.deepEqual([model.stored.approvals.length, (model.stored.pruned.get(LIVE) ?? 0) > 5], [1, true])
  assert.equal((model.stored.pruned.get(SYSTEM) ?? 0) > 5, true)
})

test('an approval that was erased is parted by pruning, and what is left of it stays erased', async () => {
  const used = [c.holds, c.votes(0, true), c.signs, c.uses(0), c.erases(0, 100)]
  const model = await run([...used, c.signs, o.prunes(LIVE), c.exports(0)])
  assert.deepEqual(
    model.exported.map(({ bundle }) => bundle.proof.redacted),
    [['request', 'approval']],
  )
})

test('a backup that lacks nothing of what was anchored is no rollback; one of the history that was left is a fork', async () => {
  const check = c.checks('acme')
  const taken = [check, c.signs, check, c.signs, check, check, c.signs, c.signs, o.backsUp]
  const lost = [o.backsUp, check, o.putsBack(0, false), ...taken]
  assert.equal((await run(lost)).isSuspended, false)
  const left = await run([...lost, o.putsBack(0, false), o.settles, check, c.signs, o.putsBack(1, false)])
  assert.deepEqual(Object.fromEntries(discrepancies(left)), { _system: 'FORK', 'acme/live': 'FORK' })
})

test('a backup that goes on behind the anchors of another history: what was taken of it is put there again', async () => {
  const check = c.checks('acme')
  const lost = [check, c.waits(12), o.backsUp, check, c.waits(12), o.backsUp, o.putsBack(0, false), o.settles]
  const { anchors } = await run([...lost, o.putsBack(1, false), o.settles])
  const sizes = anchors.flatMap(({ chain, size }) => (chain === LIVE ? [size] : []))
  const [first = 0, second = 0] = sizes
  assert.deepEqual([sizes, second - first], [[first, second, first, second], 1])
})

test('a bundle that says what only a lost history erased does not hold to the trail that is in place', async () => {
  const erased = [o.backsUp, c.erases(0, 100), c.exports(0)]
  const model = await run([c.checks('acme'), c.signs, ...erased, o.putsBack(0, false)])
  assert.deepEqual(
    [model.exported.map(({ bundle }) => bundle.proof.redacted), model.isSuspended],
    [[['request']], false],
  )
})

test('nothing counts that a log key certified or covered after it was replaced, be it in another history', async () => {
  const check = c.checks('acme')
  const replaced = [check, o.backsUp, o.rotates, o.backsUp]
  const model = await run([...replaced, o.putsBack(0, false), c.exports(0), check, c.exports(1), o.putsBack(1, false)])
  assert.deepEqual(
    model.exported.map((one) => failedChecks(model, one)),
    [['certificate'], ['certificate', 'times']],
  )
})

/** Half a minute of them, all in all. */
const RUNS = runs(14)

test('whatever happens to a trail, what is verified of it is what happened', async () => {
  const property = fc.asyncProperty(fc.commands(c.COMMANDS, { maxCommands: 40, size: 'max' }), async (commands) => {
    await run(commands)
  })
  // The seed is told. To find fewer commands that fail takes minutes: leave `endOnFailure` out for it.
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true, includeErrorInReport: true })
})
