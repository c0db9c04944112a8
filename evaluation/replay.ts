import type { Decision } from '../src/policies/set.ts'
import type { Call, Session } from './corpus.ts'

/** Request about a recorded call. */
export interface Request {
  tenantId: string
  action: string
  context: Record<string, unknown>
}

interface Answer {
  decision: Decision
  /** Deciding rule, else the step of the decision. */
  rule: string
  riskScore: number
  /** HTTP status. */
  status: number
}

/** Asks whether a call may be made. @throws an error where there is no decision: that is no deny */
export type Ask = (request: Request, call: Call) => Promise<Answer>

/** Decision about a call; a line of the file of `--decisions`. */
export interface Decided extends Answer {
  /** Id of the call. */
  id: string
  latency_ms: number
}

export interface ReplayOptions {
  /** Number of sessions that run side by side. */
  concurrency: number
  /** Called after each call with the number of calls done. */
  progress: (done: number) => void
}

/** Limit of the session's earlier actions that a request names. */
const PRIOR_ACTIONS = 20
/** Source whose calls carry the records that the agent looked up, such as the customer: its policy is about them. */
const WITH_RECORD = 'tau-bench'

/** Asks about every call, within a session in the order of the agent. Results are in the order of the sessions. */
export async function replay(sessions: readonly Session[], ask: Ask, options: ReplayOptions): Promise<Decided[]> {
  const decided = sessions.map((): Decided[] => [])
  const waiting = sessions.entries()
  let done = 0
  const worker = async (): Promise<void> => {
    // Workers share the iterator: each takes the next session that none has taken.
    for (const [i, session] of waiting) {
      const prior: string[] = []
      for (const call of session.calls) {
        const startedMs = performance.now()
        const answer = await ask(requestOf(session, call, prior), call)
        const latency_ms = Number((performance.now() - startedMs).toFixed(3))
        decided[i]?.push({ id: call.id, ...answer, latency_ms })
        prior.push(call.action)
        done += 1
        options.progress(done)
      }
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker))
  return decided.flat()
}

/** Request with only the facts that a caller can know: labels and outcomes are never part of it. */
export function requestOf(session: Session, call: Call, prior: readonly string[]): Request {
  const { tainted = false, prov = {} } = call.context ?? {}
  return {
    tenantId: session.source,
    action: call.action,
    context: {
      args: call.args,
      session: session.session,
      step: call.order,
      source: session.source,
      suite: session.suite,
      effect: call.effect,
      userRequest: session.prompt,
      priorActions: prior.slice(-PRIOR_ACTIONS),
      tainted,
      provenance: prov,
      ...(session.source === WITH_RECORD && { record: call.context }),
    },
  }
}
