import type { KillSwitchLevel } from '../../client/api.ts'
import { useConsole } from '../data/console.ts'
import { addressOf } from '../data/place.ts'
import { Link } from './link.tsx'
import { Text } from './text.tsx'

interface StopLinkProps {
  stop: { id: string; level: KillSwitchLevel; scope: string }
}

/** A stop by its name, which leads to it for those who may see stops. */
export function StopLink({ stop: { id, level, scope } }: StopLinkProps) {
  const { may } = useConsole()
  const name = (
    <>
      {level} <StopScope level={level} scope={scope} />
    </>
  )
  return may('killSwitchStatus') ? <Link to={stopAddress(id)}>{name}</Link> : name
}

/** What a stop of this level and scope stops, in as few words as a line of a header has place for. */
export function StopScope({ level, scope }: { level: KillSwitchLevel; scope: string }) {
  if (level === 'L4') return <>every tenant</>
  return <Text of={scope} />
}

/** Where a stop is shown among all others and marked, be it in force or over. */
export function stopAddress(id: string): string {
  return addressOf(['kill-switch', id])
}
