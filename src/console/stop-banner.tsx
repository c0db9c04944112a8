import { useConsole } from './data/console.ts'
import { addressOf } from './data/place.ts'
import { Link } from './ui/link.tsx'
import { StopScope } from './ui/stop-link.tsx'
import { Text } from './ui/text.tsx'
import { Ago } from './ui/time.tsx'

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
