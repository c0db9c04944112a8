import type { KillSwitchLevel } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'

const LEVELS = ['L1', 'L2', 'L3', 'L4'] as const

/** The levels of a stop that this key may use, in words. */
export function LevelChoice({ level, onLevel }: { level: KillSwitchLevel; onLevel: (level: KillSwitchLevel) => void }) {
  const { who, tenantId } = useConsole()
  const offered = LEVELS.filter((each) => each !== 'L4' || who.roles.includes('admin'))
  const words = {
    L1: ['An action or a pattern', 'such as payment.transfer or payment.*'],
    L2: ['A domain', 'the actions that the policies put together under a name'],
    L3: [`All of ${tenantId}`, `every action that is asked for with its ${who.environment} keys`],
    L4: ['Every tenant', 'everything that this service decides, live and test'],
  } as const
  return (
    <fieldset class="levels">
      <legend>What to stop</legend>
      {offered.map((each) => {
        const [name, more] = words[each]
        return (
          <label key={each} class={each === level ? 'chosen' : ''}>
            <input type="radio" name="level" checked={each === level} onChange={() => onLevel(each)} />
            <span>
              <span class="level-name">
                {name} <span class="muted">{each}</span>
              </span>
              <span class="muted small">{more}</span>
            </span>
          </label>
        )
      })}
    </fieldset>
  )
}
