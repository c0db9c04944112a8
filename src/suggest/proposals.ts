import type { PolicySet } from '../policies/set.ts'
import { alwaysApproved } from './approved.ts'
import { type Named, named } from './draft.ts'
import type { Evidence } from './evidence.ts'
import { closerLimits } from './limits.ts'
import type { NotProposed, Wanted } from './proposal.ts'
import { unusedActions } from './unused.ts'

/** Proposals of one kind: each is tried on the whole range, and read by a person. */
const MAX_OF_KIND = 8

export interface Proposals {
  proposals: Named[]
  /** Beyond the limit. */
  leftOut: number
  not: NotProposed[]
}

/** All that a trail supports: what tightens first, each kind by its number of requests. */
export function proposalsOf(set: PolicySet, evidence: Evidence, wanted: Wanted): Proposals {
  const approved = alwaysApproved(set, evidence, wanted)
  const kinds = [unusedActions(set, evidence, wanted), closerLimits(set, evidence, wanted), approved.proposals]
  const kept = kinds.flatMap((some) =>
    some.toSorted((a, b) => b.support.requests - a.support.requests).slice(0, MAX_OF_KIND),
  )
  return { proposals: named(set, kept), leftOut: kinds.flat().length - kept.length, not: approved.not }
}
