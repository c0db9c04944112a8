import { isObject } from '../objects.ts'
import type { PermitOptions } from '../permit.ts'
import type { GateSession, ToolArgs, ToolCallOptions } from '../session.ts'

/** How long a held call waits for people. */
export type WaitingOptions = Pick<PermitOptions, 'approvalTimeout' | 'onPending'>

/** A call as frameworks hand it over: its input need not be an object. */
export interface InputCall {
  toolName: string
  input: unknown
}

/** As `session.call`, for any input. */
export function callWithInput<T>(
  session: GateSession,
  { toolName, input }: InputCall,
  run: (input: unknown) => T | Promise<T>,
  options: ToolCallOptions,
): Promise<T> {
  const named = isObject(input)
  return session.call(toolName, argsOf(input), (args) => run(named ? args : args.input), options)
}

export interface RefusalBefore {
  /** People are to decide. */
  isHeld: boolean
  reason: string
  approvalId: string | null
}

/** What the gate says before a framework that can pause runs a call; `call` goes on from it. Undefined where it may be run. */
export async function refusalBefore(
  session: GateSession,
  { toolName, input }: InputCall,
  callId: string | undefined,
  onPending: WaitingOptions['onPending'],
): Promise<RefusalBefore | undefined> {
  if (!session.enforces) return undefined
  const verdict = await session.permit(toolName, argsOf(input), callId === undefined ? {} : { callId })
  if (verdict.allowed) return undefined
  const { reason, decision } = verdict
  const isHeld = decision?.decision === 'require_approval'
  if (isHeld) onPending?.(decision)
  // What is held is told to whoever asks people, who reads no advice to a model.
  return { isHeld, reason: isHeld ? (decision?.reason ?? reason) : reason, approvalId: decision?.approvalId ?? null }
}

/** What the gate is told of an input: what is no object is an argument named `input`. */
export function argsOf(input: unknown): ToolArgs {
  if (isObject(input)) return input
  return input === undefined ? {} : { input }
}

/** The texts of a message, whose content is a text or a list of parts. */
export function textsOf(content: unknown): string[] {
  const texts = Array.isArray(content) ? content.map((part) => (isObject(part) ? part.text : part)) : [content]
  return texts.filter((text) => typeof text === 'string')
}

/** Tells the session what messages with the role of the user say. */
export function hearUser(session: GateSession, messages: readonly unknown[]): void {
  for (const message of messages) {
    if (isObject(message) && message.role === 'user')
      for (const text of textsOf(message.content)) session.userSays(text)
  }
}

/** Tells the session what a message says that a tool answered. What of it is no text, such as a picture, only the model was shown. */
export function readAnswer(session: GateSession, toolName: string, callId: string, content: unknown): void {
  const parts: unknown[] = Array.isArray(content) ? content : [content]
  const isAllText = !parts.some(
    (part) => isObject(part) && typeof part.type === 'string' && typeof part.text !== 'string',
  )
  session.observeMessage(toolName, callId, isAllText ? content : textsOf(parts))
  if (!isAllText) session.observeUnseen(toolName)
}

/** The same of what is not known here, and so of others. */
export function readUnknown(session: GateSession, item: Readonly<Record<string, unknown>>): void {
  const name = String(item.name ?? item.type ?? item.role)
  session.observe(name, item)
  session.observeUnseen(name)
}

/** What a user attaches to their words others can have written, whom only the model was shown; so can what has no content here. */
export function readAttachments(session: GateSession, content: unknown, own: ReadonlySet<unknown>): void {
  if (typeof content !== 'string' && !Array.isArray(content)) session.observeUnseen('user')
  for (const part of partsOf(content)) if (!own.has(part.type)) session.observeUnseen(String(part.type))
}

/** Of the words of a model, the parts that are not its own, and those that it cites. */
export function readQuotes(session: GateSession, content: unknown, own: ReadonlySet<unknown>): void {
  for (const part of partsOf(content)) {
    if (!own.has(part.type)) readUnknown(session, part)
    for (const name of ['annotations', 'citations']) {
      const quotes = part[name]
      if (Array.isArray(quotes) && quotes.length > 0) readUnknown(session, { name, quotes })
    }
  }
}

function partsOf(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** Whether a call did not run. By its name, since an entry of the package does not share its classes with another. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ActionRefused'
}
