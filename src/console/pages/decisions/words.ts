import type { RecordedDecision } from '../../../client/api.ts'

type Outcome = NonNullable<RecordedDecision['outcome']>

/** What became of an action. */
export const OUTCOMES: Record<Outcome['status'], string> = {
  succeeded: 'succeeded',
  failed: 'failed; it may have had effects',
  not_run: 'was not run',
  missing: 'told nothing in time',
}
