import { useConsole } from './data/console.ts'
import { addressOf } from './data/place.ts'
import { chooseTheme, chosenTheme, THEMES } from './data/theme.ts'
import { Button } from './ui/button.tsx'
import { Choice } from './ui/field.tsx'
import { Icon } from './ui/icons.tsx'
import { Link } from './ui/link.tsx'
import { StopScope } from './ui/stop-link.tsx'
import { Text } from './ui/text.tsx'
import { Ago } from './ui/time.tsx'

/** The header of every page: current place, stops in force, and the signed-in user. */
export function Header({ onTenant, onLeave }: { onTenant: (tenantId: string) => void; onLeave: () => void }) {
  const { who, tenantId } = useConsole()
  return (
    <header class="header">
      <Link to={addressOf([])} class="brand" label="gate-sidecar, start page">
        <span aria-hidden="true">gate</span>
      </Link>
      <div class="where">
        {who.tenants.length > 1 ? (
          <Choice
            label="Tenant"
            value={tenantId}
            options={who.tenants.map((id) => [id, id] as const)}
            onValue={onTenant}
          />
        ) : (
          <span class="tenant">{tenantId}</span>
        )}
        <span class={`badge environment ${who.environment}`}>{who.environment}</span>
      </div>
      <StopControl />
      <Account onLeave={onLeave} />
    </header>
  )
}

/** The stops in force; beside them, with permission to stop, the red button to the kill switch. */
function StopControl() {
  const { may } = useConsole()
  if (!may('killSwitchStatus')) return null
  return (
    <div class="stop-control">
      <StopState />
      {may('trigger') && (
        <Link to={addressOf(['kill-switch', 'stop'])} class="button danger stop-button" label="Stop agents…">
          Stop…
        </Link>
      )}
    </div>
  )
}

function StopState() {
  const { data, error } = useConsole().stops
  const to = addressOf(['kill-switch'])
  const [strongest] = data?.switches ?? []
  if (data && strongest) {
    const more = data.switches.length - 1
    return (
      <Link to={to} class="stop-state active">
        <Icon name="stop" />
        <span>
          Stopped: {strongest.level}
          <span class="stop-scope">
            {' '}
            <StopScope {...strongest} />
          </span>
          {more > 0 && ` +${more}`}
        </span>
      </Link>
    )
  }
  const text = data ? 'No stop' : error ? 'Stops unknown' : '…'
  return (
    <Link to={to} class={`stop-state ${data ? 'clear' : 'unknown'}`} label={`Kill switch: ${text}`}>
      <Icon name="stop" />
      <span>{text}</span>
    </Link>
  )
}

function Account({ onLeave }: { onLeave: () => void }) {
  const { who } = useConsole()
  const name = who.identity ?? who.name ?? who.keyId
  return (
    <details class="account">
      <summary>
        <Text of={name} />
      </summary>
      <div class="box menu">
        <p>
          <Text of={name} />
        </p>
        <p class="muted small">
          {who.roles.join(', ')}
          {who.groups.length > 0 && (
            <>
              {' · groups '}
              <Text of={who.groups.join(', ')} />
            </>
          )}
        </p>
        <p class="muted small">
          <code>{who.keyId}</code>
        </p>
        <Choice
          label="Appearance"
          value={chosenTheme()}
          options={THEMES.map((theme) => [theme, theme === 'auto' ? 'as the system' : theme] as const)}
          onValue={chooseTheme}
        />
        <Button text="Sign out" onClick={onLeave} />
      </div>
    </details>
  )
}

/** A banner on every page while a stop is in force: level, scope, actor, start and reason. */
export function StopBanner() {
  const { stops, may } = useConsole()
  const switches = stops.data?.switches ?? []
  const [strongest] = switches
  if (strongest === undefined) return null
  const { level, scope, triggeredBy, triggeredAt, reason } = strongest
  return (
    <div class="stop-banner" role="alert">
      <p>
        <strong>
          {level} stop: <StopScope level={level} scope={scope} />
        </strong>{' '}
        <Text of={reason} />
      </p>
      <p class="small">
        by <Text of={triggeredBy} />, <Ago at={triggeredAt} />
        {switches.length > 1 && `, and ${switches.length - 1} more`}
        {' · '}
        <Link to={addressOf(['kill-switch'])}>{may('recover') ? 'Recover' : 'Details'}</Link>
      </p>
    </div>
  )
}
