import { isObject } from '../objects.ts'
import type { GateSession } from '../session.ts'
import {
  argsOf,
  callWithInput,
  Reader,
  refusalBefore,
  type SessionSource,
  sessionFor,
  type WaitingOptions,
} from './adapter.ts'
import { start } from './running.ts'

/* Adapter for the Vercel AI SDK. It imports nothing from it, and declares the types that it needs. */

/** Second argument of a tool's `execute`. */
interface ToolOptions {
  toolCallId: string
  messages: readonly unknown[]
  abortSignal?: AbortSignal | undefined
  /** Context of the tool in version 7. */
  context?: unknown
  /** Context of the run in version 6. */
  experimental_context?: unknown
}

type Execute = (input: unknown, options: ToolOptions) => unknown

/** Answer of `toolApproval`. */
export type Approval = 'not-applicable' | { type: 'user-approval' | 'denied'; reason: string }

/** Question to `toolApproval`. Functions that find its session declare the contexts of their application. */
export interface ApprovalQuestion {
  toolCall: { toolName: string; toolCallId: string; input: unknown }
  messages: readonly unknown[]
  runtimeContext?: unknown
  toolsContext?: unknown
}

/**
 * Gates the tools: each runs only after the gate allows the call. The model gets a refusal as the tool's error.
 * Tools that run elsewhere, without `execute`, stay unchanged.
 *
 * @param session the session, or for tools that serve several conversations a function that finds it for each call
 */
export function gateTools<Tools extends Readonly<Record<string, object>>, Options extends ToolOptions = ToolOptions>(
  session: SessionSource<Options>,
  tools: Tools,
  options: WaitingOptions = {},
): Tools {
  const gated = Object.entries(tools).map(([name, tool]) => {
    if (!('execute' in tool) || typeof tool.execute !== 'function') return [name, tool]
    const execute: Execute = tool.execute.bind(tool)
    const guard = tool.execute.constructor.name === 'AsyncGeneratorFunction' ? streaming : answering
    return [name, { ...tool, execute: guard(session, name, execute, options) }]
  })
  return Object.fromEntries(gated)
}

/**
 * Function for `toolApproval`, to use with `gateTools`: a held call pauses the run, and the gate is asked again on
 * resuming. The content of the approval message does not count.
 */
export function pauseWhenHeld<Question extends ApprovalQuestion = ApprovalQuestion>(
  source: SessionSource<Question>,
  { onPending }: Pick<WaitingOptions, 'onPending'> = {},
): (question: NoInfer<Question>) => Promise<Approval> {
  return async (question) => {
    const { toolCall, messages } = question
    const { toolName, toolCallId, input } = toolCall
    const session = sessionFor(source, question)
    read(session, messages)
    const refusal = await refusalBefore(session, { toolName, input }, toolCallId, onPending)
    if (refusal === undefined) return 'not-applicable'
    return { type: refusal.isHeld ? 'user-approval' : 'denied', reason: refusal.reason }
  }
}

/** Reports the user's words in these messages to the session. Do not pass messages that one agent writes to another. */
export function hear(session: GateSession, messages: readonly unknown[]): void {
  new Reader(session).userMessages(messages)
  read(session, messages)
}

function answering<Options>(
  source: SessionSource<Options>,
  toolName: string,
  execute: Execute,
  waiting: WaitingOptions,
): Execute {
  return async (input, options) => {
    const session = sessionFor(source, options)
    read(session, options.messages)
    return callWithInput(session, { toolName, input }, (own) => last(execute(own, options)), of(options, waiting))
  }
}

/** Wraps tools that stream parts of their result. The last part is the result. */
function streaming<Options>(
  source: SessionSource<Options>,
  toolName: string,
  execute: Execute,
  waiting: WaitingOptions,
): Execute {
  return async function* (input, options) {
    const session = sessionFor(source, options)
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
      // Runs also when the consumer stops early.
      await running.succeeded(part)
    }
  }
}

function of({ toolCallId, abortSignal }: ToolOptions, waiting: WaitingOptions) {
  return { ...waiting, callId: toolCallId, ...(abortSignal && { signal: abortSignal }) }
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

/** Parts that a model or an application itself writes. */
const OWN_PARTS: ReadonlySet<unknown> = new Set([
  ...['text', 'reasoning', 'reasoning-file', 'file', 'tool-call', 'tool-approval-request', 'tool-approval-response'],
])
const USER_PARTS: ReadonlySet<unknown> = new Set(['text'])

/** Observes all that the model has read and that is not known here to be somebody's own words. */
function read(session: GateSession, messages: readonly unknown[]): void {
  const reader = new Reader(session)
  for (const message of messages.filter(isObject)) {
    const { role, content } = message
    if (role === 'system') continue
    // Other content, such as UI messages, which have `parts`.
    if (typeof content !== 'string' && !Array.isArray(content)) reader.unknown(message)
    else if (role === 'user') reader.attachments(content, USER_PARTS)
    else if (role === 'assistant' || role === 'tool') {
      const parts: unknown[] = Array.isArray(content) ? content : []
      for (const part of parts) if (isObject(part) && part.type === 'tool-result') readResult(reader, part)
      reader.quotes(parts, new Set([...OWN_PARTS, 'tool-result']))
    } else reader.unknown(message)
  }
}

function readResult(reader: Reader, { toolName, toolCallId, output }: Record<string, unknown>): void {
  const { type, value } = isObject(output) ? output : { type: 'unknown', value: output }
  const [name, callId] = [String(toolName), String(toolCallId)]
  const { session } = reader
  if (type === 'execution-denied') session.answered(callId)
  else if (type === 'content') reader.answer(name, callId, value)
  // Version 7 puts the name of an error before its text.
  else if (type === 'error-text') session.observeMessage(name, callId, String(value).replace(/^ActionRefused: /, ''))
  else session.observeMessage(name, callId, value)
}
