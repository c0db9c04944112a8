import { GateError } from '../../base/errors.ts'
import type { Explanation } from '../../gate/explain.ts'
import type { Kind, ReplayReport } from '../../replay/report.ts'
import { decisionEntry } from '../decisions/decisions.ts'
import { type ExplainDeps, explainEntry } from '../decisions/explain.ts'

/** Kinds whose first decision is explained by the policies that decided. */
const MAX_EXPLAINED = 50

/** The report with explanations by the policies that decided, as far as these are kept. */
export async function withBefore(deps: ExplainDeps, report: ReplayReport): Promise<ReplayReport> {
  const kinds: Kind[] = []
  for (const [i, kind] of report.kinds.entries()) {
    const before = i < MAX_EXPLAINED ? await explanationThen(deps, kind.first.id) : null
    kinds.push({ ...kind, first: { ...kind.first, before } })
  }
  return { ...report, kinds }
}

/** Null where the recorded decision cannot be explained any more. */
async function explanationThen(deps: ExplainDeps, id: string): Promise<Explanation | null> {
  const entry = await decisionEntry(deps.store, id)
  if (entry === undefined) return null
  try {
    return (await explainEntry(deps, entry)).explanation
  } catch (error) {
    // Erased or pruned meanwhile.
    if (error instanceof GateError && error.code === 'redacted') return null
    throw error
  }
}
