import type { Decision } from './api.ts'
import { ownCopy } from './arguments.ts'
import { ActionRefused, GateError } from './errors.ts'
import type { GuardOptions, Leave, Mode } from './guard.ts'
import { isPlainObject } from './objects.ts'
import type { ActionRequest, CheckOptions, PermitOptions, Verdict } from './permit.ts'
import { type Observation, Provenance } from './provenance.ts'
import { Texts } from './texts.ts'
import { saidBy } from './thrown.ts'
import { AskedCalls, isHeld, type Question, type ToolArgs, type ToolContext, type ToolRequest } from './tool-calls.ts'

export type { ToolArgs, ToolContext }

export interface SessionOptions {
  /** What the user asks for, in their own words. */
  userRequest: string
  /** Names the session to policies that count within one. */
  id?: string
  /** The action that a call of a tool is. @default the name of the tool */
  actionOf?(toolName: string, args: ToolArgs): string
  /** What policies are told of a call besides, such as `effect: 'write'`. */
  contextOf?(toolName: string, args: ToolArgs): Readonly<Record<string, unknown>>
  /** Tools whose results only the user and their own systems can have written. @default none: every result taints */
  trusted?: readonly string[]
}

export interface ToolCallOptions extends PermitOptions {
  /** Names the call within the session, as the model does: `call` goes on from what `permit` said of the same call. */
  callId?: string
}

/** The part of the client that a session asks. */
export interface Gate {
  readonly mode: Mode
  check(request: ActionRequest, options?: CheckOptions): Promise<Decision>
  permit(request: ActionRequest, options?: PermitOptions): Promise<Verdict>
  guard<T>(request: ActionRequest, run: (leave: Leave) => T | Promise<T>, options?: GuardOptions): Promise<T>
}

interface Prepared extends Question {
  /** What runs. */
  args: ToolArgs
}

/** Of so much text is known that the gate wrote it, in UTF-16 units. */
const MAX_REFUSALS = 256 * 1024

/**
 * One conversation of one agent. It works out what policies ask of a session, from what the user said and what tools answered: tell it of
 * both before the model reads them. `call` tells it of results by itself.
 *
 * @example
 * const session = gate.session({ userRequest: 'Pay the bill in bill.txt' })
 * const bill = await session.call('read_file', { path: 'bill.txt' }, ({ path }) => readFile(path))
 * await session.call('send_money', { recipient, amount }, (args) => pay(args))
 */
export class GateSession {
  readonly #gate: Gate
  readonly #options: SessionOptions
  readonly #provenance: Provenance
  readonly #asked = new AskedCalls()
  /** What was answered in place of results. */
  readonly #refusals = new Texts<'refusal'>(MAX_REFUSALS)

  constructor(gate: Gate, options: SessionOptions) {
    this.#gate = gate
    this.#options = options
    this.#provenance = new Provenance(options.userRequest)
  }

  /** The user says more. */
  userSays(text: string): void {
    this.#provenance.userSays(text)
  }

  /** All that the user has said. */
  get userRequest(): string {
    return this.#provenance.userRequest
  }

  /** True once the agent has read what others can have written. */
  get isTainted(): boolean {
    return this.#provenance.isTainted
  }

  /** False where everything runs, and the gate is only told of it. */
  get enforces(): boolean {
    return this.#gate.mode === 'enforce'
  }

  /** A tool answered. What is not trusted taints the session, and every value in it is from a third party. */
  observe(toolName: string, result: unknown, observation: Observation = this.#trustIn(toolName)): void {
    this.#provenance.observe(result, observation)
  }

  /** As `observe`, for what messages say that a tool answered. A refusal of this session is no result. */
  observeMessage(toolName: string, callId: string, result: unknown): void {
    this.answered(callId)
    if (!this.#refusals.has(onlyText(result))) this.observe(toolName, result)
  }

  /**
   * As `observe`, for what cannot be told, such as what only the model was shown, or a conversation of before: no value that is not
   * found counts as the model's own from now on.
   */
  observeUnseen(toolName: string): void {
    if (!this.#trustIn(toolName).trusted) this.#provenance.readUnseen()
  }

  /** The model was told what became of the call: another one with its id is a new one. */
  answered(callId: string): void {
    this.#asked.forget(callId)
  }

  /** What is asked of the gate before a tool is called. @throws GateError `invalid_request` for arguments that it cannot be told of */
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

  async check(toolName: string, args: ToolArgs, options?: CheckOptions): Promise<Decision> {
    return this.#gate.check(this.request(toolName, args), options)
  }

  /** With `callId`, what it says is kept for `call`. */
  async permit(toolName: string, args: ToolArgs, { callId, ...options }: ToolCallOptions = {}): Promise<Verdict> {
    const { request, verdict } = this.#prepare(toolName, args, callId)
    if (verdict !== undefined && isFinal(verdict)) return verdict
    const said = await this.#gate.permit(request, options)
    if (callId !== undefined) this.#asked.keep(callId, { request, verdict: said })
    return said
  }

  /**
   * Runs a call with a copy of the arguments that were checked, and observes its result, or its error.
   *
   * @throws ActionRefused when it did not run; what the function throws
   */
  async call<T>(
    toolName: string,
    args: ToolArgs,
    run: (args: ToolArgs, leave: Leave) => T | Promise<T>,
    { callId, ...options }: ToolCallOptions = {},
  ): Promise<T> {
    const prepared = this.#prepare(toolName, args, callId)
    if (callId !== undefined) this.#asked.forget(callId)
    const verdict = prepared.verdict && !isHeld(prepared.verdict) && { verdict: prepared.verdict }
    let hasRun = false
    const act = (leave: Leave): T | Promise<T> => {
      hasRun = true
      return run(prepared.args, leave)
    }
    try {
      const result = await this.#gate.guard(prepared.request, act, { ...options, ...verdict })
      this.observe(toolName, result)
      return result
    } catch (error) {
      // What a tool throws others can have written, a refusal of something else too.
      if (hasRun) this.#observeThrown(toolName, error)
      else if (error instanceof ActionRefused) this.#refusals.add(error.message, 'refusal')
      throw error
    }
  }

  /** @throws ActionRefused when it did not run; what the function throws */
  guard<T>(
    toolName: string,
    args: ToolArgs,
    run: (leave: Leave) => T | Promise<T>,
    options?: PermitOptions,
  ): Promise<T> {
    const { request, verdict } = this.#prepare(toolName, args, undefined)
    return this.#gate.guard(request, run, { ...options, ...(verdict && { verdict }) })
  }

  #observeThrown(toolName: string, thrown: unknown): void {
    const { said, isAll } = saidBy(thrown)
    this.observe(toolName, said)
    if (!isAll) this.observeUnseen(toolName)
  }

  #trustIn(toolName: string): Observation {
    return { trusted: this.#options.trusted?.includes(toolName) ?? false }
  }

  /** What is asked about a call. Arguments that the gate cannot be told of are refused here. */
  #prepare(toolName: string, args: ToolArgs, callId: string | undefined): Prepared {
    try {
      const own = ownCopy(args)
      return { args: own, ...this.#asked.question(callId, this.#requestFor(toolName, own)) }
    } catch (error) {
      if (!(error instanceof GateError)) throw error
      const verdict: Verdict = { allowed: false, reason: error.message, decision: undefined, error }
      return { args, request: this.#requestFor(toolName, {}), verdict }
    }
  }
}

/** Whether the gate need not be asked: an allow of a moment ago, and what it cannot be asked about. */
function isFinal(verdict: Verdict): boolean {
  return verdict.allowed ? verdict.isValid() : verdict.error?.code === 'invalid_request'
}

/** The text of a result that is nothing else, however a framework wraps it. */
function onlyText(result: unknown): string {
  const [part, ...others]: unknown[] = Array.isArray(result) ? result : [result]
  if (typeof part === 'string' && others.length === 0) return part
  if (others.length > 0 || !isPlainObject(part)) return ''
  const { type, text, ...more } = part
  return typeof text === 'string' && Object.keys(more).length === 0 ? text : ''
}
