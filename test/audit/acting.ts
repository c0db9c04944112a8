import assert from 'node:assert/strict'
import { approve } from '../../src/actions/approvals/approvals.ts'
import { type Caller, type CheckDeps, callerOf, type Deps } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { createKey } from '../../src/actions/keys/keys.ts'
import { ensureTenant } from '../../src/actions/keys/tenants.ts'
import type { Environment } from '../../src/base/environment.ts'
import type { Role } from '../../src/keys/roles.ts'
import type { Store } from '../../src/store/store.ts'
import { HEADER, setOf } from '../authoring/sources.ts'
import { ACME_POLICY } from '../helpers.ts'

export const HOST = { kind: 'host', id: 'host:0' } as const
const POLICIES = new Map([['acme', setOf(ACME_POLICY.replace(HEADER, ''))]])

export interface KeyWanted {
  roles: Role[]
  identity?: string
  groups?: string[]
  environment?: Environment
  expiresAt?: string
}

/** The actions of a service on a store, with the policies of acme in force. */
export function actingOn(deps: Deps, policies: CheckDeps['policies'] = POLICIES) {
  const all: CheckDeps = { ...deps, policies, history: historyReader(deps.store) }
  const as = (keyId: string, tenant = 'acme'): Caller => callerOf(keyIn(deps.store, keyId), tenant)
  return {
    deps: all,
    as,
    /** A key that the host makes; an admin key has no tenant. */
    async key({ roles, ...rest }: KeyWanted): Promise<string> {
      await ensureTenant(deps, HOST, 'acme')
      const tenant = roles.includes('admin') ? null : 'acme'
      return (await createKey(deps, { actor: HOST, caller: undefined }, tenant, { roles, ...rest })).id
    },
    /** Asks for a transfer: up to 1000 is allowed, up to 100,000 held. */
    ask: (keyId: string, amount: number) =>
      check(all, as(keyId), { tenantId: 'acme', action: 'payment.transfer', context: { amount } }),
    approve: (keyId: string, approvalId: string, approverId: string) =>
      approve(all, as(keyId), approvalId, { approverId }),
  }
}

function keyIn(store: Store, id: string) {
  return store.state().keys.get(id) ?? assert.fail(`there is no key ${id}`)
}
