import { isObject } from '../objects.ts'
import type { GateSession, ToolArgs } from '../session.ts'
import {
  callWithInput,
  isRefusal,
  Reader,
  refusalBefore,
  type SessionSource,
  sessionFor,
  textsOf,
  type WaitingOptions,
} from './adapter.ts'

/* Adapter for LangChain JavaScript. It imports nothing from it, and declares the types that it needs. */

/** Request to `wrapToolCall`. */
interface ToolCallRequest {
  toolCall: { name: string; args: ToolArgs; id?: string | undefined }
  state: { messages: readonly unknown[] } | readonly unknown[]
}

export interface LangChainOptions<Message> extends WaitingOptions {
  /** LangChain's class, for messages of refusals. */
  ToolMessage: new (answer: {
    content: string
    name: string
    tool_call_id: string
    status: 'error'
  }) => Message
  /** LangGraph's function. With it a held call pauses the run instead of waiting; the agent needs a checkpointer. */
  interrupt?: (held: HeldCall) => unknown
}

/** Content of an interrupt for a call that people have to decide. The value on resuming does not count. */
export interface HeldCall {
  toolName: string
  args: ToolArgs
  reason: string
  approvalId: string | null
}

/**
 * Makes the `wrapToolCall` of a middleware: no tool of the agent runs before the gate allows the call. A refusal is a
 * message of the tool, with the status `error`.
 * Put this middleware last: a later one could run arguments other than those checked.
 *
 * @param source the session, or for an agent that serves several conversations a function that finds it for each request
 * @example
 * createMiddleware({ name: 'gate', wrapToolCall: gateToolCalls(session, { ToolMessage }) })
 */
export function gateToolCalls<Message, Asked extends ToolCallRequest = ToolCallRequest>(
  source: SessionSource<Asked>,
  { ToolMessage, interrupt, ...waiting }: LangChainOptions<Message>,
): <Request extends ToolCallRequest, Result>(
  request: Request,
  handler: (request: Request) => Result | Promise<Result>,
) => Promise<Result | Message> {
  return async (request, handler) => {
    const { toolCall, state } = request
    const { name, args, id } = toolCall
    const session = sessionFor(source, request)
    read(session, 'messages' in state ? state.messages : state)
    const call = { toolName: name, input: args }
    if (interrupt !== undefined) {
      const refusal = await refusalBefore(session, call, id, waiting.onPending)
      // Throws at first; on resuming it returns a value, which is ignored.
      if (refusal?.isHeld) interrupt({ toolName: name, args, reason: refusal.reason, approvalId: refusal.approvalId })
    }
    const answers: Awaited<ReturnType<typeof handler>>[] = []
    const run = async (own: unknown): Promise<unknown> => {
      const answer = await handler({ ...request, toolCall: { ...toolCall, args: own } })
      answers.push(answer)
      return isObject(answer) && 'content' in answer ? answer.content : answer
    }
    try {
      await callWithInput(session, call, run, { ...waiting, ...(id !== undefined && { callId: id }) })
    } catch (error) {
      if (isPassedOn(error)) throw error
      const content = isRefusal(error) ? error.message : String(error)
      return new ToolMessage({ content, name, tool_call_id: id ?? '', status: 'error' })
    }
    const [answer] = answers
    if (answer === undefined) throw new Error(`${name} gave no answer`)
    return answer
  }
}

/** Reports the user's words in these messages to the session. Do not pass messages that one agent writes to another. */
export function hear(session: GateSession, messages: readonly unknown[]): void {
  for (const { kind, content } of messages.map(normalized))
    if (USERS.has(kind)) for (const text of textsOf(content)) session.userSays(text)
  read(session, messages)
}

const USERS: ReadonlySet<unknown> = new Set(['human', 'user'])
const MODELS: ReadonlySet<unknown> = new Set(['ai', 'assistant'])
const TOOLS: ReadonlySet<unknown> = new Set(['tool', 'function'])
/** Messages of other kinds that quote nobody else. */
const OWN_KINDS: ReadonlySet<unknown> = new Set(['system', 'developer', 'remove'])
/** Blocks that a model itself writes, including those that providers have for it. */
const OWN_PARTS: ReadonlySet<unknown> = new Set([
  ...['text', 'refusal', 'reasoning', 'reasoning_content', 'thinking', 'redacted_thinking'],
  ...['tool_use', 'tool_call', 'tool_call_chunk', 'invalid_tool_call', 'input_json_delta', 'functionCall'],
  ...['server_tool_use', 'server_tool_call', 'server_tool_call_chunk', 'executableCode'],
  ...['image', 'image_url', 'audio', 'video', 'file'],
])
const USER_PARTS: ReadonlySet<unknown> = new Set(['text', 'audio', 'input_audio'])

interface NormalizedMessage {
  kind: unknown
  content: unknown
  message: Record<string, unknown>
}

/** Normalizes a message as LangChain accepts it: class instance, plain object, stored form, pair, or text. */
function normalized(message: unknown): NormalizedMessage {
  if (typeof message === 'string') return normalized({ role: 'user', content: message })
  if (Array.isArray(message)) return normalized({ role: message[0], content: message[1] })
  if (!isObject(message)) return { kind: undefined, content: undefined, message: { message } }
  const { type, role, data, content } = message
  if (isObject(data) && content === undefined) return normalized({ ...data, type })
  const kind = type === undefined || type === 'generic' ? role : type
  const { lc_source: source } = isObject(message.additional_kwargs) ? message.additional_kwargs : {}
  // Middleware can write as the user, such as a summary of results.
  return { kind: USERS.has(kind) ? (source ?? kind) : kind, content, message }
}

/** Observes all that the model has read and that is not known here to be somebody's own words. */
function read(session: GateSession, messages: readonly unknown[]): void {
  const reader = new Reader(session)
  for (const { kind, content, message } of messages.map(normalized)) {
    if (USERS.has(kind)) reader.attachments(content, USER_PARTS)
    else if (MODELS.has(kind)) {
      reader.quotes(content, OWN_PARTS)
      const { tool_outputs: outputs } = isObject(message.additional_kwargs) ? message.additional_kwargs : {}
      reader.quotes(outputs, new Set())
    } else if (TOOLS.has(kind)) reader.answer(String(message.name), String(message.tool_call_id), content)
    else if (!OWN_KINDS.has(kind)) reader.unknown(message)
  }
}

/** Errors that LangGraph throws to pause or leave a graph, or that it turns into messages itself. */
function isPassedOn(error: unknown): boolean {
  if (!isObject(error)) return false
  return error.is_bubble_up === true || error.name === 'AbortError' || error.name === 'ToolInvocationError'
}
