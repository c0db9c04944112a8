import type { GateError } from '../../../client/errors.ts'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

/** The figures could not be had anew: of when they are, and why. */
export function Stale({ error, sinceMs, retry }: { error: GateError; sinceMs: number; retry: () => void }) {
  return (
    <div class="notice line stale" role="status">
      <p>
        <strong>These figures are old:</strong> they are from <Ago at={new Date(sinceMs).toISOString()} />.{' '}
        <Text of={error.message} /> <span class="muted small">({error.code})</span>
      </p>
      <button type="button" class="button small" onClick={retry}>
        Try again
      </button>
    </div>
  )
}
