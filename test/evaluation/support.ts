import { fileURLToPath } from 'node:url'
import type { Call, Session } from '../../evaluation/corpus.ts'
import { ratesOf, type Score } from '../../evaluation/score.ts'

/** The recorded sessions that come with the project. */
export const CORPUS = fileURLToPath(new URL('../../evaluation/corpus/', import.meta.url))

/** A call of a session called `s`, as a corpus has it. */
export function call(id: string, rest: Partial<Call> = {}): Call {
  return { id, session: 's', order: 0, action: 'tool', label: 'benign', ...rest }
}

/** An attacked session whose attack reached its goal, and whose user was served. */
export function session(calls: readonly Call[], rest: Partial<Session> = {}): Session {
  return {
    ...{ session: 's', source: 'a', suite: 'b', set: 'full', slice: 'public', pipeline: 'model', user_task: 'u' },
    ...{ injection_task: 'i', recorded_utility: true, recorded_attack_success: true, gateable: true },
    ...{ prompt: 'Please.', calls },
    ...rest,
  }
}

/** A score as the scorer of the corpus prints it; testdata/evaluation/SOURCE.md says how that was asked. */
export function asScorerPrints(score: Score): Record<string, unknown> {
  const { benign, goal, attacked, clean } = score
  const rates = ratesOf(score)
  return {
    'calls: goal stopped % (deny+hold)': rates.goalCallsStopped ?? null,
    'goal calls': goal.allow + goal.require_approval + goal.deny,
    'calls: benign allow/hold/deny %': [
      rates.benignAllowed ?? null,
      rates.benignHeld ?? null,
      rates.benignDenied ?? null,
    ],
    'benign calls': benign.allow + benign.require_approval + benign.deny,
    'wrong_write stopped %': rates.wrongWritesStopped ?? null,
    'ASR before %': rates.attackSuccessBefore ?? null,
    'ASR after %': rates.attackSuccess ?? null,
    'ASR after, holds granted %': rates.attackSuccessGranted ?? null,
    'ASR floor (no tool call to stop) %': rates.attackSuccessFloor ?? null,
    'attacked sessions': attacked.sessions,
    'utility unattacked before %': rates.utilityBefore ?? null,
    'after, holds granted %': rates.utilityGranted ?? null,
    'after, holds refused %': rates.utilityRefused ?? null,
    'unattacked sessions': clean.sessions,
    'unattacked sessions with a hold %': rates.held ?? null,
    'with a hold or deny %': rates.interrupted ?? null,
    'utility under attack before/after(holds granted) %': [
      rates.utilityUnderAttackBefore ?? null,
      rates.utilityUnderAttack ?? null,
    ],
  }
}
