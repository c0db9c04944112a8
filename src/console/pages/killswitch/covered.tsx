import { Text } from '../../ui/text.tsx'

/** Limit of named actions; more would push the controls away. */
const NAMED = 24

/** The declared and recently used actions that a stop covers. */
export function Covered({ actions }: { actions: readonly string[] }) {
  if (actions.length === 0) return <p>No declared or recently used actions.</p>
  const more = actions.length - NAMED
  return (
    <div>
      <p>
        <strong>{actions.length === 1 ? '1 known action' : `${actions.length} known actions`}</strong>
        <span class="muted small"> declared by the policies or recently used</span>
      </p>
      <ul class="row covered">
        {actions.slice(0, NAMED).map((action) => (
          <li key={action}>
            <Text of={action} />
          </li>
        ))}
        {more > 0 && <li class="muted">and {more} more</li>}
      </ul>
    </div>
  )
}
