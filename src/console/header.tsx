import { useContext } from 'preact/hooks'
import { useConsole } from './data/console.ts'
import { LiveContext, useHeardAgo } from './data/live.ts'
import { addressOf, go, usePlace } from './data/place.ts'
import { chooseTheme, chosenTheme, THEMES } from './data/theme.ts'
import { Button } from './ui/button.tsx'
import { Choice } from './ui/field.tsx'
import { Icon } from './ui/icons.tsx'
import { Link } from './ui/link.tsx'
import { StopScope } from './ui/stop-link.tsx'
import { Text } from './ui/text.tsx'
import { Ago, agoText } from './ui/time.tsx'

/** The header of every page: tenant, stops in force and since when that is known, and the signed-in user. */
export function Header({ onLeave }: { onLeave: () => void }) {
  return (
    <header class="header">
      <Link to={addressOf([])} class="brand" label="gate-sidecar, start page">
        <span aria-hidden="true">gate</span>
      </Link>
      <Where />
      <StopControl />
      <Account onLeave={onLeave} />
    </header>
  )
}

function Where() {
  const { who, tenantId } = useConsole()
  const { path } = usePlace()
  return (
    <div class="where">
      {who.tenants.length > 1 ? (
        <Choice
          label="Tenant"
          value={tenantId}
          options={who.tenants.map((id) => [id, id] as const)}
          // The same page of the other tenant, without what exists in this one only.
          onValue={(id) => go(addressOf(path.slice(0, 1), {}, id))}
        />
      ) : (
        <span class="tenant">{tenantId}</span>
      )}
      <span class={`badge environment ${who.environment}`}>{who.environment}</span>
    </div>
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

/** The known stops, and the age of the last news from the service. */
function StopState() {
  const { data, isReported, isKnown, isLooking } = useConsole().stops
  const to = addressOf(['kill-switch'])
  const [strongest] = data?.switches ?? []
  // A reported stop counts as in force until the next report, with a stream of events or without.
  if (data && strongest && (isReported || isLooking)) {
    const more = data.switches.length - 1
    return (
      <Link to={to} class="stop-state active">
        <Icon name="stop" />
        <span class="stop-words">
          <span>
            Stopped: {strongest.level}
            <span class="stop-scope">
              {' '}
              <StopScope {...strongest} />
            </span>
            {more > 0 && ` +${more}`}
          </span>
          <HeardAgo />
        </span>
      </Link>
    )
  }
  const text = isKnown ? 'No stop' : isLooking ? 'Stops: checking…' : 'Stops unknown'
  return (
    <Link to={to} class={`stop-state ${isKnown ? 'clear' : isLooking ? 'looking' : 'unknown'}`}>
      <Icon name="stop" />
      <span class="stop-words">
        <span>
          <span class="visually-hidden">Kill switch: </span>
          {text}
        </span>
        <HeardAgo />
      </span>
    </Link>
  )
}

function HeardAgo() {
  const agoMs = useHeardAgo()
  return <span class="heard">{agoMs === undefined ? 'no contact yet' : `last contact ${agoText(agoMs)}`}</span>
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
          options={THEMES.map((theme) => [theme, theme === 'auto' ? 'system' : theme] as const)}
          onValue={chooseTheme}
        />
        <Button text="Sign out" onClick={onLeave} />
      </div>
    </details>
  )
}

/** A banner on every page while a stop is in force, as far as is known: level, scope, actor, start and reason. */
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
        {!stops.isKnown && ' · in force at last contact'}
        {' · '}
        <Link to={addressOf(['kill-switch'])}>{may('recover') ? 'Recover' : 'Details'}</Link>
      </p>
    </div>
  )
}

/** A notice on every page while the service is not heard. */
export function NotLive() {
  const { isLive, reconnect } = useContext(LiveContext)
  const { stops } = useConsole()
  const agoMs = useHeardAgo()
  if (isLive) return null
  const retry = (): void => {
    reconnect()
    stops.reload()
  }
  return (
    <section class="not-live warning" aria-label="Connection">
      <p role="status">
        <strong>Not live:</strong> the service cannot be reached, and the data shown may be outdated.
      </p>
      <p class="small">{agoMs === undefined ? 'No contact yet.' : `Last contact ${agoText(agoMs)}.`}</p>
      <Button text="Reconnect" look="small" onClick={retry} />
    </section>
  )
}
