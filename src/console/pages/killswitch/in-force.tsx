import { useState } from 'preact/hooks'
import type { KillSwitch } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/states.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { useArrival, useMarked } from './marked.ts'
import { RecoverDialog } from './recover-dialog.tsx'
import { StopName } from './stop-name.tsx'

/** Every stop over the tenant, strongest first, each with a button to end it; as last heard, if the current ones are unknown. */
export function InForce() {
  const { stops, may } = useConsole()
  const [ending, setEnding] = useState<KillSwitch | undefined>()
  const marked = useMarked()
  const switches = stops.data?.switches ?? []
  const isThere = switches.some(({ id }) => id === marked)
  const section = useArrival<HTMLElement>(marked, isThere)
  // Users with access to the history find it there.
  const isOver = marked !== undefined && stops.isKnown && !isThere && !may('killSwitchHistory')
  return (
    <section ref={section} class="stack" aria-labelledby="in-force">
      <h2 id="in-force">In force now</h2>
      {isOver && (
        <p class="notice" role="status">
          The stop in the link is no longer in force.
        </p>
      )}
      {stops.isKnown || stops.isLooking ? switches.length === 0 && <NoStop /> : <Unknown />}
      {switches.length > 0 && (
        <ul class="stops">
          {switches.map((stop) => (
            <StopCard key={stop.id} stop={stop} isMarked={stop.id === marked} onRecover={() => setEnding(stop)} />
          ))}
        </ul>
      )}
      {ending && <RecoverDialog stop={ending} onClose={() => setEnding(undefined)} />}
    </section>
  )
}

function NoStop() {
  const { stops, tenantId, who } = useConsole()
  // As large as the answer, so that the form below stays where it is.
  if (stops.isLooking) return <p class="box no-stop looking">Checking for stops…</p>
  return (
    <p class="box no-stop">
      <strong>No stop is in force</strong>
      <span class="muted">{` Agents of ${tenantId} with ${who.environment} keys act as its policies allow.`}</span>
    </p>
  )
}

/** Stops change while nobody listens: old data does not show what is in force now. */
function Unknown() {
  const { data, error, reload } = useConsole().stops
  return (
    <>
      <p class="notice" role="status">
        <strong>It is not known whether a stop is in force.</strong>
        {data && ` At last contact, ${data.switches.length === 0 ? 'none was' : 'these were'}.`}
      </p>
      {error && <Failure error={error} retry={reload} />}
    </>
  )
}

interface StopCardProps {
  stop: KillSwitch
  /** True for the stop in the address. */
  isMarked: boolean
  onRecover: () => void
}

function StopCard({ stop, isMarked, onRecover }: StopCardProps) {
  const { may, who } = useConsole()
  const isForAdmins = stop.level === 'L4' && !who.roles.includes('admin')
  return (
    <li
      class={`box row between ${isMarked ? 'marked-stop' : ''}`}
      {...(isMarked && { tabIndex: -1, 'aria-current': true })}
    >
      <div>
        <h3>
          <StopName of={stop} />
        </h3>
        <p>
          <LongText of={stop.reason} />
        </p>
        <p class="muted small">
          by <Text of={stop.triggeredBy} />, <Ago at={stop.triggeredAt} /> (<Time at={stop.triggeredAt} />)
        </p>
      </div>
      {may('recover') &&
        (isForAdmins ? (
          <p class="muted small">Only an admin may end it.</p>
        ) : (
          <Button onClick={onRecover}>
            Recover…
            <span class="visually-hidden">
              <StopName of={stop} />
            </span>
          </Button>
        ))}
    </li>
  )
}
