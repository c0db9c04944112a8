import type { Approval, Decision } from './api.ts'
import { breaking } from './breaker.ts'
import { type CallOptions, type Connection, type ConnectionOptions, connect } from './connection.ts'
import { type Body, type Data, Endpoints } from './endpoints.ts'
import { type EventOptions, events, type GateEvent } from './events.ts'
import { type GuardOptions, type GuardSettings, guard, type Leave, type Mode, type Observed } from './guard.ts'
import {
  type ActionRequest,
  type DecideOptions,
  decide,
  type Permit,
  type PermitOptions,
  permitIn,
  verdictOn,
  type WaitOptions,
  waitForApproval,
} from './permit.ts'
import { GateSession, type SessionGate, type SessionOptions } from './session.ts'

export interface GateOptions extends ConnectionOptions {
  /** @default enforce */
  mode?: Mode
  /** Called for each action that ran only because the client, or the policies, are in the mode `observe`. @default console.warn */
  onObserved?(observed: Observed): void
  /** Called when an outcome could not be recorded. @default console.warn */
  onUnrecorded?(decisionId: string, error: unknown): void
}

export interface ListenOptions extends EventOptions {
  /** Receives the error that ends the events, and errors of the listener. @default console.error */
  onError?(error: unknown): void
}

const MODES: readonly Mode[] = ['enforce', 'observe']

/**
 * Client of a gate-sidecar. No failure is an allow: every call throws, and `permit` and `guard` refuse.
 *
 * @example
 * const gate = new GateClient({ tenantId: 'acme', apiKey: process.env.GATE_API_KEY })
 * await gate.guard({ action: 'payment.transfer', context: { amount: 25 } }, () => pay(25))
 */
export class GateClient extends Endpoints {
  readonly #connection: Connection
  readonly #settings: GuardSettings

  /** @throws TypeError for options that cannot be used */
  constructor(options: GateOptions) {
    const { mode = 'enforce' } = options
    // Callers without a compiler may pass any word, which must not run what is denied.
    if (!MODES.includes(mode)) throw new TypeError(`mode must be ${MODES.join(' or ')}`)
    const connection = breaking(connect(options))
    super(connection)
    this.#connection = connection
    this.#settings = {
      mode,
      onObserved: options.onObserved ?? warnOfObserved,
      onUnrecorded: options.onUnrecorded ?? warnOfUnrecorded,
    }
  }

  get mode(): Mode {
    return this.#settings.mode
  }

  /**
   * Returns the decision about an action, whatever it is: only `allow` lets it run, and only until `validUntil`.
   *
   * @throws GateError when nothing was decided
   */
  decide(request: ActionRequest, options?: DecideOptions): Promise<Decision> {
    return decide(this.#connection, request, options)
  }

  /**
   * Asks whether an action may run, and waits for people if necessary.
   *
   * @throws ActionRefused when it may not run, or the gate could not be asked
   */
  async permit(request: ActionRequest, options?: PermitOptions): Promise<Permit> {
    return permitIn(await verdictOn(this.#connection, request, options))
  }

  /**
   * Runs the function if the gate allows the action, and records the outcome.
   *
   * @throws ActionRefused when it did not run; the function's own error
   */
  guard<T>(request: ActionRequest, run: (leave: Leave) => T | Promise<T>, options: GuardOptions = {}): Promise<T> {
    const { permit, ...others } = options
    return guard(this.#connection, this.#settings, request, run, permit, others)
  }

  /** Conversation of one agent, which tells policies who wrote what. */
  session(options: SessionOptions): GateSession {
    const [connection, settings] = [this.#connection, this.#settings]
    const gate: SessionGate = {
      mode: settings.mode,
      decide: (request, more) => decide(connection, request, more),
      verdictOn: (request, more) => verdictOn(connection, request, more),
      guard: (request, run, verdict, more) => guard(connection, settings, request, run, verdict, more),
    }
    return new GateSession(gate, options)
  }

  /** Score and factors, without a decision. */
  async risk(request: Body<'risk'>, options?: CallOptions): Data<'risk'> {
    return (await this.#connection.call('risk', { body: request }, options)).data
  }

  /** Records the outcome of an action. `guard` does so by itself. */
  async outcome(outcome: Body<'outcome'>, options?: CallOptions): Data<'outcome'> {
    return (await this.#connection.call('outcome', { body: outcome }, options)).data
  }

  /** Waits for the decision of an approval; returns it undecided when the time is over. */
  waitForApproval(id: string, options?: WaitOptions): Promise<Approval> {
    return waitForApproval(this.#connection, id, options)
  }

  /** Events of the tenant as they happen; a broken stream is resumed. */
  events(options?: EventOptions): AsyncGenerator<GateEvent, void, void> {
    return events(this.#connection, options)
  }

  /** Like `events`, with a listener. @returns a function that ends it */
  onEvent(listener: (event: GateEvent) => void | Promise<void>, options: ListenOptions = {}): () => void {
    const { signal, onError = console.error, ...others } = options
    const stopped = new AbortController()
    const either = signal === undefined ? stopped.signal : AbortSignal.any([signal, stopped.signal])
    const listen = async (): Promise<void> => {
      for await (const event of this.events({ ...others, signal: either })) await listener(event)
    }
    listen().catch(onError)
    return () => stopped.abort()
  }
}

function warnOfObserved({ action, reason }: Observed): void {
  console.warn(`gate-sidecar: ${action} ran, and would not have been allowed: ${reason}`)
}

function warnOfUnrecorded(decisionId: string, error: unknown): void {
  console.warn(`gate-sidecar: the outcome of ${decisionId} could not be recorded: ${String(error)}`)
}
