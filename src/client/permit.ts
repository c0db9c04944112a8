import type { Approval, CheckRequest, Decision } from './api.ts'
import { type CallOptions, type Connection, jsonOf } from './connection.ts'
import { GateError, isPassing } from './errors.ts'
import { assertMs, pause } from './pause.ts'

/** What is to be decided. */
export type ActionRequest = Omit<CheckRequest, 'tenantId'>

export interface CheckOptions extends CallOptions {
  /** Seconds, at most 25, that the service waits for the decision of people before it answers. */
  wait?: number
  /** Asks for `explanation`. */
  explain?: boolean
}

export interface WaitOptions {
  /** Milliseconds after which nobody waits any longer. @default until its deadline */
  timeout?: number
  signal?: AbortSignal
}

export interface PermitOptions {
  /** Milliseconds to wait for the decision of people, when the action is held. @default 0, which refuses it */
  approvalTimeout?: number
  /** Told of a held action, before anything is waited for. */
  onPending?(held: Decision): void
  signal?: AbortSignal
}

/** Whether the action may run. Only `allowed` says so. */
export type Verdict = Allowed | Refused

export interface Allowed {
  allowed: true
  decision: Decision
  /** False when so much time has passed since that the gate must be asked again. */
  isValid(): boolean
}

export interface Refused {
  allowed: false
  /** A sentence for the agent: why, and of a held action what has to happen first. */
  reason: string
  /** Undefined when the gate could not be asked. */
  decision: Decision | undefined
  error: GateError | undefined
}

const DECISIONS: readonly unknown[] = ['allow', 'deny', 'require_approval'] satisfies Decision['decision'][]
/** The service holds an answer so many seconds at most. */
const HELD_S = 25
/** Between two questions about an approval. */
const AGAIN_MS = 1000
/** A last question has so long, however little is left. */
const SHORTEST_MS = 1000
/** What each allow was asked for, as JSON, until somebody acts on it. */
const unused = new WeakMap<Decision, string>()

export async function check(
  { call }: Connection,
  request: ActionRequest,
  { wait = 0, explain = false, ...options }: CheckOptions = {},
): Promise<Decision> {
  assertMs('wait', wait)
  const query = { ...(wait > 0 && { wait }), ...(explain && { explain: 1 }) }
  // The connection adds the tenant.
  const body = request as CheckRequest
  const { data } = await call('check', { query, body }, { ...options, heldMs: Math.max(0, wait) * 1000 })
  if (isDecisionAbout(data, request.action)) return data
  throw new GateError('malformed_answer', 'The answer is no decision about this action.')
}

/** What comes from elsewhere is what it is said to be only once it has been looked at. */
function isDecisionAbout(data: unknown, action: string): boolean {
  const { decision, decisionId, reason, plan } = (data ?? {}) as { [K in keyof Decision]?: unknown }
  const isNamed = typeof decisionId === 'string' && typeof reason === 'string'
  return isNamed && DECISIONS.includes(decision) && (plan as Decision['plan'] | undefined)?.action === action
}

/**
 * The approval once it is decided; as it is, when nobody decided in time. A service that is away meanwhile is waited for.
 *
 * @throws GateError for an approval that is not the caller's, or when nobody could say anything in time
 */
export async function waitForApproval({ call }: Connection, id: string, options: WaitOptions = {}): Promise<Approval> {
  const { timeout = Number.POSITIVE_INFINITY, signal } = options
  assertMs('timeout', timeout)
  const endMs = performance.now() + timeout
  for (;;) {
    const leftMs = Math.max(0, endMs - performance.now())
    const wait = Math.min(HELD_S, Math.ceil(leftMs / 1000))
    const limit = leftMs < Number.POSITIVE_INFINITY && { timeout: Math.max(leftMs, SHORTEST_MS) }
    try {
      const sending = { ...(signal && { signal }), ...limit, heldMs: wait * 1000 }
      const { data } = await call('getApproval', { params: { id }, query: { wait } }, sending)
      if (typeof data.status !== 'string') throw new GateError('malformed_answer', 'The answer is no approval.')
      if (data.status !== 'pending' || performance.now() >= endMs) return data
    } catch (error) {
      if (!(error instanceof GateError && isPassing(error)) || performance.now() + AGAIN_MS >= endMs) throw error
    }
    await pause(Math.min(AGAIN_MS, Math.max(0, endMs - performance.now())), signal)
  }
}

/**
 * Asks whether the action may run, and waits for people if it is to. Never throws for what the gate says or fails to say: whatever is
 * no allow is a refusal.
 *
 * @throws what `signal` was aborted with; TypeError for a time that is no number
 */
export async function permit(
  connection: Connection,
  request: ActionRequest,
  options: PermitOptions = {},
): Promise<Verdict> {
  const { approvalTimeout = 0, onPending, signal } = options
  assertMs('approvalTimeout', approvalTimeout)
  try {
    const first = await ask(connection, request, signal)
    const { decision } = first
    const { approvalId } = decision
    if (decision.decision !== 'require_approval' || approvalId === null || approvalTimeout <= 0) return verdictOf(first)
    onPending?.(decision)
    const { status } = await waitForApproval(connection, approvalId, {
      timeout: approvalTimeout,
      ...(signal && { signal }),
    })
    if (status === 'pending') return verdictOf(first)
    return verdictOf(await ask(connection, request, signal, approvalId))
  } catch (error) {
    if (!(error instanceof GateError)) throw error
    return { allowed: false, reason: error.message, decision: undefined, error }
  }
}

interface Asked {
  decision: Decision
  /** Since before the decision was made, by the clocks of this process. */
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
  const decision = await check(connection, asked, signal && { signal })
  unused.set(decision, text)
  return { decision, passedMs }
}

/** Uses up an allow. @returns whether it is for this request; undefined where it was used before, or is none that `permit` gave */
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

/** How long ago it was made, by the clock that says more: one stands still while the machine sleeps, the other can be set. */
function stopwatch(): () => number {
  const [startMs, startDateMs] = [performance.now(), Date.now()]
  return () => Math.max(performance.now() - startMs, Date.now() - startDateMs)
}

function verdictOf({ decision, passedMs }: Asked): Verdict {
  const { timestamp, validUntil } = decision
  if (decision.decision !== 'allow') return { allowed: false, reason: refusalOf(decision), decision, error: undefined }
  // How long, not until when: the clocks of two machines differ.
  const validMs = validUntil === null ? 0 : Date.parse(validUntil) - Date.parse(timestamp)
  return { allowed: true, decision, isValid: () => passedMs() < validMs }
}

/** Why an action does not run, and what the agent can do about it. */
function refusalOf({ decision, reason, approvalId }: Decision): string {
  if (decision !== 'require_approval' || typeof approvalId !== 'string') return reason
  const next = 'Once they have, call the tool again with the same arguments.'
  return `${reason} People have to approve it first (${approvalId}). ${next}`
}
