import { Type } from '#typebox'
import { GateError } from '../../base/errors.ts'
import { publicRoute } from '../route.ts'
import type { Services } from '../services.ts'
import * as shapes from './shapes.ts'

export const healthRoutes = {
  // Liveness alone: without a key, the answer reveals nothing about any tenant.
  healthz: publicRoute({
    data: shapes.Health,
    example: shapes.healthzExample,
    answer: () => ({ status: 'ok' as const }),
  }),
  readyz: publicRoute({
    data: shapes.Readiness,
    errors: ['not_ready', 'audit_unavailable'],
    example: shapes.readyzExample,
    answer: readyz,
  }),
  metrics: publicRoute({
    data: Type.String(),
    bare: 'text/plain',
    errors: ['unauthenticated', 'forbidden', 'rate_limited', 'audit_unavailable'],
    example: shapes.metricsExample,
    answer: ({ metrics }) => metrics(),
  }),
}

/**
 * Ready when the store answers, the trail agrees with its anchors, every stop is on disk, and no tenant lacks the
 * policies that it should have.
 * Untaken anchors are reported without a failure, and so is a refused set while an older one is in force.
 *
 * @throws GateError `not_ready`, or the store's own error
 */
async function readyz({ store, policies, anchors, sweeping }: Services) {
  await store.probe()
  const fault = anchors.fault()
  if (fault !== null) throw new GateError('not_ready', fault)
  const stopsOnDisk = store.imposed().length === 0
  const faults = policies.faults()
  const withoutPolicy = faults.filter(({ tenantId }) => policies.get(tenantId) === undefined).length
  if (!stopsOnDisk) throw new GateError('not_ready', 'A kill switch is in force but not on disk yet.')
  if (withoutPolicy > 0)
    throw new GateError('not_ready', `${withoutPolicy} policy sets have faults and no earlier version is in force.`)
  const { unanchoredEntries, sinks } = await anchors.status()
  const shown = sinks.map(({ failures: _, ...sink }) => sink)
  return {
    ready: true,
    policySetsOutdated: faults.length,
    verified: sweeping.last(),
    anchors: { unanchoredEntries, sinks: shown },
  }
}
