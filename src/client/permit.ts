import type { Approval, CheckRequest, Decision } from './api.ts'
import { type CallOptions, type Connection, jsonOf, type Sending } from './connection.ts'
import { ActionRefused, GateError, isPassing } from './errors.ts'
import { assertMs, pause } from './pause.ts'

/** Action to be decided. */
export type ActionRequest = Omit<CheckRequest, 'tenantId'>

export interface DecideOptions extends CallOptions {
  /** Time that the service waits for people to decide before it answers, in ms; at most 25,000. @default 0 */
  wait?: number
  /** Asks for `explanation`. */
  explain?: boolean
}

export interface WaitOptions {
  /** Time limit of the wait, in ms. @default until the approval's deadline */
  timeout?: number
  signal?: AbortSignal
}

export interface PermitOptions {
  /** Time to wait for people when the action is held, in ms. @default 0, which refuses it */
  approvalTimeout?: number
  /** Called for a held action, before the wait. */
  onPending?(held: Decision): void
  signal?: AbortSignal
}

/** Allow for one run of one action. */
export interface Permit {
  decision: Decision
  /** False once the allow has expired, and the gate must be asked again. */
  isValid(): boolean
}

/** Answer to whether the action may run. */
export type Verdict = Permit | ActionRefused

/** Next steps of the agent after a held action. */
const AGAIN = 'Once they have, call the tool again with the same arguments.'
const DECISIONS: readonly unknown[] = ['allow', 'deny', 'require_approval'] satisfies Decision['decision'][]
/** Limit of the time, in s, that the service holds an answer. */
const MAX_HOLD_S = 25
/** Interval between requests for an approval. */
const POLL_INTERVAL_MS = 1000
/** Time for an answer beside that for which it is held, where less than `LONG_MS` is left. */
const MIN_TIMEOUT_MS = 1000
const LONG_MS = 30_000
/** Request of each unused allow, as JSON. */
const unused = new WeakMap<Decision, string>()

export async function decide(
  { call }: Connection,
  request: ActionRequest,
  { wait = 0, explain = false, ...options }: DecideOptions & Pick<Sending, 'onHeaders'> = {},
): Promise<Decision> {
  assertMs('wait', wait)
  const query = { ...(wait > 0 && { wait: Math.ceil(wait / 1000) }), ...(explain && { explain: 1 }) }
  // The connection adds the tenant.
  const body = request as CheckRequest
  const { data } = await call('check', { query, body }, { ...options, heldMs: Math.max(0, wait) })
  if (isDecisionAbout(data, request.action)) return data
  throw new GateError('malformed_answer', 'The answer is not a decision about this action.')
}

/** Checks the untrusted answer: its type is only a claim. */
function isDecisionAbout(data: unknown, action: string): boolean {
  const { decision, decisionId, reason, plan } = (data ?? {}) as { [K in keyof Decision]?: unknown }
  const isNamed = typeof decisionId === 'string' && typeof reason === 'string'
  return isNamed && DECISIONS.includes(decision) && (plan as Decision['plan'] | undefined)?.action === action
}

/**
 * Waits for the decision of an approval, also through outages; returns it undecided when the time is over.
 *
 * @throws GateError for an approval of somebody else, or when no answer came in time
 */
export async function waitForApproval({ call }: Connection, id: string, options: WaitOptions = {}): Promise<Approval> {
  const { timeout = Number.POSITIVE_INFINITY, signal } = options
  assertMs('timeout', timeout)
  const endMs = performance.now() + timeout
  for (;;) {
    const leftMs = Math.max(0, endMs - performance.now())
    const wait = Math.min(MAX_HOLD_S, Math.ceil(leftMs / 1000))
    // A service that hangs takes no more time than was given.
    const timeout = Math.max(0, leftMs - wait * 1000) + MIN_TIMEOUT_MS
    try {
      const sending = { ...(signal && { signal }), ...(timeout < LONG_MS && { timeout }), heldMs: wait * 1000 }
      const { data } = await call('getApproval', { params: { id }, query: { wait } }, sending)
      if (typeof data.status !== 'string') throw new GateError('malformed_answer', 'The answer is not an approval.')
      if (data.status !== 'pending' || performance.now() >= endMs) return data
    } catch (error) {
      if (!(error instanceof GateError && isPassing(error)) || performance.now() + POLL_INTERVAL_MS >= endMs)
        throw error
    }
    await pause(Math.min(POLL_INTERVAL_MS, Math.max(0, endMs - performance.now())), signal)
  }
}

/** @throws ActionRefused if the verdict is a refusal */
export function permitIn(verdict: Verdict): Permit {
  if (verdict instanceof ActionRefused) throw verdict
  return verdict
}

/**
 * Asks whether the action may run, and waits for people if necessary. An error of the gate is a refusal.
 *
 * @throws the reason of `signal`; TypeError for a time that is not a number
 */
export async function verdictOn(
  connection: Connection,
  request: ActionRequest,
  options: PermitOptions = {},
): Promise<Verdict> {
  const { approvalTimeout = 0, onPending, signal } = options
  assertMs('approvalTimeout', approvalTimeout)
  const endMs = performance.now() + approvalTimeout
  let asked: Asked | undefined
  try {
    asked = await ask(connection, request, signal)
    for (;;) {
      const { decision, approvalId } = asked.decision
      const timeout = endMs - performance.now()
      if (decision !== 'require_approval' || approvalId === null || timeout <= 0) return verdictOf(request, asked)
      onPending?.(asked.decision)
      const { status } = await waitForApproval(connection, approvalId, { timeout, ...(signal && { signal }) })
      if (status === 'pending') return verdictOf(request, asked)
      asked = await ask(connection, request, signal, approvalId)
      // Another is asked for when an equal request has used this one: it is waited for too.
      if (asked.decision.approvalId === approvalId) return verdictOf(request, asked)
    }
  } catch (error) {
    if (!(error instanceof GateError)) throw error
    return refusedBy(error, request, asked?.decision)
  }
}

/** @param held decision that was waited for */
function refusedBy(error: GateError, { action }: ActionRequest, held: Decision | undefined): ActionRefused {
  const { message } = error
  const approvalId = held?.approvalId ?? null
  const reason = approvalId === null ? message : `${message} The approval is ${approvalId}. ${AGAIN}`
  return new ActionRefused(action, reason, held, error)
}

interface Asked {
  decision: Decision
  /** Header Date of the answer. */
  date: string | null
  /** Time since before the decision was asked for, by the clocks of this process. */
  passedMs(): number
}

async function ask(
  connection: Connection,
  request: ActionRequest,
  signal: AbortSignal | undefined,
  approvalId?: string,
): Promise<Asked> {
  const passedMs = stopwatch()
  const text = jsonOf(request)
  const asked = approvalId === undefined ? request : { ...request, approvalId }
  let date: string | null = null
  const onHeaders = (headers: Headers): void => {
    date = headers.get('date')
  }
  const decision = await decide(connection, asked, { onHeaders, ...(signal && { signal }) })
  unused.set(decision, text)
  return { decision, date, passedMs }
}

/** Uses up an allow. @returns true when it is for this request; undefined for a used or foreign one */
export function takeUp(decision: Decision, request: ActionRequest): boolean | undefined {
  const asked = unused.get(decision)
  unused.delete(decision)
  return asked === undefined ? undefined : isSentAs(request, asked)
}

function isSentAs(request: ActionRequest, text: string): boolean {
  try {
    return jsonOf(request) === text
  } catch (error) {
    if (error instanceof GateError) return false
    throw error
  }
}

/** Measures elapsed time by the clock that shows more: one stops while the machine sleeps, the other can be set. */
function stopwatch(): () => number {
  const [startMs, startDateMs] = [performance.now(), Date.now()]
  return () => Math.max(performance.now() - startMs, Date.now() - startDateMs)
}

function verdictOf({ action }: ActionRequest, { decision, date, passedMs }: Asked): Verdict {
  if (decision.decision !== 'allow') return new ActionRefused(action, refusalOf(decision), decision)
  const validMs = validMsOf(decision, date)
  return { decision, isValid: () => passedMs() < validMs }
}

/** Returns a duration, not a deadline: the clocks of two machines differ. NaN, which allows nothing, for a broken time. */
function validMsOf({ timestamp, validUntil }: Decision, date: string | null): number {
  if (validUntil === null) return 0
  const decidedMs = Date.parse(timestamp)
  // The service repeats an allow as long as it is valid. The header has whole seconds: up to one more has passed.
  const answeredMs = date === null ? decidedMs : Date.parse(date) + 1000
  return Date.parse(validUntil) - Math.max(decidedMs, answeredMs)
}

/** Reason for the refusal, and the agent's next step. */
function refusalOf({ decision, reason, approvalId }: Decision): string {
  if (decision !== 'require_approval' || typeof approvalId !== 'string') return reason
  return `${reason} People have to approve it first (${approvalId}). ${AGAIN}`
}
