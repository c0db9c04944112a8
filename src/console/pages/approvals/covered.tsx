import type { Approval } from '../../../client/api.ts'
import { Code } from '../../ui/code.tsx'
import { Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { isPaused } from './stopped.tsx'

/** The extent of an approval and its limits, in words. */
export function Covered({ approval }: { approval: Approval }) {
  const { requestedBy, expiresAt, unbound } = approval
  return (
    <div class="stack tight">
      <p>
        An approval covers exactly this action with exactly these arguments, for <Text of={requestedBy} />,{' '}
        <strong>once</strong>, until <Time at={expiresAt} />
        {isPaused(approval) && ', extended by the duration of the stop'}. Policies and stops are checked again before
        the agent acts.
      </p>
      {unbound.length === 0 ? (
        <p>Every argument must be exactly as shown.</p>
      ) : (
        <div>
          <p>
            <strong>Not covered</strong>, and may differ when the agent acts:
          </p>
          <ul class="bullets">
            {unbound.map((path) => (
              <li key={path}>
                <Code of={path} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}
