import * as Type from '#typebox'
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
 * Ready when the store answers and takes writes, the trail is good and agrees with its anchors, every stop is on disk,
 * and no tenant lacks the policies that it should have. Tells all reasons against it.
 * Untaken anchors are reported without a failure, and so is a refused set while an older one is in force.
 *
 * @throws GateError `not_ready`, or the store's own error
 */
async function readyz({ store, policies, anchors, verification, unready }: Services) {
  const messages = unready().map(({ message }) => message)
  if (messages.length > 0)
    throw new GateError('not_ready', messages.join(' '), {
      details: messages.map((message) => ({ path: '', message })),
    })
  await store.probe()
  const { unanchoredEntries, sinks } = await anchors.status()
  const shown = sinks.map(({ failures: _, ...sink }) => sink)
  return {
    ready: true,
    policySetsOutdated: policies.faults().length,
    verified: verification.last(),
    anchors: { unanchoredEntries, sinks: shown },
  }
}
