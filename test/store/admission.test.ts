import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { eventEntry } from '../../src/actions/deps.ts'
import { admissionOf, type Override, type RequiredReplay } from '../../src/actions/policies/admission.ts'
import { pushSet } from '../../src/actions/policies/push.ts'
import type { SealedReplay } from '../../src/actions/replay/seal.ts'
import type { PolicySource } from '../../src/authoring/load/files.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import { idMaker } from '../../src/base/id.ts'
import { DAY_MS, formatTimestamp } from '../../src/base/time.ts'
import type { PolicySet } from '../../src/policies/set.ts'
import { HOST } from '../audit/histories.ts'
import { ACME_POLICY, inThisThread, startGate } from '../helpers.ts'

const DRAFT = ACME_POLICY.replace('value: 1000}', 'value: 500}')
const OBSERVED = DRAFT.replace('tenant: acme\n', 'tenant: acme\nmode: observe\n')
const BOUNDS: RequiredReplay = { since: '7d', maxNewAllows: 1, maxNewDenies: 2 }

const { server, key } = await startGate({ after }, { watch: 'off', policies: {} })
await key()
const { store } = server
let nowMs = Date.now()
const deps = {
  ...{ store, clock: () => nowMs, newId: idMaker(Date.now, randomBytes), requireReplay: BOUNDS },
  compile: inThisThread.policyWorker.compile,
}

function sourceOf(text: string): PolicySource {
  return { tenant: 'acme', files: [{ name: 'main.yaml', bytes: Buffer.from(text) }], lists: new Map(), ignored: [] }
}

function setOf(text: string): PolicySet {
  return loadPolicySet(sourceOf(text)).set ?? assert.fail('the set has faults')
}

const [inForce, draft, observed] = [setOf(ACME_POLICY), setOf(DRAFT), setOf(OBSERVED)]
const record = () => store.state().policies.get('acme')
const put = (text: string, requireReplay: RequiredReplay | null) =>
  pushSet({ ...deps, requireReplay }, { set: setOf(text), source: sourceOf(text), earlier: record() }, HOST)

const cell = (from: 'allow' | 'deny' | 'require_approval' | 'none', to: 'allow' | 'deny', count: number) => ({
  from,
  to,
  count,
})

/** A replay of the draft as `replay --seal` records it, of the last seven days. */
function sealed(changes: Partial<SealedReplay> = {}): SealedReplay {
  return {
    ...{ tenantId: 'acme', trail: 'acme/live', policyDigest: draft.digest, inForce: inForce.digest },
    ...{ at: formatTimestamp(nowMs), from: formatTimestamp(nowMs - 7 * DAY_MS), to: null },
    ...{ heads: [], history: 'recorded', limits: [], report: inForce.digest },
    ...{ decided: 9, changed: 3, stopped: 0, unknown: { erased: 0, pruned: 0 }, assumed: 0 },
    matrix: [cell('allow', 'allow', 6), cell('deny', 'allow', 1), cell('allow', 'deny', 2)],
    ...changes,
  }
}

async function recorded(type: 'policy.replayed' | 'policy.overridden', data: object): Promise<string> {
  const entry = eventEntry(deps, 'acme/live', type, data, HOST)
  await store.commit({ guards: [], writes: [], entries: [entry] })
  return entry.id
}

/** The reason for which a set is refused; the entry that admits it, or null, otherwise. */
async function verdict(set: PolicySet = draft): Promise<string | null> {
  const admission = await admissionOf(deps, set, record())
  return 'fault' in admission ? admission.fault : admission.by
}

test('the first set of a tenant needs no replay; the next one does, and is told how to get one', async () => {
  await put(ACME_POLICY, BOUNDS)
  assert.equal(record()?.digest, inForce.digest)
  await assert.rejects(put(DRAFT, BOUNDS), {
    name: 'PolicyNotAdmitted',
    message: `replay_required: The set ${draft.digest} was not tried on the requests of the last 7d in place of the set in force. Run \`gate-sidecar replay --seal\` with it, or put it in force with a reason by \`gate-sidecar policies override --tenant acme\`.`,
  })
  assert.equal(record()?.digest, inForce.digest)
  assert.equal(await verdict(inForce), null, 'the set in force needs none')
  assert.deepEqual(await admissionOf({ ...deps, requireReplay: null }, draft, record()), { by: null })
})

const NOT_TRIED = /was not tried on the requests of the last 7d/
const REFUSED: [name: string, changes: () => Partial<SealedReplay>, fault: RegExp][] = [
  ['of another set', () => ({ policyDigest: observed.digest }), NOT_TRIED],
  ['against another set', () => ({ inForce: observed.digest }), NOT_TRIED],
  ['against none', () => ({ inForce: null }), NOT_TRIED],
  ['on the trail of tests', () => ({ trail: 'acme/test' }), NOT_TRIED],
  ['on some actions', () => ({ action: 'payment.*' }), NOT_TRIED],
  ['on a sample', () => ({ sample: 5 }), NOT_TRIED],
  ['that ends before the newest', () => ({ to: formatTimestamp(nowMs) }), NOT_TRIED],
  ['by the history of the draft', () => ({ history: 'draft' }), NOT_TRIED],
  ['on a second less', () => ({ from: formatTimestamp(nowMs - 7 * DAY_MS + 1000) }), NOT_TRIED],
  [
    'from long ago',
    () => ({ at: formatTimestamp(nowMs - 8 * DAY_MS), from: formatTimestamp(nowMs - 15 * DAY_MS) }),
    /which is older than 7d/,
  ],
  [
    'of nothing but stopped requests',
    () => ({ decided: 0, stopped: 3, matrix: [] }),
    /decided no request, since a stop had denied all of them/,
  ],
  [
    'with two new allows',
    () => ({ matrix: [cell('deny', 'allow', 1), cell('require_approval', 'allow', 1)] }),
    /newly allows 2 requests, more than 1/,
  ],
  [
    'with three new denies',
    () => ({ matrix: [cell('allow', 'deny', 2), cell('require_approval', 'deny', 1), cell('deny', 'deny', 9)] }),
    /newly denies 3 requests, more than 2/,
  ],
  [
    'with requests that are unknown',
    () => ({ unknown: { erased: 1, pruned: 1 } }),
    /newly allows 3 requests, 2 unknown among them, more than 1/,
  ],
]
for (const [name, changes, fault] of REFUSED)
  test(`a sealed replay ${name} admits no set`, async () => {
    await recorded('policy.replayed', sealed(changes()))
    assert.match((await verdict()) ?? 'admitted', fault)
  })

test('the newest sealed replay within bounds admits the set, until it is too old, whatever came before', async () => {
  const id = await recorded('policy.replayed', sealed({ matrix: [cell('none', 'deny', 9), cell('deny', 'allow', 1)] }))
  await recorded('policy.replayed', sealed({ sample: 3 }))
  assert.equal(await verdict(), id)
  nowMs += 7 * DAY_MS
  assert.equal(await verdict(), id)
  nowMs += DAY_MS
  assert.match((await verdict()) ?? '', NOT_TRIED)
  nowMs -= 8 * DAY_MS
  const worse = await recorded('policy.replayed', sealed({ matrix: [cell('deny', 'allow', 2)] }))
  assert.match((await verdict()) ?? '', new RegExp(`was tried by ${worse}, which newly allows 2`))
})

test('many replays of other sets do not hide the one that counts', async () => {
  const id = await recorded('policy.replayed', sealed())
  const other = sealed({ policyDigest: observed.digest })
  const entries = Array.from({ length: 600 }, () => eventEntry(deps, 'acme/live', 'policy.replayed', other, HOST))
  await store.commit({ guards: [], writes: [], entries })
  assert.equal(await verdict(), id)
})

test('an entry that was altered to say nothing admits nothing', async () => {
  await recorded('policy.replayed', sealed())
  const page = async (query: Parameters<typeof store.page>[0]) => {
    const { items, ...more } = await store.page(query)
    return { ...more, items: items.map((entry) => ({ ...entry, sections: [] })) }
  }
  const admission = await admissionOf({ ...deps, store: { ...store, page } }, draft, record())
  assert.match('fault' in admission ? admission.fault : '', NOT_TRIED)
})

test('a set that is only observed is admitted by no replay, unless the one before was observed too', async () => {
  await recorded('policy.replayed', sealed({ policyDigest: observed.digest }))
  assert.match((await verdict(observed)) ?? '', /is only observed, so that every action would run/)
})

test('an override admits one set in place of one, once, and the entry of the set names it', async () => {
  const { revision = 0 } = record() ?? {}
  const override: Override = {
    ...{ tenantId: 'acme', digest: draft.digest, inForce: inForce.digest, revision, reason: 'urgent' },
  }
  await recorded('policy.overridden', { ...override, digest: observed.digest, revision: revision + 1 })
  assert.match((await verdict(observed)) ?? '', /only observed/, 'of another revision')
  const id = await recorded('policy.overridden', override)
  assert.equal(await verdict(), id)
  assert.match((await verdict(observed)) ?? '', /only observed/, 'of another set')
  nowMs += 8 * DAY_MS
  assert.match((await verdict()) ?? '', NOT_TRIED, 'from long ago')
  nowMs -= 8 * DAY_MS
  await put(DRAFT, BOUNDS)
  const [load] = (
    await store.page({
      ...{ chain: 'acme/live', eventType: 'policy.loaded', order: 'desc', limit: 1, offset: 0, sections: ['data'] },
    } as const)
  ).items
  assert.equal(JSON.parse(load?.sections[0]?.json ?? '{}').admittedBy, id)
  await put(ACME_POLICY, null)
  assert.doesNotMatch((await verdict()) ?? '', new RegExp(id), 'it counts once')
})
