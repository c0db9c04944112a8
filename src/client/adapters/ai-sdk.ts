import { isObject } from '../objects.ts'
import type { GateSession } from '../session.ts'
import {
  argsOf,
  callWithInput,
  hearUser,
  readAnswer,
  readAttachments,
  readQuotes,
  readUnknown,
  refusalBefore,
  type WaitingOptions,
} from './adapter.ts'
import { start } from './running.ts'

/* For the Vercel AI SDK. Nothing is imported from it: what is needed of its types is written here. */

/** What a tool is told of its call. */
interface ToolOptions {
  toolCallId: string
  messages: readonly unknown[]
  abortSignal?: AbortSignal | undefined
}

type Execute = (input: unknown, options: ToolOptions) => unknown

/** What `toolApproval` answers. */
export type Approval = 'not-applicable' | { type: 'user-approval' | 'denied'; reason: string }

/** What `toolApproval` is asked about. */
export interface ApprovalQuestion {
  toolCall: { toolName: string; toolCallId: string; input: unknown }
  messages: readonly unknown[]
}

/**
 * The tools, none of which runs before the gate allows the call. A refusal reaches the model as the error of the tool. What runs elsewhere,
 * which has no `execute`, is left as it is.
 */
export function gateTools<Tools extends Readonly<Record<string, object>>>(
  session: GateSession,
  tools: Tools,
  options: WaitingOptions = {},
): Tools {
  const gated = Object.entries(tools).map(([name, tool]) => {
    if (!('execute' in tool) || typeof tool.execute !== 'function') return [name, tool]
    const execute: Execute = tool.execute.bind(tool)
    const guarded = isGenerator(tool.execute)
      ? streaming(session, name, execute, options)
      : answering(session, name, execute, options)
    return [name, { ...tool, execute: guarded }]
  })
  return Object.fromEntries(gated)
}

/**
 * For `toolApproval`, beside `gateTools`: a held call pauses the run, and the gate is asked again when it is resumed. What the message
 * of the approval says by then counts for nothing.
 */
export function pauseWhenHeld(
  session: GateSession,
  { onPending }: Pick<WaitingOptions, 'onPending'> = {},
): (question: ApprovalQuestion) => Promise<Approval> {
  return async ({ toolCall: { toolName, toolCallId, input }, messages }) => {
    read(session, messages)
    const refusal = await refusalBefore(session, { toolName, input }, toolCallId, onPending)
    if (refusal === undefined) return 'not-applicable'
    return { type: refusal.isHeld ? 'user-approval' : 'denied', reason: refusal.reason }
  }
}

/** Tells the session what the user says in these messages. Not for messages that an agent writes to another. */
export function hear(session: GateSession, messages: readonly unknown[]): void {
  hearUser(session, messages)
  read(session, messages)
}

function answering(session: GateSession, toolName: string, execute: Execute, waiting: WaitingOptions): Execute {
  return (input, options) => {
    read(session, options.messages)
    return callWithInput(session, { toolName, input }, (own) => last(execute(own, options)), of(options, waiting))
  }
}

/** For tools that show parts of their result as it grows. The last part is the result. */
function streaming(session: GateSession, toolName: string, execute: Execute, waiting: WaitingOptions): Execute {
  return async function* (input, options) {
    read(session, options.messages)
    const running = await start(session, toolName, argsOf(input), of(options, waiting))
    let part: unknown
    try {
      const parts = execute(isObject(input) ? running.args : running.args.input, options)
      for await (part of parts as AsyncIterable<unknown>) yield part
    } catch (error) {
      await running.failed(error)
      throw error
    } finally {
      // Also when nobody wants the rest.
      await running.succeeded(part)
    }
  }
}

function of({ toolCallId, abortSignal }: ToolOptions, waiting: WaitingOptions) {
  return { ...waiting, callId: toolCallId, ...(abortSignal && { signal: abortSignal }) }
}

function isGenerator(execute: object): boolean {
  return execute.constructor.name === 'AsyncGeneratorFunction'
}

async function last(result: unknown): Promise<unknown> {
  if (!isAsyncIterable(result)) return result
  let part: unknown
  for await (part of result);
  return part
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Parts that a model or an application writes itself. */
const OWN_PARTS: ReadonlySet<unknown> = new Set([
  ...['text', 'reasoning', 'reasoning-file', 'file', 'tool-call', 'tool-approval-request', 'tool-approval-response'],
])
const USER_PARTS: ReadonlySet<unknown> = new Set(['text'])

/** What the model has read by now, of tools of its provider too: all that is not known to be somebody's own words here. */
function read(session: GateSession, messages: readonly unknown[]): void {
  for (const message of messages.filter(isObject)) {
    const { role, content } = message
    if (role === 'system') continue
    // Such as messages of a user interface, which have `parts`.
    if (typeof content !== 'string' && !Array.isArray(content)) readUnknown(session, message)
    else if (role === 'user') readAttachments(session, content, USER_PARTS)
    else if (role === 'assistant' || role === 'tool') {
      const parts: unknown[] = Array.isArray(content) ? content : []
      for (const part of parts) if (isObject(part) && part.type === 'tool-result') readResult(session, part)
      readQuotes(session, parts, new Set([...OWN_PARTS, 'tool-result']))
    } else readUnknown(session, message)
  }
}

function readResult(session: GateSession, { toolName, toolCallId, output }: Record<string, unknown>): void {
  const { type, value } = isObject(output) ? output : { type: 'unknown', value: output }
  const [name, callId] = [String(toolName), String(toolCallId)]
  if (type === 'execution-denied') session.answered(callId)
  else if (type === 'content') readAnswer(session, name, callId, value)
  // Version 7 puts the name of an error before its text.
  else if (type === 'error-text') session.observeMessage(name, callId, String(value).replace(/^ActionRefused: /, ''))
  else session.observeMessage(name, callId, value)
}
