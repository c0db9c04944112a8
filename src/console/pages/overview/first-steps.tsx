import type { Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'
import { totalsOf } from './buckets.ts'

/** True before any visible request: the page then shows the first steps. */
export function isNew({ decisions, approvals, latency }: Overview): boolean {
  return latency === null && approvals.pending === 0 && totalsOf(decisions).all === 0
}

export function FirstSteps({ of: { posture } }: { of: Overview }) {
  const { may, tenantId } = useConsole()
  const body = JSON.stringify({ tenantId, action: 'payment.transfer', context: { amount: 25 } })
  return (
    <section class="card first-steps">
      <h2>No requests yet</h2>
      <p>This page shows decisions as soon as an agent asks whether it may act. First steps:</p>
      <ol>
        <li>
          <strong>Policies.</strong>{' '}
          {posture.policies.inForce
            ? 'They are in force.'
            : `Put a file into the folder ${tenantId} of the policies folder. Without one, every action is denied.`}{' '}
          {may('listPolicies') && <Link to={addressOf(['policies'])}>See the policies</Link>}
        </li>
        <li>
          <strong>A key for the agent</strong>, with the role agent.{' '}
          {may('createKey') ? (
            <Link to={addressOf(['settings'])}>Create a key in the settings</Link>
          ) : (
            'An owner can create one in the settings.'
          )}
        </li>
        <li>
          <strong>Ask</strong> before the agent acts:
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keyboard */}
          <pre tabIndex={0}>
            {[
              `curl ${location.origin}/gate/check \\`,
              `  -H 'x-api-key: <the key>' -H 'x-tenant-id: ${tenantId}' \\`,
              `  -H 'content-type: application/json' -d '${body}'`,
            ].join('\n')}
          </pre>
        </li>
      </ol>
      <p class="muted small">
        See the documentation: “A first decision” in the README, “Writing policies”, and “The HTTP API”, with clients
        for TypeScript and Python.
      </p>
    </section>
  )
}
