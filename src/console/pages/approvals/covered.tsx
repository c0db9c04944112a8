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
        It covers exactly this action with exactly these arguments, for <Text of={requestedBy} />, <strong>once</strong>
        , until <Time at={expiresAt} />
        {isPaused(approval) && ' and later by as long as the stop lasts'}. Policies and stops are looked at again before
        the agent acts.
      </p>
      {unbound.length === 0 ? (
        <p>Nothing in the arguments may differ from what is shown.</p>
      ) : (
        <div>
          <p>
            <strong>Not covered</strong>, and free to differ when the agent acts:
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
