import type { KillSwitch } from '../../client/api.ts'
import { addressOf } from '../data/place.ts'
import { PermittedLink } from './link.tsx'
import { Text } from './text.tsx'

/** A stop by its name; a link for users with permission to see stops. */
export function StopLink({ stop: { id, level, scope } }: { stop: Pick<KillSwitch, 'id' | 'level' | 'scope'> }) {
  return (
    <PermittedLink needs="killSwitchStatus" to={stopAddress(id)}>
      {level} <StopScope level={level} scope={scope} />
    </PermittedLink>
  )
}

/** The coverage of a stop of this level and scope, short enough for a line of the header. */
export function StopScope({ level, scope }: Pick<KillSwitch, 'level' | 'scope'>) {
  if (level === 'L4') return <>every tenant</>
  return <Text of={scope} />
}

/** The address that marks a stop, in force or over, among all others. */
export function stopAddress(id: string): string {
  return addressOf(['kill-switch', id])
}
