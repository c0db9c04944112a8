import type { Decision, OutcomeRequest } from './api.ts'
import type { Connection } from './connection.ts'
import { ActionRefused, type GateError } from './errors.ts'
import { type ActionRequest, type Permit, type PermitOptions, takeUp, type Verdict, verdictOn } from './permit.ts'
import { textOf } from './thrown.ts'

/**
 * `enforce` runs only what the gate allows. `observe` runs everything, and reports each action that would not have run.
 */
export type Mode = 'enforce' | 'observe'

/** Action that ran although the policies did not allow it: `mode` is `observe`, that of the client or of the policies. */
export interface Observed {
  action: string
  reason: string
  decision: Decision | undefined
  error: GateError | undefined
}

export interface GuardSettings {
  mode: Mode
  onObserved(observed: Observed): void
  /** Receives failures to record an outcome. */
  onUnrecorded(decisionId: string, error: unknown): void
}

export interface GuardOptions extends PermitOptions {
  /** Recent result of `permit`. The gate is asked again if its allow was for another request, expired, or used. */
  permit?: Permit
}

/** Argument of a guarded function. */
export interface Leave {
  /** Undefined when nothing was decided, which only `observe` lets run. */
  decision: Decision | undefined
  signal: AbortSignal | undefined
}

/** Records the outcome of an action. A failure to record goes to `onUnrecorded` and does not fail the action. */
type Recorder = (decision: Decision | undefined, outcome: Omit<OutcomeRequest, 'decisionId'>) => Promise<void>

/** Limit of attempts when allows expire before the function can start. */
const MAX_ATTEMPTS = 3
const MAX_ERROR = 500
/** Time limit of recording: the caller has acted and waits no longer. */
const RECORD_MS = 5000

function recorder({ call }: Connection, { mode, onUnrecorded }: GuardSettings): Recorder {
  return async (decision, outcome) => {
    if (decision === undefined) return
    const { decisionId } = decision
    const body = { decisionId, ...outcome, ...(mode === 'observe' && { observed: true }) }
    try {
      await call('outcome', { body }, { timeout: RECORD_MS })
    } catch (error) {
      onUnrecorded(decisionId, error)
    }
  }
}

/**
 * Runs the function if the gate allows the action, and records the outcome.
 *
 * @throws ActionRefused when it was not run; the function's own error; the reason of `signal` when aborted before
 */
export async function guard<T>(
  connection: Connection,
  settings: GuardSettings,
  request: ActionRequest,
  run: (leave: Leave) => T | Promise<T>,
  given: Verdict | undefined,
  options: PermitOptions,
): Promise<T> {
  const record = recorder(connection, settings)
  const known = given && (await stillGood(record, given, request))
  const verdict =
    settings.mode === 'enforce'
      ? await permitForNow(connection, record, request, known, options)
      : (known ?? (await verdictOn(connection, request, { ...options, approvalTimeout: 0 })))
  const { decision } = verdict
  if (verdict instanceof ActionRefused) {
    const { action, reason, cause: error } = verdict
    if (settings.mode === 'enforce') throw verdict
    settings.onObserved({ action, reason: decision?.reason ?? reason, decision, error })
  } else reportObserved(settings, request, verdict.decision)
  const startedMs = performance.now()
  const durationMs = (): number => Math.round(performance.now() - startedMs)
  let value: T
  try {
    value = await run({ decision, signal: options.signal })
  } catch (error) {
    await record(decision, { status: 'failed', error: failureText(error), durationMs: durationMs() })
    throw error
  }
  await record(decision, { status: 'succeeded', durationMs: durationMs() })
  return value
}

/** Reports an allow of policies that the service only observes. */
function reportObserved({ onObserved }: GuardSettings, { action }: ActionRequest, decision: Decision): void {
  const { observed = 'allow', reason } = decision
  if (observed !== 'allow') onObserved({ action, reason, decision, error: undefined })
}

/** Text of an error, cut between characters: half of one has no UTF-8, and the service would refuse it. */
function failureText(error: unknown): string {
  const text = (textOf(error) ?? 'An error without a message').replaceAll(/\p{Surrogate}/gu, '\ufffd')
  return [...text.slice(0, 2 * MAX_ERROR)].slice(0, MAX_ERROR).join('')
}

/** Returns the earlier verdict if it holds for this request: an allow is for one request and one run. */
async function stillGood(record: Recorder, given: Verdict, request: ActionRequest): Promise<Verdict | undefined> {
  if (given instanceof ActionRefused) return given
  const isForThis = takeUp(given.decision, request)
  if (isForThis === false)
    await record(given.decision, { status: 'not_run', error: 'The call to run was another one.' })
  return isForThis ? given : undefined
}

/** Verdict that is valid now: an allow that came too late is requested again. */
async function permitForNow(
  connection: Connection,
  record: Recorder,
  request: ActionRequest,
  known: Verdict | undefined,
  options: PermitOptions,
): Promise<Verdict> {
  for (let attempt = 1; ; attempt += 1) {
    const verdict = attempt === 1 && known ? known : await verdictOn(connection, request, options)
    const isAborted = options.signal?.aborted ?? false
    if (verdict instanceof ActionRefused || (verdict.isValid() && !isAborted)) return verdict
    const reason = 'The allowed action could not be started in time.'
    await record(verdict.decision, { status: 'not_run', error: reason })
    options.signal?.throwIfAborted()
    if (attempt === MAX_ATTEMPTS) return new ActionRefused(request.action, reason, verdict.decision)
  }
}
