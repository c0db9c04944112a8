import type { Corpus } from '../../evaluation/corpus.ts'
import { sourcesOf } from '../../evaluation/corpus.ts'
import { type Ask, replay } from '../../evaluation/replay.ts'
import type { Decisions } from '../../evaluation/score.ts'
import { policiesOf } from '../../evaluation/sidecar.ts'
import { isJsonObject, parseJson } from '../../src/base/json.ts'
import { judge } from '../../src/gate/judge.ts'

const LIMITS = { maxDepth: 64 }
/** A Wednesday noon: no policy for recorded calls may depend on when they are replayed. */
const NOW_MS = Date.UTC(2026, 0, 14, 12)

/** Decides every call by the policies of a folder, as a sidecar would, but without one. */
export async function decideInProcess(corpus: Corpus, policies: string): Promise<Decisions> {
  const sets = policiesOf(sourcesOf(corpus), policies)
  const ask: Ask = async ({ tenantId, action, context }) => {
    const sent = parseJson(JSON.stringify(context), LIMITS)
    const { outcome, risk } = await judge({
      ...{ set: sets.get(tenantId), killSwitchReason: undefined, tenant: tenantId, environment: 'live' },
      ...{ agent: 'evaluation', nowMs: NOW_MS, action, context: isJsonObject(sent) ? sent : undefined },
      plan: undefined,
    })
    return { decision: outcome.decision, riskScore: risk.score, status: 200 }
  }
  const decided = await replay(corpus.sessions, ask, { concurrency: 1, progress: () => undefined })
  return new Map(decided.map(({ id, decision }) => [id, decision]))
}
