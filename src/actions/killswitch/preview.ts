import { isOpenStatus, OPEN_STATUSES, statusAt, subjectOf } from '../../approvals/approval.ts'
import { covers, type Scoped } from '../../killswitch/killswitch.ts'
import { openStandings } from '../approvals/open-approvals.ts'
import type { Deps, PoliciesInForce } from '../deps.ts'
import { coverageOf } from './coverage.ts'
import { type Operator, refusalOf } from './killswitch.ts'
import type { PreviewStopRequest } from './request.ts'
import { resolveScope } from './scope.ts'

/** Limit of open approvals in a preview, oldest deadlines first. */
const MAX_APPROVALS = 1000

/**
 * The effect of a trigger with this level and scope, and whether this operator may use it. Stops nothing.
 *
 * @throws GateError `invalid_request` for a scope that is not a glob or a domain, as the trigger
 */
export async function previewStop(
  deps: Deps & { policies: PoliciesInForce },
  operator: Operator,
  request: PreviewStopRequest,
) {
  const wanted = resolveScope(operator, request, deps.policies.get(operator.tenantId))
  const { level, scope } = wanted
  const refusal = refusalOf(deps, operator, level) ?? null
  const coverage = await coverageOf(deps, operator, wanted, { readsRecent: true })
  const approvals = await coveredApprovals(deps, operator.chain, wanted)
  return { level, scope, ...coverage, ...approvals, allowed: refusal === null, refusal }
}

/** Pending approvals that the stop would suspend, and approved unused ones that it would cancel. */
async function coveredApprovals({ store, clock }: Deps, chain: string, stop: Scoped) {
  const { switches } = store.state()
  const nowMs = clock()
  const found = { pending: 0, approved: 0 }
  let looked = 0
  for await (const batch of openStandings(store, { statuses: OPEN_STATUSES, chain })) {
    for (const approval of batch) {
      if (looked === MAX_APPROVALS) return { approvals: found.pending, cancels: found.approved, moreApprovals: true }
      looked += 1
      const status = statusAt(approval, switches, nowMs)
      if (isOpenStatus(status) && covers(stop, subjectOf(approval))) found[status] += 1
    }
  }
  return { approvals: found.pending, cancels: found.approved, moreApprovals: false }
}
