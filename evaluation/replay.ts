import type { Decision } from '../src/policies/set.ts'
import { requestOf } from '../src/replay/corpus.ts'
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
