import type { KillSwitchLevel } from '../../client/api.ts'
import { Text } from './text.tsx'

/** What a stop of this level and scope stops, in as few words as a line of a header has place for. */
export function StopScope({ level, scope }: { level: KillSwitchLevel; scope: string }) {
  if (level === 'L4') return <>every tenant</>
  return <Text of={scope} />
}
