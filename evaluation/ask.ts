import { CannotRun, UsageError } from '../src/cli/context.ts'
import type { Decision } from '../src/policies/set.ts'
import type { Ask } from './replay.ts'
import type { AgentKeys } from './sidecar.ts'

/** A disk that hangs holds up an answer; a run of minutes need not end for it. */
const TIMEOUT_MS = 60_000
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/

interface Envelope {
  data?: { decision: Decision; rule: string | null; riskScore: number; decidedBy: string; reason: string }
  message?: string
}

/**
 * Asks a sidecar on this machine. Recordings hold texts of attackers, and are sent to no other machine.
 *
 * @param keys agents of each tenant, who ask in turn
 * @throws UsageError for another address
 */
export function askOverHttp(url: string, keys: AgentKeys): Ask {
  if (!LOOPBACK.test(url))
    throw new UsageError(`${url} is not on this machine; calls are sent to loopback addresses only.`)
  let turn = 0
  return async (request, { id }) => {
    const { tenantId } = request
    const agents = keys.get(tenantId) ?? []
    const key = agents[turn++ % agents.length] ?? ''
    const response = await fetch(`${url}/gate/check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-tenant-id': tenantId },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new CannotRun(`There was no answer about ${id}: ${why}.`, { cause })
    })
    const { status } = response
    const { data, message }: Envelope = JSON.parse(await response.text())
    if (status !== 200 || data === undefined) throw new CannotRun(`The answer about ${id} was ${status}: ${message}`)
    if (data.decidedBy === 'no_policy') throw new CannotRun(`No policy is in force for the tenant ${tenantId}.`)
    if (data.decidedBy === 'approval') throw new CannotRun(`The call ${id} was not judged by a policy: ${data.reason}`)
    return { decision: data.decision, rule: data.rule ?? data.decidedBy, riskScore: data.riskScore, status }
  }
}
