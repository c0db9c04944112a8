import { policyDecision, SHADOW_FAILURES, type ShadowFailure, type ShadowNote, shadowNote } from '../../gate/shadow.ts'
import { type Decision, EFFECTS } from '../../policies/set.ts'
import type { CheckDeps } from '../deps.ts'
import type { Asked, Resolution } from './hold.ts'
import { type Judged, judgeBeside } from './judge.ts'

/**
 * The note of the set in shadow about a request that is decided; undefined without such a set, and under a stop. Its
 * failure is noted, and never the check's. A promise only where the shadow takes time.
 */
export function shadowBeside(
  deps: CheckDeps,
  { caller, request, judged }: Asked,
  { outcome }: Resolution,
): ShadowNote | undefined | Promise<ShadowNote> {
  const { shadows } = deps
  if (shadows === undefined || judged.outcome.decidedBy === 'kill_switch') return undefined
  const set = shadows.get(caller.tenantId)
  if (set === undefined) return undefined
  const { digest } = set
  const isHeld = judged.outcome.hold !== null
  const conclude = (late: Judged | undefined): ShadowNote =>
    late === undefined ? { digest, failed: 'time' } : shadowNote(set, late.judgement, policyDecision(outcome), isHeld)
  const failed = (error: unknown): ShadowNote => {
    shadows.onError(error)
    return { digest, failed: 'error' }
  }
  try {
    const judging = shadows.turns.take(set, () => judgeBeside(deps, caller, request, judged, set))
    return judging instanceof Promise ? judging.then(conclude).catch(failed) : conclude(judging)
  } catch (error) {
    return failed(error)
  }
}

export type ShadowCounts = Pick<ReturnType<typeof shadowCounts>, 'counts'>

/** Decisions that a set in shadow was asked about since the start, of all tenants. */
export function shadowCounts() {
  const matrix = EFFECTS.flatMap((from) => EFFECTS.map((to) => ({ from, to, count: 0 })))
  const failures = (Object.keys(SHADOW_FAILURES) as ShadowFailure[]).map((why) => ({ why, count: 0 }))
  return {
    count(from: Decision, note: ShadowNote): void {
      const to = 'decision' in note ? note.decision : from
      const found =
        'failed' in note
          ? failures.find(({ why }) => why === note.failed)
          : matrix.find((cell) => cell.from === from && cell.to === to)
      if (found !== undefined) found.count += 1
    },
    /** With those that never occurred. */
    counts: () => ({ matrix, failures }),
  }
}
