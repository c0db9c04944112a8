import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expiryGuard } from '../../src/actions/approvals/open-approvals.ts'
import type { Approval } from '../../src/approvals/approval.ts'
import { formatTimestamp } from '../../src/base/time.ts'
import { change } from '../../src/store/records.ts'
import type { Store } from '../../src/store/store.ts'
import type { Guard, Submission } from '../../src/store/submission.ts'
import type { Stores } from './contract.ts'
import { aKey, anApproval, aStop, changing, commit, creating, LIVE, note, only, recovered, START_MS } from './drafts.ts'
import { checkpoints, logKeys, outcomes, pendings, prunes, type Row, takes } from './guard-rows.ts'

const subject = { chain: LIVE, action: 'payment.transfer', domain: 'finance' }
const notStopped: Guard = { kind: 'notStopped', subject }
const stop = aStop()
const stops: Omit<Row, 'guard'>[] = [
  { name: 'nothing is stopped', before: [], refused: false },
  { name: 'the tenant is stopped (L3)', before: [creating('switch', stop)], refused: true },
  { name: 'the tenant was stopped and recovered', before: [creating('switch', stop), recovered(stop)], refused: false },
  {
    name: 'the action is stopped (L1)',
    before: [creating('switch', aStop({ level: 'L1', scope: 'payment.*', patterns: ['payment.*'] }))],
    refused: true,
  },
  {
    name: 'another action is stopped (L1)',
    before: [creating('switch', aStop({ level: 'L1', scope: 'email.*', patterns: ['email.*'] }))],
    refused: false,
  },
  {
    name: 'the domain is stopped (L2)',
    before: [creating('switch', aStop({ level: 'L2', scope: 'finance' }))],
    refused: true,
  },
  {
    name: 'another domain is stopped (L2)',
    before: [creating('switch', aStop({ level: 'L2', scope: 'mail' }))],
    refused: false,
  },
  {
    name: 'everything is stopped (L4)',
    before: [creating('switch', aStop({ level: 'L4', target: 'global', scope: 'global' }))],
    refused: true,
  },
  { name: 'the test side is stopped', before: [creating('switch', aStop({ target: 'acme/test' }))], refused: false },
  { name: 'a stop is in force here, not yet on disk', before: [], imposed: stop, refused: true },
  {
    name: 'of two stops one has recovered',
    before: [creating('switch', stop), recovered(stop), creating('switch', aStop())],
    refused: true,
  },
]

// Entry 0 is the genesis of the chain, entry 1 the note before each row.
const noStopSince = (end: number): Guard => ({ kind: 'noStopSince', subject, end })
const everywhere = aStop({ level: 'L4', target: 'global', scope: 'global' })
const mails = aStop({ level: 'L1', scope: 'email.*', patterns: ['email.*'] })
const stopsSince: Row[] = [
  { name: 'nothing was stopped', before: [], guard: noStopSince(2), refused: false },
  { name: 'a stop came after it', before: [creating('switch', stop)], guard: noStopSince(2), refused: true },
  {
    name: 'a stop came after it and has ended',
    before: [creating('switch', stop), recovered(stop)],
    guard: noStopSince(2),
    refused: true,
  },
  { name: 'a stop came before it', before: [creating('switch', stop)], guard: noStopSince(3), refused: false },
  { name: 'a stop of another action came', before: [creating('switch', mails)], guard: noStopSince(2), refused: false },
  {
    name: 'everything was stopped after it',
    before: [creating('switch', everywhere)],
    guard: noStopSince(2),
    refused: true,
  },
  {
    name: 'everything was stopped before it',
    before: [creating('switch', everywhere), recovered(everywhere), only(note())],
    guard: noStopSince(3),
    refused: false,
  },
  { name: 'a stop is not on disk yet', before: [], imposed: stop, guard: noStopSince(9), refused: true },
]

const key = aKey()
const brief = aKey({ expiresAt: '2026-01-01T00:00:01.000Z' })
const revoked = changing(change('key', key, { revokedAt: '2026-01-01T00:00:00.000Z' }))

/** The same for the key that calls and for one whose vote is relied on. */
function keyRows(kind: 'keyActive' | 'voterActive'): Row[] {
  const active = (keyId: string): Guard => ({ kind, keyId })
  return [
    { name: 'the key is active', before: [creating('key', key)], guard: active(key.id), refused: false },
    { name: 'the key is unknown', before: [], guard: active(key.id), refused: true },
    { name: 'the key is revoked', before: [creating('key', key), revoked], guard: active(key.id), refused: true },
    {
      name: 'the key ends in 1 ms',
      before: [creating('key', brief)],
      guard: active(brief.id),
      refused: false,
      laterMs: 999,
    },
    {
      name: 'the key ends now',
      before: [creating('key', brief)],
      guard: active(brief.id),
      refused: true,
      laterMs: 1000,
    },
  ]
}

const inASecond: Guard = { kind: 'before', untilMs: START_MS + 1000 }
const times: Row[] = [
  { name: '1 ms is left', before: [], guard: inASecond, refused: false, laterMs: 999 },
  { name: 'the time has come', before: [], guard: inASecond, refused: true, laterMs: 1000 },
  { name: 'the time is over', before: [], guard: inASecond, refused: true, laterMs: 1001 },
]

const held = (createdInMs: number, endsInMs: number): Approval => {
  const [createdAt, expiresAt] = [formatTimestamp(START_MS + createdInMs), formatTimestamp(START_MS + endsInMs)]
  return anApproval({ createdAt, expiresAt })
}
const inTenSeconds = held(0, 10_000)
const fiveSeconds = recovered(stop, formatTimestamp(START_MS + 5000))
/** An approval, and whether it is past its time by then. */
const expiries = [
  { name: 'it begins in a second', of: held(1000, 9000), isOver: false },
  { name: 'it begins in more than a second', of: held(1001, 9000), isOver: true },
  { name: '1 ms is left', of: inTenSeconds, isOver: false, laterMs: 9999 },
  { name: 'the deadline has come', of: inTenSeconds, isOver: true, laterMs: 10_000 },
  { name: 'a stop holds it open', before: [creating('switch', stop)], of: held(0, 1), isOver: false, laterMs: 9999 },
  { name: 'a stop that is not on disk holds it open', imposed: stop, of: held(0, 1), isOver: false, laterMs: 9999 },
  {
    name: 'a stop held it open for five seconds',
    before: [creating('switch', stop), fiveSeconds],
    of: inTenSeconds,
    isOver: true,
    laterMs: 15_000,
  },
].flatMap(({ of, isOver, before = [], ...row }): Row[] => [
  { ...row, before, guard: expiryGuard(of, isOver), refused: false },
  { ...row, before, guard: expiryGuard(of, !isOver), refused: true },
])

const use = { keyId: 'key_a', route: 'check', value: 'v1', bodyDigest: 'sha256:', entryId: 'aud_first', atMs: START_MS }
const used: Submission = { guards: [], writes: [{ kind: 'idempotency', use }], entries: [note()] }
const leadsTo = (entryId: string | null, other: Partial<typeof use> = {}): Guard => {
  const { keyId, route, value } = { ...use, ...other }
  return { kind: 'idempotency', keyId, route, value, entryId }
}
const idempotency: Row[] = [
  { name: 'the value is new', before: [], guard: leadsTo(null), refused: false },
  { name: 'the value was used', before: [used], guard: leadsTo(null), refused: true },
  { name: 'the value leads to the entry that was read', before: [used], guard: leadsTo('aud_first'), refused: false },
  { name: 'the value leads to another entry', before: [used], guard: leadsTo('aud_second'), refused: true },
  { name: 'the value that was read is gone', before: [], guard: leadsTo('aud_first'), refused: true },
  { name: 'another key used the value', before: [used], guard: leadsTo(null, { keyId: 'key_b' }), refused: false },
  {
    name: 'the value was used on another route',
    before: [used],
    guard: leadsTo(null, { route: 'approve' }),
    refused: false,
  },
  { name: 'another value was used', before: [used], guard: leadsTo(null, { value: 'v2' }), refused: false },
  { name: 'ten minutes are not over', before: [used], guard: leadsTo(null), refused: true, laterMs: 600_000 },
  { name: 'ten minutes are over', before: [used], guard: leadsTo(null), refused: false, laterMs: 600_001 },
]

/** Each kind has a row that holds and one that fails, but for counters, which only a fleet has (counters.test.ts). */
const ROWS: Record<Exclude<Guard['kind'], 'counters'>, readonly Row[]> = {
  notStopped: stops.map((row) => ({ ...row, guard: notStopped })),
  keyActive: keyRows('keyActive'),
  voterActive: keyRows('voterActive'),
  checkpointed: checkpoints,
  prunedTo: prunes,
  logKeyInUse: logKeys,
  before: times,
  expiry: expiries,
  noStopSince: stopsSince,
  noNewAllows: takes,
  pendingBelow: pendings,
  noOutcome: outcomes,
  idempotency,
}

/** A guard is checked at the commit, against what any process has written. */
export function guardContract(stores: Stores): void {
  for (const { name, before, imposed, guard, refused, laterMs = 0 } of Object.values(ROWS).flat()) {
    test(`guard ${guard.kind}: ${name}`, async (t) => {
      let nowMs = START_MS
      const open = stores(t)
      const here = await open(() => nowMs)
      const elsewhere = await open(() => nowMs)
      await commit(here, only(note()))
      for (const submission of before) await commit(elsewhere, submission)
      if (imposed !== undefined) here.impose(imposed)
      nowMs += laterMs
      const entries = await total(here)
      const made = aKey()
      const result = await here.commit({ ...creating('key', made), guards: [guard] })
      assert.equal(result.conflict, refused ? guard.kind : null)
      assert.equal(await total(here), refused ? entries : entries + 1)
      assert.equal(here.state().keys.has(made.id), !refused)
    })
  }

  test('every guard of a submission must hold', async (t) => {
    const store = await stores(t)(() => START_MS)
    await commit(store, creating('key', key))
    const guards: Guard[] = [{ kind: 'keyActive', keyId: key.id }, notStopped, leadsTo('aud_first')]
    assert.equal((await store.commit({ ...only(note()), guards })).conflict, 'idempotency')
    await commit(store, used)
    assert.equal((await store.commit({ ...only(note()), guards })).conflict, null)
  })
}

async function total(store: Store): Promise<number> {
  return (await store.page({ chain: LIVE, order: 'asc', limit: 1, offset: 0 })).total
}
