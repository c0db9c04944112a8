import type { Decision } from '../src/policies/set.ts'
import type { Call, Session } from './corpus.ts'

/** What is asked about a recorded call. */
export interface Request {
  tenantId: string
  action: string
  context: Record<string, unknown>
}

interface Answer {
  decision: Decision
  /** Which decided, else the step of the decision. */
  rule: string
  riskScore: number
  /** Of HTTP. */
  status: number
}

/** Asks whether a call may be made. @throws an error where there is no decision: that is no deny */
export type Ask = (request: Request, call: Call) => Promise<Answer>

/** What was decided about a call; a line of the file of `--decisions`. */
export interface Decided extends Answer {
  /** Of the call. */
  id: string
  latency_ms: number
}

export interface ReplayOptions {
  /** How many sessions run side by side. */
  concurrency: number
  /** Told after each call how many are done. */
  progress: (done: number) => void
}

/** How many of its earlier actions a request names. */
const PRIOR_ACTIONS = 20
/** Its calls carry the records that the agent had looked up, such as the customer: what the written policy of the airline is about. */
const WITH_RECORD = 'tau-bench'

/** Asks about every call: those of a session one after the other, as the agent made them. In the order of the sessions. */
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

/** Only what a caller can know: labels and outcomes are never part of a request. */
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
