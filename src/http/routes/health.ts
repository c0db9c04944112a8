import { GateError } from '../../base/errors.ts'
import { publicRoute } from '../route.ts'
import type { Services } from '../services.ts'
import { Health, healthzExample, Readiness, readyzExample } from '../shapes/health.ts'

export const healthRoutes = {
  // The process answers. Nothing of any tenant is told, since no key is asked for.
  healthz: publicRoute({ data: Health, example: healthzExample, answer: () => ({ status: 'ok' as const }) }),
  readyz: publicRoute({
    data: Readiness,
    errors: ['not_ready', 'audit_unavailable'],
    example: readyzExample,
    answer: readyz,
  }),
}

/**
 * Ready: the store answers, every stop is on disk, and no tenant is without policies that it should have.
 * A set that was refused while an older one is in force is a warning here, not a failure.
 *
 * @throws GateError `not_ready`, or the store's own error
 */
async function readyz({ store, policies }: Services) {
  await store.probe()
  const stopsOnDisk = store.imposed().length === 0
  const faults = policies.faults()
  const withoutPolicy = faults.filter(({ tenantId }) => policies.get(tenantId) === undefined).length
  if (!stopsOnDisk) throw new GateError('not_ready', 'A kill switch is in force but not on disk yet.')
  if (withoutPolicy > 0)
    throw new GateError('not_ready', `${withoutPolicy} policy sets have faults and no earlier version is in force.`)
  return { ready: true, policySetsOutdated: faults.length }
}
