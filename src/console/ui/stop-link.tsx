import type { KillSwitchLevel } from '../../client/api.ts'
import { useConsole } from '../data/console.ts'
import { stopAddress } from '../data/stop-address.ts'
import { Link } from './link.tsx'
import { StopScope } from './stop-scope.tsx'

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
