import type { Decision } from './api.ts'
import { ownCopy } from './arguments.ts'
import { ActionRefused, GateError } from './errors.ts'
import type { Leave, Mode } from './guard.ts'
import { isPlainObject } from './objects.ts'
import {
  type ActionRequest,
  type DecideOptions,
  type Permit,
  type PermitOptions,
  permitIn,
  type Verdict,
} from './permit.ts'
import { type Observation, Provenance } from './provenance.ts'
import { Texts } from './texts.ts'
import { saidBy } from './thrown.ts'
import { AskedCalls, isHeld, type Question, type ToolArgs, type ToolContext, type ToolRequest } from './tool-calls.ts'

export type { ToolArgs, ToolContext }

export interface SessionOptions {
  /** The user's request, in their own words. */
  userRequest: string
  /** Id of the session, for policies that count within one. */
  id?: string
  /** Names the action of a tool call. @default the name of the tool */
  actionOf?(toolName: string, args: ToolArgs): string
  /** Further context of a call for policies, such as `effect: 'write'`. */
  contextOf?(toolName: string, args: ToolArgs): Readonly<Record<string, unknown>>
  /** Tools whose results only the user and their own systems can have written. @default none: every result taints */
  trusted?: readonly string[]
}

export interface ToolCallOptions extends PermitOptions {
  /**
   * Id of the call within the session, as the model gives it. `call` then uses the answer of `permit` to the same call.
   */
  callId?: string
}

/** Part of the client that a session uses. */
export interface SessionGate {
  readonly mode: Mode
  decide(request: ActionRequest, options?: DecideOptions): Promise<Decision>
  verdictOn(request: ActionRequest, options: PermitOptions): Promise<Verdict>
  guard<T>(
    request: ActionRequest,
    run: (leave: Leave) => T | Promise<T>,
    verdict: Verdict | undefined,
    options: PermitOptions,
  ): Promise<T>
}

/** Limit of the remembered refusals, in UTF-16 units, by which the gate's own text is recognized. */
const MAX_REFUSALS = 256 * 1024

/**
 * Conversation of one agent. It derives the facts that policies need about a session from the user's words and the
 * tools' results.
 * Report both before the model reads them; `call` reports results by itself.
 *
 * @example
 * const session = gate.session({ userRequest: 'Pay the bill in bill.txt' })
 * const bill = await session.call('read_file', { path: 'bill.txt' }, ({ path }) => readFile(path))
 * await session.call('send_money', { recipient, amount }, (args) => pay(args))
 */
export class GateSession {
  readonly #gate: SessionGate
  readonly #options: SessionOptions
  readonly #provenance: Provenance
  readonly #asked = new AskedCalls()
  /** Refusals that the model received instead of results. */
  readonly #refusals = new Texts<'refusal'>(MAX_REFUSALS)

  constructor(gate: SessionGate, options: SessionOptions) {
    this.#gate = gate
    this.#options = options
    this.#provenance = new Provenance(options.userRequest)
  }

  /** Adds further words of the user. */
  userSays(text: string): void {
    this.#provenance.userSays(text)
  }

  /** All words of the user. */
  get userRequest(): string {
    return this.#provenance.userRequest
  }

  /** True once the agent has read something that others may have written. */
  get isTainted(): boolean {
    return this.#provenance.isTainted
  }

  /** False in the mode that runs everything and only reports to the gate. */
  get enforces(): boolean {
    return this.#gate.mode === 'enforce'
  }

  /** Observes a tool's result. An untrusted one taints the session, and each value in it is of a third party. */
  observe(toolName: string, result: unknown, observation: Observation = this.#trustIn(toolName)): void {
    this.#provenance.observe(result, observation)
  }

  /** Like `observe`, for a result in a message. A refusal by this session is not a result. */
  observeMessage(toolName: string, callId: string, result: unknown): void {
    this.answered(callId)
    if (!this.#refusals.has(onlyText(result))) this.observe(toolName, result)
  }

  /**
   * Like `observe`, for a result that cannot be passed in, such as one that only the model saw, or an earlier
   * conversation.
   * From now on a value that is not found no longer counts as the model's own.
   */
  observeUnseen(toolName: string): void {
    if (!this.#trustIn(toolName).trusted) this.#provenance.readUnseen()
  }

  /** Forgets a call whose result the model has received: a later one with its id is a new call. */
  answered(callId: string): void {
    this.#asked.forget(callId)
  }

  /**
   * Request to the gate before a tool is called. @throws GateError `invalid_request` for arguments that cannot be sent
   */
  request(toolName: string, args: ToolArgs): ToolRequest {
    return this.#requestFor(toolName, ownCopy(args))
  }

  #requestFor(toolName: string, args: ToolArgs): ToolRequest {
    const { id, actionOf, contextOf } = this.#options
    return {
      action: actionOf?.(toolName, args) ?? toolName,
      context: {
        ...contextOf?.(toolName, args),
        ...(id !== undefined && { session: id }),
        args,
        userRequest: this.userRequest,
        tainted: this.isTainted,
        provenance: this.#provenance.of(args),
      },
    }
  }

  async decide(toolName: string, args: ToolArgs, options?: DecideOptions): Promise<Decision> {
    return this.#gate.decide(this.request(toolName, args), options)
  }

  /** With `callId`, the answer is kept for `call`. @throws ActionRefused when the call may not run */
  async permit(toolName: string, args: ToolArgs, { callId, ...options }: ToolCallOptions = {}): Promise<Permit> {
    const { request, verdict } = this.#prepare(toolName, args, callId)
    if (verdict !== undefined && isFinal(verdict)) return permitIn(verdict)
    const said = await this.#gate.verdictOn(request, options)
    if (callId !== undefined) this.#asked.keep(callId, { request, verdict: said })
    return permitIn(said)
  }

  /**
   * Runs a call with a copy of the checked arguments, and observes its result or its error.
   *
   * @throws ActionRefused when it did not run; the function's own error
   */
  async call<T, Args extends ToolArgs>(
    toolName: string,
    args: Args,
    run: (args: Args, leave: Leave) => T | Promise<T>,
    { callId, ...options }: ToolCallOptions = {},
  ): Promise<T> {
    const prepared = this.#prepare(toolName, args, callId)
    if (callId !== undefined) this.#asked.forget(callId)
    const verdict = prepared.verdict && isHeld(prepared.verdict) ? undefined : prepared.verdict
    let hasRun = false
    const act = (leave: Leave): T | Promise<T> => {
      hasRun = true
      return run(prepared.args, leave)
    }
    try {
      const result = await this.#gate.guard(prepared.request, act, verdict, options)
      this.observe(toolName, result)
      return result
    } catch (error) {
      // Others may have written a tool's error, even when it is a refusal of something else.
      if (hasRun) this.#observeThrown(toolName, error)
      else if (error instanceof ActionRefused) this.#refusals.add(error.message, 'refusal')
      throw error
    }
  }

  /** @throws ActionRefused when it did not run; the function's own error */
  guard<T>(
    toolName: string,
    args: ToolArgs,
    run: (leave: Leave) => T | Promise<T>,
    options: PermitOptions = {},
  ): Promise<T> {
    const { request, verdict } = this.#prepare(toolName, args, undefined)
    return this.#gate.guard(request, run, verdict, options)
  }

  #observeThrown(toolName: string, thrown: unknown): void {
    const { said, isAll } = saidBy(thrown)
    this.observe(toolName, said)
    if (!isAll) this.observeUnseen(toolName)
  }

  #trustIn(toolName: string): Observation {
    return { trusted: this.#options.trusted?.includes(toolName) ?? false }
  }

  /** Request about a call, or a refusal of arguments that cannot be sent. @returns also the arguments to run with */
  #prepare<Args extends ToolArgs>(toolName: string, args: Args, callId: string | undefined): Question & { args: Args } {
    try {
      const own = ownCopy(args)
      return { args: own, ...this.#asked.question(callId, this.#requestFor(toolName, own)) }
    } catch (error) {
      if (!(error instanceof GateError)) throw error
      const request = this.#requestFor(toolName, {})
      return { args, request, verdict: new ActionRefused(request.action, error.message, undefined, error) }
    }
  }
}

/** True when the gate need not be asked: a still valid allow, or a request that cannot be sent. */
function isFinal(verdict: Verdict): boolean {
  return verdict instanceof ActionRefused ? verdict.cause?.code === 'invalid_request' : verdict.isValid()
}

/** Text of a result that consists of it alone, in any framework's wrapping. */
function onlyText(result: unknown): string {
  const [part, ...others]: unknown[] = Array.isArray(result) ? result : [result]
  if (typeof part === 'string' && others.length === 0) return part
  if (others.length > 0 || !isPlainObject(part)) return ''
  const { type, text, ...more } = part
  return typeof text === 'string' && Object.keys(more).length === 0 ? text : ''
}
