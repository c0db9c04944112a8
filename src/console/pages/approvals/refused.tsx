import type { GateError } from '../../../client/errors.ts'
import { Text } from '../../ui/text.tsx'
import { adviceFor } from './refusals.ts'

/** Why a vote was not taken, and what to do. */
export function Refused({ error }: { error: GateError }) {
  const advice = adviceFor(error.code)
  return (
    <div class="failure" role="alert">
      {advice && <p>{advice}</p>}
      <p class={advice ? 'small' : ''}>
        <Text of={error.message} severalLines />
      </p>
      <p class="muted small">
        <code>{error.code}</code>
      </p>
    </div>
  )
}
