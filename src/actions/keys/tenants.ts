import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { Actor } from '../../audit/draft.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { DEFAULT_PLAN, type Plan } from '../../keys/plan.ts'
import { isTenantId, type Tenant } from '../../keys/tenant.ts'
import { change, creation } from '../../store/records.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'

/** @throws GateError `invalid_request` for an id of another form */
export function assertTenantId(id: string): void {
  if (isTenantId(id)) return
  const form = 'letters, digits, _ and -, at most 63, first a letter or digit'
  throw new GateError('invalid_request', `${id} cannot name a tenant: ${form}.`)
}

/** The tenant; a new one gets the default plan. @throws GateError `invalid_request` for an id of another form */
export function ensureTenant(deps: Deps, actor: Actor, id: string): Promise<Tenant> {
  assertTenantId(id)
  return decideAndCommit(deps.store, async () => {
    const known = deps.store.state().tenants.get(id)
    if (known !== undefined) return { submission: null, reply: () => known }
    const { record, write, data } = creation('tenant', {
      id,
      revision: 1,
      plan: DEFAULT_PLAN,
      createdAt: formatTimestamp(deps.clock()),
    })
    const entry = eventEntry(deps, SYSTEM_CHAIN, 'tenant.created', data, actor)
    return { submission: { guards: [], writes: [write], entries: [entry] }, reply: () => record }
  })
}

/** @throws GateError `not_found` */
export function setPlan(deps: Deps, actor: Actor, id: string, plan: Plan): Promise<Tenant> {
  return decideAndCommit(deps.store, async () => {
    const tenant = deps.store.state().tenants.get(id)
    if (tenant === undefined) throw new GateError('not_found', `There is no tenant ${id}.`)
    const { record, write, data } = change('tenant', tenant, { plan })
    const entry = eventEntry(deps, SYSTEM_CHAIN, 'tenant.changed', data, actor)
    return { submission: { guards: [], writes: [write], entries: [entry] }, reply: () => record }
  })
}
