import type { KillSwitchLevel } from '../../client/api.ts'
import { useConsole } from '../data/console.ts'
import { addressOf } from '../data/place.ts'
import { Link } from './link.tsx'
import { Text } from './text.tsx'

interface StopLinkProps {
  stop: { id: string; level: KillSwitchLevel; scope: string }
}

/** A stop by its name; a link for users with permission to see stops. */
export function StopLink({ stop: { id, level, scope } }: StopLinkProps) {
  const { may } = useConsole()
  const name = (
    <>
      {level} <StopScope level={level} scope={scope} />
    </>
  )
  return may('killSwitchStatus') ? <Link to={stopAddress(id)}>{name}</Link> : name
}

/** The coverage of a stop of this level and scope, short enough for a line of the header. */
export function StopScope({ level, scope }: { level: KillSwitchLevel; scope: string }) {
  if (level === 'L4') return <>every tenant</>
  return <Text of={scope} />
}

/** The address that marks a stop, in force or over, among all others. */
export function stopAddress(id: string): string {
  return addressOf(['kill-switch', id])
}
