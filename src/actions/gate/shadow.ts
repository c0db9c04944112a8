import {
  countNote,
  policyDecision,
  SHADOW_FAILURES,
  type ShadowFailure,
  type ShadowNote,
  type ShadowTally,
  shadowNote,
} from '../../gate/shadow.ts'
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

/** Decisions that a set in shadow was asked about since the start, of all tenants, with those that never occurred. */
export function shadowCounts() {
  const counts: ShadowTally = {
    matrix: EFFECTS.flatMap((from) => EFFECTS.map((to) => ({ from, to, count: 0 }))),
    failed: (Object.keys(SHADOW_FAILURES) as ShadowFailure[]).map((why) => ({ why, count: 0 })),
  }
  return {
    count: (from: Decision, note: ShadowNote): void => countNote(counts, from, note),
    counts: (): Readonly<ShadowTally> => counts,
  }
}
