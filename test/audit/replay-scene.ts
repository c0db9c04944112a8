import assert from 'node:assert/strict'
import { reject } from '../../src/actions/approvals/approvals.ts'
import { check } from '../../src/actions/gate/check.ts'
import { revokeKey } from '../../src/actions/keys/keys.ts'
import { operatorOf, trigger } from '../../src/actions/killswitch/killswitch.ts'
import { recover } from '../../src/actions/killswitch/recover.ts'
import type { TriggerRequest } from '../../src/actions/killswitch/request.ts'
import { formatTimestamp } from '../../src/base/time.ts'
import { HEADER, setOf } from '../authoring/sources.ts'
import { temporaryFolder } from '../helpers.ts'
import { START_MS } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { actingOn, HOST } from './acting.ts'

const HOUR = 3_600_000

/** Policies with a pair of voters, a group of voters and domains. */
const POLICY = `
domains: {finance: ["payment.*"], communication: ["email.*"]}
approval: {expiresIn: 12h, unbound: [context.note]}
rules:
  - {id: pair, actions: [payment.refund], effect: require_approval, reason: Two people., approval: {quorum: 2}}
  - {id: group, actions: [payment.payout], effect: require_approval, reason: A treasurer., approval: {approvers: [treasury]}}
  - {id: transfer, actions: [payment.transfer], effect: require_approval, reason: A person.}
  - {id: others, actions: ["payment.*", "email.*"], effect: allow, reason: Fine.}
`
const POLICIES = new Map([['acme', setOf(POLICY.replace(HEADER, ''))]])

/** The actions of a service on this folder, on a clock that the test moves. */
export async function opened(dir: string, nowMs: number) {
  const time = { ms: nowMs }
  const trail = await openTrail(dir, () => time.ms, 'nothing')
  const acting = actingOn(trail, POLICIES)
  const { deps, as } = acting
  const stopDeps = { ...deps, keepUnwritten: () => assert.fail('the disk takes it at once') }
  const ask = (keyId: string, action: string, amount: number) =>
    check(deps, as(keyId), { tenantId: 'acme', action, context: { amount } })
  return {
    ...acting,
    dir,
    trail,
    time,
    ask,
    /** The approval that the request waits for. */
    held: async (keyId: string, action: string, amount: number): Promise<string> =>
      (await ask(keyId, action, amount)).approvalId ?? assert.fail('it is not held'),
    reject: (keyId: string, id: string, approverId: string) => reject(deps, as(keyId), id, { approverId }),
    stop: (keyId: string, request: Pick<TriggerRequest, 'level' | 'scope'>) =>
      trigger(stopDeps, operatorOf(as(keyId)), { ...request, reason: 'odd', triggeredBy: 'somebody' }),
    recover: (keyId: string) => recover(deps, operatorOf(as(keyId)), { recoveredBy: 'somebody', comment: 'over' }),
    revoke: (id: string) => revokeKey(deps, { actor: HOST, caller: undefined }, id),
  }
}
export type Opened = Awaited<ReturnType<typeof opened>>

/** When the honest part of the trail ends. */
export const LATER_MS = START_MS + 3 * HOUR

/** A trail with keys of each kind, approvals of each status and stops, all made by the actions of the service. */
export async function honestTrail() {
  const dir = temporaryFolder()
  const scene = await opened(dir, START_MS)
  const { key, held, time } = scene
  const keys = {
    owner: await key({ roles: ['owner'], identity: 'olga' }),
    bot: await key({ roles: ['agent'], identity: 'bot' }),
    other: await key({ roles: ['agent'], identity: 'other' }),
    ann: await key({ roles: ['approver'], identity: 'ann' }),
    bob: await key({ roles: ['approver'], identity: 'bob' }),
    tom: await key({ roles: ['approver'], identity: 'tom', groups: ['treasury'] }),
    both: await key({ roles: ['agent', 'approver'], identity: 'bea' }),
    operator: await key({ roles: ['operator'], identity: 'opa' }),
    auditor: await key({ roles: ['auditor'] }),
    admin: await key({ roles: ['admin'], identity: 'root' }),
    tester: await key({ roles: ['owner'], environment: 'test' }),
    revoked: await key({ roles: ['approver', 'agent', 'operator', 'owner'], identity: 'rex' }),
    expired: await key({ roles: ['approver', 'agent'], expiresAt: formatTimestamp(START_MS + HOUR) }),
  }
  await scene.stop(keys.admin, { level: 'L4' })
  await scene.recover(keys.admin)
  time.ms += 1000
  const approvals = {
    pending: await held(keys.bot, 'payment.transfer', 1),
    approved: await held(keys.bot, 'payment.transfer', 2),
    rejected: await held(keys.bot, 'payment.transfer', 3),
    consumed: await held(keys.bot, 'payment.transfer', 4),
    pair: await held(keys.bot, 'payment.refund', 5),
    group: await held(keys.bot, 'payment.payout', 6),
    own: await held(keys.both, 'payment.transfer', 7),
    byRevoked: await held(keys.bot, 'payment.transfer', 8),
    stopped: await held(keys.bot, 'payment.refund', 9),
  }
  await scene.approve(keys.ann, approvals.approved, 'ann')
  await scene.reject(keys.ann, approvals.rejected, 'ann')
  await scene.approve(keys.ann, approvals.consumed, 'ann')
  await scene.ask(keys.bot, 'payment.transfer', 4)
  await scene.approve(keys.ann, approvals.pair, 'ann')
  await scene.approve(keys.revoked, approvals.byRevoked, 'rex')
  await scene.approve(keys.ann, approvals.stopped, 'ann')
  await scene.approve(keys.bob, approvals.stopped, 'bob')
  await scene.stop(keys.operator, { level: 'L1', scope: 'payment.refund' })
  await scene.recover(keys.operator)
  await scene.ask(keys.bot, 'email.send', 0)
  time.ms += 1000
  await scene.revoke(keys.revoked)
  time.ms = LATER_MS
  await scene.ask(keys.bot, 'email.send', 0)
  await scene.trail.checkpoints.signAll()
  await scene.trail.close()
  return { dir, keys, approvals }
}
