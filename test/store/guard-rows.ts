import assert from 'node:assert/strict'
import type { Approval } from '../../src/approvals/approval.ts'
import { laneOf } from '../../src/audit/chain.ts'
import { parseGlob } from '../../src/base/glob.ts'
import type { KillSwitch } from '../../src/killswitch/killswitch.ts'
import { change } from '../../src/store/records.ts'
import type { Guard, Submission, Write } from '../../src/store/submission.ts'
import { aDecision, anApproval, aSigningKey, changing, creating, LIVE, note, only } from './drafts.ts'

export interface Row {
  name: string
  /** Submissions that another process commits beforehand. */
  before: readonly Submission[]
  /** In force in this process alone. */
  imposed?: KillSwitch
  guard: Guard
  refused: boolean
  /** Time that passes before the guarded commit. */
  laterMs?: number
}

const written = (write: Write): Submission => ({ guards: [], writes: [write], entries: [note()] })
const signedTo = (size: number, chain = LIVE) =>
  written({ kind: 'checkpoint', chain, size, note: `${chain} ${size}`, nodes: [] })
const checkpointed = (size: number): Guard => ({ kind: 'checkpointed', chain: LIVE, size })
export const checkpoints: readonly Row[] = [
  { name: 'there is none', before: [], guard: checkpointed(0), refused: false },
  { name: 'there is one by now', before: [signedTo(1)], guard: checkpointed(0), refused: true },
  { name: 'the newest is the one that was read', before: [signedTo(1)], guard: checkpointed(1), refused: false },
  { name: 'a newer one was made', before: [signedTo(1), signedTo(2)], guard: checkpointed(1), refused: true },
  { name: 'another chain has one', before: [signedTo(1, '_system')], guard: checkpointed(0), refused: false },
]

const prune = (size: number, chain = LIVE) => written({ kind: 'prune', chain, size, frontier: [], approvals: [] })
const prunedTo = (size: number): Guard => ({ kind: 'prunedTo', chain: LIVE, size })
export const prunes: readonly Row[] = [
  { name: 'nothing was pruned', before: [], guard: prunedTo(0), refused: false },
  { name: 'something was pruned by now', before: [prune(1)], guard: prunedTo(0), refused: true },
  { name: 'the chain begins where it was read', before: [prune(1)], guard: prunedTo(1), refused: false },
  { name: 'more was pruned', before: [prune(1), prune(2)], guard: prunedTo(1), refused: true },
  { name: 'another chain was pruned', before: [prune(1, 'acme/test')], guard: prunedTo(0), refused: false },
]

const logKey = aSigningKey()
const bundleKey = aSigningKey({ purpose: 'bundle' })
const inUse: Guard = { kind: 'logKeyInUse', id: logKey.id }
const retired = changing(change('signingKey', logKey, { retiredAt: '2026-01-01T00:00:00.000Z' }))
export const logKeys: readonly Row[] = [
  { name: 'the log key is in use', before: [creating('signingKey', logKey)], guard: inUse, refused: false },
  { name: 'the log key is unknown', before: [], guard: inUse, refused: true },
  { name: 'the log key is retired', before: [creating('signingKey', logKey), retired], guard: inUse, refused: true },
  { name: 'the key signs bundles', before: [creating('signingKey', bundleKey)], guard: inUse, refused: true },
]

function decided(decision: 'allow' | 'deny', { action = 'payment.transfer', agent = 'bot', session = 's1' } = {}) {
  const entry = aDecision(decision, { action })
  const caller = { ...entry.grounds.caller, agent }
  const taken = decision === 'allow' ? action : null
  return { guards: [], writes: [], entries: [{ ...entry, grounds: { ...entry.grounds, caller, session, taken } }] }
}
const payments = [parseGlob('payment.*') ?? assert.fail('it is a glob')]
const since = (seq: number, by: { agent: string | null; session: string | null }): Guard => ({
  kind: 'noNewAllows',
  chain: LIVE,
  since: seq,
  of: [{ ...by, actions: payments }],
})
const anybody = since(2, { agent: null, session: null })
const ofBot = since(2, { agent: 'bot', session: null })
const inSession = since(2, { agent: 'bot', session: 's1' })
const mail = { action: 'email.send' }
// Entry 0 is the genesis of the chain, entry 1 the note before each row.
export const takes: readonly Row[] = [
  { name: 'nothing was allowed', before: [], guard: anybody, refused: false },
  { name: 'an action was allowed', before: [decided('allow')], guard: anybody, refused: true },
  { name: 'an action was denied', before: [decided('deny')], guard: anybody, refused: false },
  { name: 'another action was allowed', before: [decided('allow', mail)], guard: anybody, refused: false },
  {
    name: 'an action was allowed after another',
    before: [decided('allow', mail), decided('allow')],
    guard: anybody,
    refused: true,
  },
  {
    name: 'what was allowed had been read',
    before: [decided('allow')],
    guard: since(3, { agent: null, session: null }),
    refused: false,
  },
  { name: 'the agent was allowed one', before: [decided('allow')], guard: ofBot, refused: true },
  { name: 'another agent was allowed one', before: [decided('allow', { agent: 'x' })], guard: ofBot, refused: false },
  { name: 'it was allowed in the session', before: [decided('allow')], guard: inSession, refused: true },
  {
    name: 'it was allowed in another session',
    before: [decided('allow', { session: 's2' })],
    guard: inSession,
    refused: false,
  },
]

const asked = (id: string, more: Partial<Approval> = {}) =>
  creating('approval', { ...anApproval(), id, digest: id, ...more })
const pendingBelow = (limit: number): Guard => ({ kind: 'pendingBelow', chain: LIVE, requestedBy: 'bot', limit })
export const pendings: readonly Row[] = [
  { name: 'fewer are pending', before: [asked('a')], guard: pendingBelow(2), refused: false },
  { name: 'as many are pending', before: [asked('a'), asked('b')], guard: pendingBelow(2), refused: true },
  {
    name: 'one of them is of another requester',
    before: [asked('a'), asked('b', { requestedBy: 'x' })],
    guard: pendingBelow(2),
    refused: false,
  },
  {
    name: 'one of them is of another chain',
    before: [asked('a'), asked('b', { chain: 'acme/test' })],
    guard: pendingBelow(2),
    refused: false,
  },
  {
    name: 'one of them is decided',
    before: [asked('a'), asked('b', { status: 'rejected' })],
    guard: pendingBelow(2),
    refused: false,
  },
]

const DECISION = 'dec_01kdvdna006bzpaest5m47g98f'
const told = (type: string, decisionId = DECISION, chain = LIVE) => only(note({ decisionId }, { type, chain }))
const noOutcome: Guard = { kind: 'noOutcome', chain: LIVE, decisionId: DECISION, types: ['outcome.recorded'] }
export const outcomes: readonly Row[] = [
  { name: 'nothing was told', before: [], guard: noOutcome, refused: false },
  { name: 'the outcome was told', before: [told('outcome.recorded')], guard: noOutcome, refused: true },
  { name: 'another type of entry tells of it', before: [told('outcome.missing')], guard: noOutcome, refused: false },
  {
    name: 'the outcome of another decision was told',
    before: [told('outcome.recorded', 'dec_2')],
    guard: noOutcome,
    refused: false,
  },
  {
    name: 'a lane of the trail tells of it',
    before: [told('outcome.recorded', DECISION, laneOf(LIVE, 2))],
    guard: noOutcome,
    refused: true,
  },
  {
    name: 'another trail tells of it',
    before: [told('outcome.recorded', DECISION, 'acme/test')],
    guard: noOutcome,
    refused: false,
  },
]
