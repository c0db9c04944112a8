import { isObject } from '../objects.ts'
import type { GateSession, ToolArgs } from '../session.ts'
import { callWithInput, isRefusal, Reader, refusalBefore, type WaitingOptions } from './adapter.ts'

/* Adapter for your own loop around a model with OpenAI's wire format: Chat Completions, or Responses. */

/** Tools that a model can call, by name. */
export type LocalTools = Readonly<Record<string, (args: ToolArgs) => unknown>>

export interface RunOptions extends WaitingOptions {
  signal?: AbortSignal
}

/** Call in `tool_calls` of a message. */
export interface ChatToolCall {
  id: string
  type: string
  function?: { name: string; arguments: string }
}

/** Message with the role `tool`. */
export interface ChatToolAnswer {
  role: 'tool'
  tool_call_id: string
  content: string
}

/** Answer to an item of the output of a response. */
export type ResponsesAnswer =
  | { type: 'function_call_output'; call_id: string; output: string }
  | { type: 'mcp_approval_response'; approval_request_id: string; approve: boolean; reason?: string }

export interface HeldCall {
  callId: string
  toolName: string
  reason: string
  approvalId: string | null
}

interface Call {
  callId: string
  toolName: string
  /** Arguments as the model wrote them: JSON, or a failed attempt at it. */
  text: string
}

/** Runs the allowed calls of a message concurrently. The answers, including refusals, are the next messages. */
export function runToolCalls(
  session: GateSession,
  tools: LocalTools,
  calls: readonly ChatToolCall[],
  options: RunOptions = {},
): Promise<ChatToolAnswer[]> {
  return Promise.all(
    calls.map(async (item) => {
      const call = callOf(item)
      const content = call
        ? await answer(session, tools, call, options)
        : `Calls of type ${item.type} are not run here.`
      return { role: 'tool', tool_call_id: item.id, content }
    }),
  )
}

/** Runs the calls in the output of a response. The gate also decides whether a remote MCP server may be called. */
export async function runResponseItems(
  session: GateSession,
  tools: LocalTools,
  output: readonly unknown[],
  options: RunOptions = {},
): Promise<ResponsesAnswer[]> {
  read(session, output)
  const answers = output.filter(isObject).map(async (item): Promise<ResponsesAnswer[]> => {
    const call = callOf(item)
    if (call === undefined) return []
    if (item.type === 'mcp_approval_request') return [await approval(session, call, options)]
    const text = await answer(session, tools, call, options)
    return [{ type: 'function_call_output', call_id: call.callId, output: text }]
  })
  return (await Promise.all(answers)).flat()
}

/** Finds the calls that people have to decide. A loop can store its messages here, end, and run them after that. */
export async function heldCalls(session: GateSession, items: readonly unknown[]): Promise<HeldCall[]> {
  const held = items.filter(isObject).map(async (item): Promise<HeldCall[]> => {
    const { toolName, callId, text } = callOf(item) ?? { toolName: '', callId: '', text: '' }
    const input = argumentsIn(text)
    if (input === undefined) return []
    const refusal = await refusalBefore(session, { toolName, input }, callId, undefined)
    return refusal?.isHeld ? [{ callId, toolName, reason: refusal.reason, approvalId: refusal.approvalId }] : []
  })
  return (await Promise.all(held)).flat()
}

/** Reports the user's words to the session. Do not pass messages that one agent writes to another. */
export function hear(session: GateSession, messages: readonly unknown[]): void {
  new Reader(session).userMessages(messages)
  read(session, messages)
}

/** Text for the model. */
async function answer(session: GateSession, tools: LocalTools, call: Call, options: RunOptions): Promise<string> {
  const { callId, toolName } = call
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined
  if (tool === undefined) return `There is no tool ${toolName}.`
  const input = argumentsIn(call.text)
  if (input === undefined) return `The arguments of ${toolName} are not a JSON object.`
  try {
    return textOf(toolName, await session.call(toolName, input, tool, { ...options, callId }))
  } catch (error) {
    options.signal?.throwIfAborted()
    return isRefusal(error) ? error.message : `${toolName} failed: ${String(error)}`
  }
}

/** Never throws, since the tool has run: a model that sees a failure may call it again. */
function textOf(toolName: string, result: unknown): string {
  if (typeof result === 'string') return result
  try {
    return JSON.stringify(result) ?? 'null'
  } catch {
    return `${toolName} succeeded. Its result cannot be written as JSON, and is not shown.`
  }
}

/** Answers an approval request. The provider runs the call after the answer, and its result is not seen here. */
async function approval(session: GateSession, call: Call, options: RunOptions): Promise<ResponsesAnswer> {
  const { callId, toolName, text } = call
  const answered = { type: 'mcp_approval_response', approval_request_id: callId } as const
  const input = argumentsIn(text)
  if (input === undefined) return { ...answered, approve: false, reason: 'The arguments are not a JSON object.' }
  try {
    await callWithInput(session, { toolName, input }, () => undefined, { ...options, callId })
    return { ...answered, approve: true }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { ...answered, approve: false, reason: error.message }
  }
}

function callOf(item: object): Call | undefined {
  const { id, type, call_id, name, server_label, arguments: text, function: called } = item as Record<string, unknown>
  if (type === 'function' && isObject(called)) {
    return { callId: String(id), toolName: String(called.name), text: String(called.arguments) }
  }
  if (type === 'function_call') return { callId: String(call_id), toolName: String(name), text: String(text) }
  if (type !== 'mcp_approval_request') return undefined
  return { callId: String(id), toolName: mcpName(server_label, name), text: String(text) }
}

/** Qualifies the tool by its server, since two servers can share a tool name. */
function mcpName(server: unknown, tool: unknown): string {
  return `mcp__${server}__${tool}`
}

/** Parses arguments; undefined when they are not a JSON object. */
function argumentsIn(text: string): ToolArgs | undefined {
  try {
    // Some models write nothing when there are no arguments.
    const args: unknown = JSON.parse(text.trim() || '{}')
    return isObject(args) ? args : undefined
  } catch {
    return undefined
  }
}

/** Items that hold words of the model, the user or the developer. */
const OWN_ITEMS: ReadonlySet<unknown> = new Set([
  ...['reasoning', 'function_call', 'custom_tool_call', 'local_shell_call', 'shell_call', 'apply_patch_call'],
  ...['computer_call', 'tool_search_call', 'program', 'mcp_approval_request', 'mcp_approval_response'],
  ...['additional_tools', 'configuration_update', 'compaction_trigger'],
])
const OWN_PARTS: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text', 'refusal', 'input_audio'])

/** Observes all that the model has read and that is not known here to be somebody's own words. */
function read(session: GateSession, messages: readonly unknown[]): void {
  const reader = new Reader(session)
  const names = new Map<unknown, string>()
  for (const message of messages.filter(isObject)) {
    for (const item of [message, ...(Array.isArray(message.tool_calls) ? message.tool_calls : [])])
      nameCall(item, names)
    const { type = 'message', role, content, annotations } = message
    if (type !== 'message') readItem(reader, message, names)
    else if (role === 'user') reader.attachments(content, OWN_PARTS)
    else if (role === 'assistant') {
      reader.quotes(content, OWN_PARTS)
      reader.quotes([{ type: 'text', annotations }], OWN_PARTS)
    } else if (role === 'tool' || role === 'function') {
      const { tool_call_id: callId, name = '' } = message
      reader.answer(names.get(callId) ?? String(name), String(callId), content)
    } else if (role !== 'system' && role !== 'developer') reader.unknown(message)
  }
}

function readItem(reader: Reader, item: Record<string, unknown>, names: ReadonlyMap<unknown, string>): void {
  const { type, id, call_id: callId, server_label, name, output, error } = item
  if (type === 'mcp_call') {
    for (const said of [output, error].filter((one) => one != null))
      reader.session.observeMessage(mcpName(server_label, name), String(id), said)
  } else if (String(type).endsWith('_call_output')) {
    reader.answer(names.get(callId) ?? String(name ?? type), String(callId), output)
  } else if (!OWN_ITEMS.has(type)) reader.unknown(item)
}

/** Records the name of a call, since answers have its id and mostly no name. */
function nameCall(item: unknown, names: Map<unknown, string>): void {
  if (!isObject(item)) return
  const call = callOf(item)
  if (call) names.set(call.callId, call.toolName)
  const { type, id, call_id, name, custom } = item
  if (type === 'custom_tool_call') names.set(call_id, String(name))
  if (type === 'custom' && isObject(custom)) names.set(id, String(custom.name))
}
