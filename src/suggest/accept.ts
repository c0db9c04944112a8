import { compileAndTest } from '../authoring/cases/accept.ts'
import type { PolicySource } from '../authoring/load/files.ts'
import { linkPolicySet } from '../policies/link.ts'
import type { PolicySet } from '../policies/set.ts'
import { type Base, draftOf, type Named } from './draft.ts'

/** A proposal that can be worked into the policies, with these and it alone. */
export interface Accepted {
  proposal: Named
  set: PolicySet
}

interface Dropped {
  proposal: Named
  why: string
}

export interface Draft {
  accepted: Accepted[]
  dropped: Dropped[]
  /** The policies with all that were accepted. */
  source: PolicySource
  set: PolicySet
}

/**
 * Works proposals into the policies, one after the other. One is dropped whose draft has a fault or fails a test of the
 * policies, by itself or with those before it.
 *
 * @param about the first line of the file that is added
 */
export async function accepted(base: Base, proposals: readonly Named[], about: string): Promise<Draft> {
  const draft: Draft = { accepted: [], dropped: [], source: base.source, set: base.set }
  for (const proposal of proposals) {
    const one = await compiled(draftOf(base, [proposal], about))
    const together = [...draft.accepted.map((earlier) => earlier.proposal), proposal]
    const whole = 'why' in one ? one : await compiled(draftOf(base, together, about))
    if ('why' in one) draft.dropped.push({ proposal, why: one.why })
    else if ('why' in whole) draft.dropped.push({ proposal, why: `with those above: ${whole.why}` })
    else {
      draft.accepted.push({ proposal, set: one.set })
      Object.assign(draft, whole)
    }
  }
  return draft
}

type Compiled = { set: PolicySet; source: PolicySource } | { why: string }

async function compiled(source: PolicySource): Promise<Compiled> {
  const { data, diagnostics } = await compileAndTest(source)
  if (data !== undefined) return { set: linkPolicySet(data), source }
  const fault = diagnostics.find(({ severity }) => severity === 'error')
  return { why: fault === undefined ? 'the draft has a fault' : `${fault.file}:${fault.line}: ${fault.message}` }
}
