import type { ActionRefused } from '../errors.ts'
import { isObject } from '../objects.ts'
import type { PermitOptions } from '../permit.ts'
import type { GateSession, ToolArgs, ToolCallOptions } from '../session.ts'

/** Wait of a held call for people. */
export type WaitingOptions = Pick<PermitOptions, 'approvalTimeout' | 'onPending'>

/** A session, or a function that finds it for each call: an agent that is made once then serves many conversations. */
export type SessionSource<Call> = GateSession | ((call: Call) => GateSession)

/**
 * Session of a call. A framework passes on the context that the application gave it, so the application's type holds.
 *
 * @throws TypeError when there is none: no call runs by the facts of another conversation
 */
export function sessionFor<Call>(source: SessionSource<Call>, call: unknown): GateSession {
  const session: GateSession | undefined = typeof source === 'function' ? source(call as Call) : source
  // Each entry of the package has its own class, so that `instanceof` would refuse a session of another.
  if (isObject(session) && typeof session.call === 'function') return session
  throw new TypeError('There is no gate session for this call. Return the session of its conversation.')
}

/** Call as frameworks pass it: its input need not be an object. */
export interface InputCall {
  toolName: string
  input: unknown
}

/** Like `session.call`, for any input. */
export function callWithInput<T>(
  session: GateSession,
  { toolName, input }: InputCall,
  run: (input: unknown) => T | Promise<T>,
  options: ToolCallOptions,
): Promise<T> {
  const named = isObject(input)
  return session.call(toolName, argsOf(input), (args) => run(named ? args : args.input), options)
}

/**
 * Asks the gate before a framework that can pause runs a call; `call` uses the answer.
 *
 * @returns a refusal, which `isHeld` when people have to decide; undefined when the call may run
 */
export async function refusalBefore(
  session: GateSession,
  { toolName, input }: InputCall,
  callId: string | undefined,
  onPending: WaitingOptions['onPending'],
) {
  if (!session.enforces) return undefined
  const refusal = await session.permit(toolName, argsOf(input), callId === undefined ? {} : { callId }).then(
    () => undefined,
    (error: unknown) => {
      if (isRefusal(error)) return error
      throw error
    },
  )
  if (refusal === undefined) return undefined
  const { reason, decision } = refusal
  const isHeld = decision?.decision === 'require_approval'
  if (isHeld) onPending?.(decision)
  // People read the reason of a held call, without the advice to a model.
  return { isHeld, reason: isHeld ? (decision?.reason ?? reason) : reason, approvalId: decision?.approvalId ?? null }
}

/** Arguments for the gate: an input that is not an object becomes an argument named `input`. */
export function argsOf(input: unknown): ToolArgs {
  if (isObject(input)) return input
  return input === undefined ? {} : { input }
}

/** Texts of a message, whose content is a text or a list of parts. */
export function textsOf(content: unknown): string[] {
  const texts = Array.isArray(content) ? content.map((part) => (isObject(part) ? part.text : part)) : [content]
  return texts.filter((text) => typeof text === 'string')
}

/** Reports to a session what its model has read. */
export class Reader {
  readonly session: GateSession

  constructor(session: GateSession) {
    this.session = session
  }

  /** The content of messages with the user's role, as their words. */
  userMessages(messages: readonly unknown[]): void {
    for (const message of messages.filter(isObject))
      if (message.role === 'user') for (const text of textsOf(message.content)) this.session.userSays(text)
  }

  /** A tool's answer in a message. Only the model saw its other parts, such as pictures. */
  answer(toolName: string, callId: string, content: unknown): void {
    const parts: unknown[] = Array.isArray(content) ? content : [content]
    const isAllText = !parts.some(
      (part) => isObject(part) && typeof part.type === 'string' && typeof part.text !== 'string',
    )
    this.session.observeMessage(toolName, callId, isAllText ? content : textsOf(parts))
    if (!isAllText) this.session.observeUnseen(toolName)
  }

  /** An unknown item, which counts as written by others. */
  unknown(item: Readonly<Record<string, unknown>>): void {
    const name = String(item.name ?? item.type ?? item.role)
    this.session.observe(name, item)
    this.session.observeUnseen(name)
  }

  /** A user's attachments, which others may have written, and only the model saw. The same goes for unknown content. */
  attachments(content: unknown, own: ReadonlySet<unknown>): void {
    if (typeof content !== 'string' && !Array.isArray(content)) this.session.observeUnseen('user')
    for (const part of partsOf(content)) if (!own.has(part.type)) this.session.observeUnseen(String(part.type))
  }

  /** Parts of a model's message that are not its own, and its citations. */
  quotes(content: unknown, own: ReadonlySet<unknown>): void {
    for (const part of partsOf(content)) {
      if (!own.has(part.type)) this.unknown(part)
      for (const name of ['annotations', 'citations']) {
        const quotes = part[name]
        if (Array.isArray(quotes) && quotes.length > 0) this.unknown({ name, quotes })
      }
    }
  }
}

function partsOf(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** True when the call did not run. It tests the name, since entries of the package do not share classes. */
export function isRefusal(error: unknown): error is ActionRefused {
  return error instanceof Error && error.name === 'ActionRefused'
}
