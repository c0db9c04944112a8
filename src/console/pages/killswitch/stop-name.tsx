import type { KillSwitch, KillSwitchLevel } from '../../../client/api.ts'
import { Text } from '../../ui/text.tsx'

/** The scope that covers everything of the tenant. */
const EVERYTHING = '*'

type Named = Pick<KillSwitch, 'level' | 'scope'>

export function StopName({ of: { level, scope } }: { of: Named }) {
  return (
    <span class="stop-name">
      <span class="badge deny">{level}</span> <Stopped level={level} scope={scope} />
    </span>
  )
}

function Stopped({ level, scope }: Named) {
  if (level === 'L4') return <strong>Every tenant</strong>
  if (level === 'L3')
    return (
      <strong>
        All of <Text of={scope} />
      </strong>
    )
  if (scope === EVERYTHING) return <strong>Every {level === 'L1' ? 'action' : 'domain'}</strong>
  return (
    <>
      {level === 'L1' ? (scope.includes('*') ? 'Actions ' : 'Action ') : 'Domain '}
      <strong>
        <Text of={scope} />
      </strong>
    </>
  )
}

/** The name as plain text, for a toast. */
export function stopTitle({ level, scope }: Named): string {
  return level === 'L4' ? 'L4, every tenant' : `${level} ${scope}`
}

/** The phrase to type to confirm a stop: a fixed word, and the target. */
export function phraseOf(level: KillSwitchLevel, scope: string, tenantId: string): string {
  if (level === 'L4') return 'stop everything'
  return `stop ${level === 'L3' ? tenantId : scope}`
}
