import type { PolicySource } from '../../src/authoring/load/files.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { NO_HISTORY } from '../../src/gate/history.ts'
import { judge } from '../../src/gate/judge.ts'
import type { Decision, PolicySet } from '../../src/policies/set.ts'
import { decider } from '../../src/replay/decide.ts'
import type { Recorded } from '../../src/replay/recorded.ts'
import type { Base } from '../../src/suggest/draft.ts'
import { type Evidence, evidenceOf } from '../../src/suggest/evidence.ts'
import type { HeldOutcome } from '../../src/suggest/held.ts'
import { HEADER } from '../authoring/sources.ts'

const HOUR_MS = 3_600_000
const START = Date.UTC(2026, 0, 5)
export const MINIMA = { requests: 5, days: 2, approvers: 1 }

/** A request, and what people said of it if it was held. */
export interface Ask {
  action: string
  /** Null for one that was erased. */
  context: JsonObject | null
  result?: HeldOutcome['result']
  approvers?: readonly string[]
  agent?: string
  /** The rule that decided then, if the policies were others. */
  rule?: string
}

export function baseOfText(text: string, name = 'main.yaml'): Base {
  const source: PolicySource = {
    ...{ tenant: 'acme', lists: new Map(), ignored: [] },
    files: [{ name, bytes: Buffer.from(HEADER + text) }],
  }
  const { set, diagnostics } = loadPolicySet(source)
  if (set === undefined) throw new Error(JSON.stringify(diagnostics))
  return { set, source }
}

export async function decidedBy(set: PolicySet, action: string, context: JsonObject): Promise<Decision> {
  const asked = { action, context, plan: undefined, agent: 'a', environment: 'live' as const, nowMs: START }
  const { outcome } = await judge({
    ...{ set, tenant: set.tenant, killSwitchReason: undefined, history: NO_HISTORY },
    ...asked,
  })
  return outcome.decision
}

/** The evidence of a trail whose requests, eight hours apart, these policies decided. */
export async function evidenceFor(set: PolicySet, asks: readonly Ask[]): Promise<Evidence> {
  const { add, evidence } = evidenceOf(set)
  for (const recorded of await recordedBy(set, asks)) {
    const { result, approvers = ['eve'] } = asks[recorded.seq] ?? { result: undefined }
    const isHeld = recorded.outcome?.decision === 'require_approval'
    const outcome = isHeld ? { result: result ?? 'undecided', approvers } : undefined
    await add(recorded, await deciderOf(set).decide(recorded), outcome)
  }
  return evidence()
}

export function deciderOf(set: PolicySet) {
  return decider({
    ...{ set, environment: 'live', keys: new Map(), countsIn: 'chain', history: 'recorded' },
    fromMs: Number.NEGATIVE_INFINITY,
  })
}

export async function recordedBy(set: PolicySet, asks: readonly Ask[]): Promise<Recorded[]> {
  const made: Recorded[] = []
  for (const [seq, { action, context, agent = 'a', rule }] of asks.entries()) {
    const tsMs = START + seq * 8 * HOUR_MS
    const whole: Recorded = {
      ...{ chain: 'acme/live', seq, tsMs, id: `dec_${seq}`, action, agent, evaluatedMs: tsMs },
      asked: { context: context ?? {}, plan: undefined },
      ...{ outcome: undefined, session: null, historyEnd: null, isTaken: false, approvalId: null, approval: undefined },
    }
    const replayed = await deciderOf(set).decide(whole)
    const decided = replayed.result === 'decided' ? replayed.outcome : undefined
    const outcome = decided && { ...decided, ...(rule !== undefined && { rule }) }
    made.push({ ...whole, outcome, asked: context === null ? undefined : whole.asked })
  }
  return made
}
