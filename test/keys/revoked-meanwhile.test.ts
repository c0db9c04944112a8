import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { reject } from '../../src/actions/approvals/approvals.ts'
import { cancelApproval } from '../../src/actions/approvals/cancel-approval.ts'
import { logEntry } from '../../src/actions/audit/audit.ts'
import { type Caller, type CheckDeps, callerOf } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { createKey, revokeKey } from '../../src/actions/keys/keys.ts'
import { rotateKey } from '../../src/actions/keys/rotate.ts'
import { ensureTenant } from '../../src/actions/keys/tenants.ts'
import { operatorOf, trigger } from '../../src/actions/killswitch/killswitch.ts'
import { recover } from '../../src/actions/killswitch/recover.ts'
import { recordOutcome } from '../../src/actions/outcomes/outcomes.ts'
import { Sessions } from '../../src/actions/sessions/sessions.ts'
import { idMaker } from '../../src/base/id.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { setOf } from '../authoring/sources.ts'
import { temporaryFolder } from '../helpers.ts'
import { interrupted } from '../store/interrupted.ts'

/* The key of a caller is checked again when its action is committed. */

const HOST = { actor: { kind: 'host', id: 'host:0' }, caller: undefined } as const
const set = setOf(`
rules:
  - {id: held, actions: [pay], effect: require_approval, reason: A person looks.}
  - {id: mail, actions: [mail], effect: allow, reason: Fine.}
`)
const store = openStore({ dir: temporaryFolder(), create: true, clock: Date.now })
after(() => store.close())
const newId = idMaker(Date.now, randomBytes)
const deps: CheckDeps = { store, clock: Date.now, newId, policies: { get: () => set }, history: historyReader(store) }
await ensureTenant(deps, HOST.actor, 'acme')

async function owner(): Promise<Caller> {
  const { id } = await createKey(deps, HOST, 'acme', { roles: ['owner'] })
  return callerOf(store.state().keys.get(id) ?? assert.fail('the key was made'), 'acme')
}
const other = await owner()
const asked = (action: string, caller = other, at = deps) => check(at, caller, { tenantId: 'acme', action })
const stop = { tenantId: 'acme', level: 'L1', scope: 'nothing', reason: 'drill', triggeredBy: 'ann' } as const
const ended = { tenantId: 'acme', recoveredBy: 'ann', comment: 'over' }
const outcomes = { ranWithoutAllow: () => undefined, ranAfterAll: () => undefined }
const keepUnwritten = () => assert.fail('the stop is on disk at once')

/** Each prepares what it needs, and gives what the caller then does. */
const ACTS: [what: string, prepare: () => Promise<(at: CheckDeps, caller: Caller) => Promise<unknown>>][] = [
  ['decides', async () => (at, caller) => asked('mail', caller, at)],
  ['asks people', async () => (at, caller) => asked('pay', caller, at)],
  [
    'rejects',
    async () => {
      const id = (await asked('pay')).approvalId ?? ''
      return (at, caller) => reject(at, caller, id, { tenantId: 'acme', approverId: 'ann' })
    },
  ],
  [
    'cancels an approval',
    async () => {
      const id = (await asked('pay')).approvalId ?? ''
      return (at, caller) => cancelApproval(at, caller, id)
    },
  ],
  [
    'ends a stop',
    async () => {
      await trigger({ ...deps, keepUnwritten }, operatorOf(other), stop)
      return (at, caller) => recover(at, operatorOf(caller), ended, { caller, idempotency: undefined })
    },
  ],
  ['makes a key', async () => (at, caller) => createKey(at, { ...caller, caller }, 'acme', { roles: ['agent'] })],
  [
    'revokes a key',
    async () => {
      const { key } = await owner()
      return (at, caller) => revokeKey(at, { ...caller, caller }, key.id)
    },
  ],
  [
    'rotates a key',
    async () => {
      const { key } = await owner()
      return (at, caller) => rotateKey(at, { ...caller, caller }, key.id, 0)
    },
  ],
  [
    'writes an entry',
    async () => (at, caller) => logEntry(at, caller, { tenantId: 'acme', eventType: 'my.note', data: {} }),
  ],
  [
    'opens a session',
    async () =>
      (at, { key }) =>
        new Sessions(at).open(key, 'key'),
  ],
]

const size = async () => await lengthOf(store, 'acme/live')

for (const [what, prepare] of ACTS) {
  test(`who ${what} and is revoked before that is committed has done nothing`, async () => {
    const act = await prepare()
    const caller = await owner()
    const revoke = () => revokeKey(deps, HOST, caller.key.id)
    const before = await size()
    await assert.rejects(act({ ...deps, store: interrupted(store, revoke) }, caller), { code: 'unauthenticated' })
    assert.equal(await size(), before + 1, 'the entry of the revocation alone')
  })
}

test('who reports an outcome and is revoked before that is committed has reported nothing', async () => {
  const caller = await owner()
  const { decisionId } = await asked('mail', caller)
  const before = await size()
  const at = { ...deps, outcomes, store: interrupted(store, () => revokeKey(deps, HOST, caller.key.id)) }
  const report = recordOutcome(at, caller, { tenantId: 'acme', decisionId, status: 'succeeded' })
  await assert.rejects(report, { code: 'unauthenticated' })
  assert.equal(await size(), before + 1, 'the entry of the revocation alone')
})
