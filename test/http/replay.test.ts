import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { OpenedDraft } from '../../src/actions/replay/jobs.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { digestOf } from '../../src/base/digest.ts'
import { openDraftHere } from '../../src/http/replay/here.ts'
import { openDraftInThread } from '../../src/http/replay/thread.ts'
import { HEADER } from '../authoring/sources.ts'
import { type Answer, inThisThread, startGate } from '../helpers.ts'
import { begin, live } from '../replay/day.ts'
import { DAY_POLICY, dayDraft } from '../replay/support.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused, entries } from './support.ts'

const PATH = '/policies/replay'
const day = await begin({ after })
await live(day)
const { gate } = day
const auditor = await gate.key({ roles: ['auditor'] })
const other = await gate.key({ tenant: 'other' })
const sandbox = await gate.key({ environment: 'test' })

const LATE = (HEADER + DAY_POLICY).replace('value: 6}', 'value: 13}')
const draft = (text = LATE) => ({ files: [{ name: 'main.yaml', text }], from: '2026-01-01T00:00:00Z' })

type Key = typeof auditor

async function ended(id: string, key: Key = auditor, on = gate) {
  let data: Answer['body']['data']
  await until('the replay has ended', async () => {
    ;({ data } = (await on.call(key, 'GET', `${PATH}/${id}`)).body)
    return data.status !== 'waiting' && data.status !== 'running'
  })
  return data
}

test('a replay reports what a draft changes, explains each changed decision, and records nothing', async () => {
  const before = await entries(gate)
  const begun = await gate.call(auditor, 'POST', PATH, draft())
  assertDone(begun)
  const { id } = begun.body.data
  const { status, policyDigest, read, total, report } = await ended(id)
  assert.deepEqual([status, policyDigest, read], ['done', dayDraft(['value: 6}', 'value: 13}']).digest, total])
  assert.deepEqual([report.decided, report.changed, report.stopped], [21, 5, 1])
  assert.deepEqual(
    report.matrix.find(({ from, to }: Record<string, string>) => from !== to),
    {
      from: 'allow',
      to: 'require_approval',
      count: 5,
    },
  )
  const { first } = report.kinds[0]
  assert.deepEqual([first.before.rules[0].id, first.after.rules[0].id], ['all', 'night'])
  const listed = await gate.call(auditor, 'GET', `${PATH}/${id}/changes?limit=2&offset=1&from=allow&rule=night`)
  assertDone(listed)
  assert.deepEqual(listed.body.page, { limit: 2, offset: 1, total: 5 })
  assert.deepEqual(
    listed.body.data.map(({ to, after }: { to: { rule: string }; after: { rules: { id: string }[] } }) => [
      to.rule,
      after.rules[0]?.id,
    ]),
    [
      ['night', 'night'],
      ['night', 'night'],
    ],
  )
  const others = await gate.call(auditor, 'GET', `${PATH}/${id}/changes?to=deny`)
  assert.equal(others.body.page.total, 0)
  assert.equal(await entries(gate), before)
})

test('it is found by the tenant and the environment that began it alone, until it is cancelled', async () => {
  const { id } = (await gate.call(auditor, 'POST', PATH, draft())).body.data
  await ended(id)
  for (const path of [`${PATH}/${id}`, `${PATH}/${id}/changes`])
    for (const key of [other, sandbox]) assertRefused(await gate.call(key, 'GET', path), 'not_found')
  assertRefused(await gate.call(other, 'DELETE', `${PATH}/${id}`), 'not_found')
  assert.equal((await gate.call(auditor, 'DELETE', `${PATH}/${id}`)).body.data.status, 'done')
  assertRefused(await gate.call(auditor, 'GET', `${PATH}/${id}`), 'not_found')
})

test('a replay is sealed once, by whoever may see it, and the entry binds the report that was given out', async () => {
  const size = (await gate.server.store.lengths(['acme/live'])).get('acme/live')
  const { id } = (await gate.call(auditor, 'POST', PATH, { ...draft(), action: '**' })).body.data
  const { report, seal: none, ...view } = await ended(id)
  assert.equal(none, null)
  for (const key of [other, sandbox]) assertRefused(await gate.call(key, 'POST', `${PATH}/${id}/seal`), 'not_found')
  const before = await entries(gate)
  const sealing = () => gate.call(auditor, 'POST', `${PATH}/${id}/seal`)
  const [one, again] = await Promise.all([sealing(), sealing()])
  assertDone(one)
  assert.deepEqual([again.body.data.seal, await entries(gate)], [one.body.data.seal, before + 1])
  const { seal } = (await gate.call(auditor, 'GET', `${PATH}/${id}`)).body.data
  assert.deepEqual(seal, one.body.data.seal)
  assert.equal(seal.report, digestOf(canonicalJson(report)))
  const { data: told, actor } = (await gate.call(auditor, 'GET', `/audit/chain?order=desc&limit=1`)).body.data[0]
  assert.deepEqual([actor.id, told.tenantId, told.trail, told.action], [auditor.id, 'acme', 'acme/live', '**'])
  assert.deepEqual([told.policyDigest, told.from, told.to], [view.policyDigest, view.from, null])
  assert.deepEqual([told.matrix, told.report, told.heads[0].size], [report.matrix, seal.report, size])
  assert.equal(told.inForce, gate.server.store.state().policies.get('acme')?.digest)
})

test('a test key, whose trail is not that of policies, seals nothing there', async () => {
  const before = await entries(gate)
  const { id } = (await gate.call(sandbox, 'POST', PATH, draft())).body.data
  await ended(id, sandbox)
  assertRefused(await gate.call(sandbox, 'POST', `${PATH}/${id}/seal`), 'forbidden')
  assert.equal(await entries(gate), before)
})

test('a replay without a result cannot be sealed', async (t) => {
  const { gate: slow, gone } = await waiting(t)
  const key = await slow.key()
  const { id } = (await slow.call(key, 'POST', PATH, draft())).body.data
  await until('it runs', () => gone.length === 1)
  assertRefused(await slow.call(key, 'POST', `${PATH}/${id}/seal`), 'not_found')
  gone[0]?.()
  await ended(id, key, slow)
  assertDone(await slow.call(key, 'POST', `${PATH}/${id}/seal`))
})

test('a draft with faults fails with its diagnostics', async () => {
  const { id } = (await gate.call(auditor, 'POST', PATH, draft(LATE.replace('effect: allow', 'effect: alow')))).body
    .data
  const { status, fault, policyDigest, report, diagnostics } = await ended(id)
  assert.deepEqual([status, fault, policyDigest, report], ['failed', 'The draft has faults.', null, null])
  assert.ok(diagnostics.some(({ severity }: { severity: string }) => severity === 'error'))
})

const REFUSED: [name: string, body: object][] = [
  ['no files', {}],
  ['a name that leaves the folder', { files: [{ name: '../x.yaml', text: '' }] }],
  ['a range that ends before it begins', { ...draft(), to: '2025-01-01T00:00:00Z' }],
  ['a time without a zone', { ...draft(), from: '2026-01-01T00:00:00' }],
  ['a pattern that is none', { ...draft(), action: 'a**b' }],
  ['a sample by its own history', { ...draft(), sample: 5, history: 'draft' }],
  ['an unknown history', { ...draft(), history: 'other' }],
]
for (const [name, body] of REFUSED) {
  test(`refused: ${name}`, async () => assertRefused(await gate.call(auditor, 'POST', PATH, body), 'invalid_request'))
}

/** A service whose drafts wait until they are let go. */
async function waiting(t: Parameters<typeof startGate>[0]) {
  const gone: (() => void)[] = []
  const held = startGate(t, {
    policies: { 'acme/main.yaml': LATE, 'beta/main.yaml': LATE.replace('tenant: acme', 'tenant: beta') },
    threads: {
      ...inThisThread,
      async openDraft(source, signal): Promise<OpenedDraft> {
        await new Promise<void>((resolve, reject) => {
          gone.push(resolve)
          signal.addEventListener('abort', () => reject(signal.reason))
        })
        return openDraftHere(source, signal)
      },
    },
  })
  return { gate: await held, gone }
}

test('a tenant has one replay at a time, others beside it, and three under way', async (t) => {
  const { gate, gone } = await waiting(t)
  const [acme, beta] = [await gate.key(), await gate.key({ tenant: 'beta' })]
  const start = async (key: Key, text = LATE) => (await gate.call(key, 'POST', PATH, draft(text))).body.data?.id
  const ids = [await start(acme), await start(acme), await start(acme)]
  const ofBeta = await start(beta, LATE.replace('tenant: acme', 'tenant: beta'))
  assertRefused(await gate.call(acme, 'POST', PATH, draft()), 'overloaded')
  const stateOf = async (id: string, key = acme) => (await gate.call(key, 'GET', `${PATH}/${id}`)).body.data.status
  assert.deepEqual(
    [await stateOf(ids[0]), await stateOf(ids[1]), await stateOf(ofBeta, beta)],
    ['running', 'waiting', 'running'],
  )
  // A cancelled one that waits never runs.
  assert.equal((await gate.call(acme, 'DELETE', `${PATH}/${ids[1]}`)).body.data.status, 'cancelled')
  gone[0]?.()
  assert.equal((await ended(ids[0], acme, gate)).status, 'done')
  await until('it runs', async () => (await stateOf(ids[2])) === 'running')
  assert.equal((await gate.call(beta, 'DELETE', `${PATH}/${ofBeta}`)).body.data.status, 'cancelled')
  gone[2]?.()
  assert.equal((await ended(ids[2], acme, gate)).status, 'done')
  assert.equal(gone.length, 3)
  // Two results of a trail are kept.
  const next = await start(acme)
  await until('it runs', async () => (await stateOf(next)) === 'running')
  gone[3]?.()
  assert.equal((await ended(next, acme, gate)).status, 'done')
  await start(acme)
  assertRefused(await gate.call(acme, 'GET', `${PATH}/${ids[0]}`), 'not_found')
  assert.equal(await stateOf(ids[2]), 'done')
})

test('a service that ends does not wait for a replay', async (t) => {
  const { gate } = await waiting(t)
  const key = await gate.key()
  assertDone(await gate.call(key, 'POST', PATH, draft()))
  await gate.server.close()
})

test('in a thread, a draft decides as it does here, and an aborted one ends its thread', async () => {
  const bytes = new TextEncoder().encode(LATE)
  const source = { tenant: 'acme', files: [{ name: 'main.yaml', bytes }], lists: new Map(), ignored: [] }
  const cancel = new AbortController()
  const [there, here] = [await openDraftInThread(source, cancel.signal), await openDraftHere(source, cancel.signal)]
  assert.deepEqual([there.digest, there.reachMs, there.diagnostics], [here.digest, here.reachMs, here.diagnostics])
  const options = { environment: 'live', keys: new Map(), countsIn: 'chain', history: 'recorded', fromMs: 0 } as const
  const replayer = await there.start(options)
  assert.equal((await replayer.report()).decided, 0)
  const working = replayer.add([])
  cancel.abort(new Error('enough'))
  await Promise.allSettled([working])
  await assert.rejects(replayer.report(), /enough/)
  await assert.rejects(openDraftInThread(source, cancel.signal), /enough/)
})

test('a draft that breaks its thread fails with the reason', async () => {
  const bytes = new TextEncoder().encode(LATE)
  const source = { tenant: 'acme', files: [{ name: 'main.yaml', bytes }], lists: new Map(), ignored: [] }
  const opened = await openDraftInThread(source, new AbortController().signal)
  const { add } = await opened.start({
    environment: 'live',
    keys: new Map(),
    countsIn: 'chain',
    history: 'recorded',
    fromMs: 0,
  })
  const broken = {
    part: 'reported',
    chain: 'acme/live',
    seq: 0,
    tsMs: 0,
    decision: '{',
    grounds: '{}',
    risk: '{}',
    request: undefined,
    approval: undefined,
  } as const
  await assert.rejects(add([broken]), /cannot be replayed/)
})
