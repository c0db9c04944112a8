import assert from 'node:assert/strict'
import type { Corpus } from '../../evaluation/corpus.ts'
import { sourcesOf } from '../../evaluation/corpus.ts'
import { type Ask, type Decided, replay } from '../../evaluation/replay.ts'
import { policiesOf } from '../../evaluation/sidecar.ts'
import { isJsonObject, parseJson } from '../../src/base/json.ts'
import { historyFrom, type TakenAction } from '../../src/gate/history.ts'
import { judge } from '../../src/gate/judge.ts'

const LIMITS = { maxDepth: 64 }
/** A Wednesday noon: no policy for recorded calls may depend on when they are replayed. */
const NOW_MS = Date.UTC(2026, 0, 14, 12)

/** Decides every call by the policies of a folder, as a sidecar would, but without one. */
export async function decideInProcess(corpus: Corpus, policies: string): Promise<Decided[]> {
  const sets = policiesOf(sourcesOf(corpus), policies)
  /** Allowed actions, by tenant. */
  const taken = new Map<string, TakenAction[]>([...sets.keys()].map((tenant) => [tenant, []]))
  const ask: Ask = async ({ tenantId: tenant, action, context }) => {
    const [set, before] = [sets.get(tenant), taken.get(tenant)]
    assert.ok(set && before)
    const sent = parseJson(JSON.stringify(context), LIMITS)
    assert.ok(isJsonObject(sent))
    const query = { agent: 'evaluation', nowMs: NOW_MS, action, context: sent, plan: undefined }
    const history = historyFrom(set, query, before)
    const question = { set, killSwitchReason: undefined, tenant, environment: 'live', ...query, history } as const
    const { outcome, risk } = await judge(question)
    if (outcome.decision === 'allow') before.push({ ...query, atMs: NOW_MS })
    return { decision: outcome.decision, rule: outcome.rule ?? outcome.decidedBy, riskScore: risk.score, status: 200 }
  }
  return replay(corpus.sessions, ask, { concurrency: 1, progress: () => undefined })
}
