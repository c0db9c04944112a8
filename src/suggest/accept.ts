import { compileAndTest } from '../authoring/cases/accept.ts'
import { diffSets } from '../authoring/diff/diff.ts'
import type { PolicySource } from '../authoring/load/files.ts'
import { linkPolicySet } from '../policies/link.ts'
import type { Decision, PolicySet } from '../policies/set.ts'
import { type Base, draftOf, type Named } from './draft.ts'

/** Decisions by how much they restrain. */
const RESTRAINT: Readonly<Record<Decision, number>> = { allow: 0, require_approval: 1, deny: 2 }

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
 * policies, by itself or with those before it, and one that says that it tightens, and loosens.
 *
 * @param about the first line of the file that is added
 */
export async function accepted(base: Base, proposals: readonly Named[], about: string): Promise<Draft> {
  const draft: Draft = { accepted: [], dropped: [], source: base.source, set: base.set }
  for (const first of proposals) {
    let [proposal, one] = [first, await alone(base, first, about)]
    if ('why' in one && first.instead !== undefined) {
      proposal = { ...first.instead, id: first.id }
      one = await alone(base, proposal, about)
    }
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

async function alone(base: Base, proposal: Named, about: string): Promise<Compiled> {
  const one = await compiled(draftOf(base, [proposal], about))
  if ('why' in one || proposal.effect === 'loosens') return one
  const milder = milderThan(base.set, one.set)
  return milder === undefined ? one : { why: milder }
}

async function compiled(source: PolicySource): Promise<Compiled> {
  const { data, diagnostics } = await compileAndTest(source)
  if (data !== undefined) return { set: linkPolicySet(data), source }
  const fault = diagnostics.find(({ severity }) => severity === 'error')
  return { why: fault === undefined ? 'the draft has a fault' : `${fault.file}:${fault.line}: ${fault.message}` }
}

/** Undefined where no request is found that the draft decides more mildly. */
function milderThan(base: PolicySet, draft: PolicySet): string | undefined {
  const { witnesses } = diffSets(base, draft)
  const milder = witnesses.find(({ from, to }) => RESTRAINT[to.decision] < RESTRAINT[from.decision])
  if (milder === undefined) return undefined
  const { action, context, from, to } = milder
  return `it would loosen: ${action} ${JSON.stringify(context)} is decided ${to.decision} in place of ${from.decision}`
}
