import { isObject } from '../objects.ts'
import type { GateSession, ToolArgs } from '../session.ts'
import {
  callWithInput,
  isRefusal,
  Reader,
  refusalBefore,
  type SessionSource,
  sessionFor,
  type WaitingOptions,
} from './adapter.ts'

/* Adapter for the OpenAI Agents SDK (JavaScript). It imports nothing from it, and declares the types that it needs. */

export interface ToolOptions extends WaitingOptions {
  /** True pauses the run for a held call, as an interruption, instead of waiting. */
  pause?: boolean
}

/** Part that is used of the definition that `tool` of the SDK takes. */
interface Definition {
  name?: string
  execute(input: unknown, context?: unknown, details?: Details): unknown
  needsApproval?: boolean | ((context: unknown, input: unknown, callId?: string) => Promise<boolean>)
  outputSchema?: unknown
  errorFunction?: ((context: unknown, error: unknown, ...more: unknown[]) => unknown) | null
}

interface Details {
  toolCall?: { callId: string }
  signal?: AbortSignal
}

/** Part of an MCP server that is gated. */
interface McpServer {
  readonly name: string
  callTool(...call: McpCall): Promise<unknown>
  callToolResult?(...call: McpCall): Promise<unknown>
}

type McpCall = [tool: string, args: Record<string, unknown> | null, meta?: never, options?: { signal?: AbortSignal }]

/** Argument of `callModelInputFilter`. */
export interface ModelInput<Data> {
  modelData: Data
  context?: unknown
}

/**
 * Wraps `tool` of the SDK: its tools run only after the gate allows the call.
 * The model gets a refusal as the result. With an `outputSchema`, which no text would fit, `errorFunction` gets it.
 *
 * @param source the session, or for an agent that serves several conversations a function that finds it by the run's context
 * @example
 * const tool = gateTool(session, sdk.tool)
 */
export function gateTool<Make extends (definition: never) => { name: string }, Context = unknown>(
  source: SessionSource<Context>,
  make: Make,
  { pause = false, ...waiting }: ToolOptions = {},
): Make {
  const gated = (definition: Definition): { name: string } => {
    const { execute, needsApproval = false, errorFunction } = definition
    const guarded = async (input: unknown, context?: unknown, details?: Details): Promise<unknown> => {
      const session = sessionFor(source, context)
      const callId = details?.toolCall?.callId
      const options = { ...waiting, ...(callId && { callId }), ...(details?.signal && { signal: details.signal }) }
      const run = (own: unknown): unknown => execute(own, context, details)
      const result = callWithInput(session, { toolName: made.name, input }, run, options)
      return definition.outputSchema === undefined ? result.catch(refusalText) : result
    }
    const isHeld = async (context: unknown, input: unknown, callId?: string): Promise<boolean> => {
      const theirs = typeof needsApproval === 'function' ? await needsApproval(context, input, callId) : needsApproval
      // The tool call itself reports a refusal for any other reason.
      const refusal = await refusalBefore(
        sessionFor(source, context),
        { toolName: made.name, input },
        callId,
        waiting.onPending,
      )
      return theirs || (refusal?.isHeld ?? false)
    }
    // The model reads the text that this makes of an error.
    const explained: typeof errorFunction =
      errorFunction &&
      (async (context, error, ...more) => {
        const said = await errorFunction(context, error, ...more)
        if (!isRefusal(error)) sessionFor(source, context).observe(made.name, said)
        return said
      })
    const name = definition.name ?? execute.name
    const own = { name, execute: guarded, ...(explained && { errorFunction: explained }) }
    const made = make({ ...definition, ...own, ...(pause && { needsApproval: isHeld }) } as never)
    return made
  }
  return gated as unknown as Make
}

/**
 * Wraps an MCP server: its tools are called only after the gate allows it. The model gets a refusal as text.
 * For policies and in `trusted`, the name of a tool includes the server's: `mcp_SERVER__TOOL`, as the SDK has it with
 * `includeServerInToolNames`.
 */
export function gateMcpServer<Server extends McpServer>(
  source: SessionSource<undefined>,
  server: Server,
  waiting: WaitingOptions = {},
): Server {
  const gated = (call: McpServer['callTool'], refused: (content: object[]) => unknown): McpServer['callTool'] => {
    return async (tool, args, ...more) => {
      const run = (own: ToolArgs): Promise<unknown> => call.call(server, tool, args && { ...own }, ...more)
      const [, { signal } = {}] = more
      const session = sessionFor(source, undefined)
      try {
        return await session.call(`mcp_${server.name}__${tool}`, args ?? {}, run, {
          ...waiting,
          ...(signal && { signal }),
        })
      } catch (error) {
        return refused([{ type: 'text', text: refusalText(error) }])
      }
    }
  }
  return new Proxy(server, {
    get(target, name) {
      // Binds methods to the server itself, since a proxy lacks its private members.
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const method = value as McpServer['callTool']
      if (name === 'callTool') return gated(method, (content) => content)
      if (name === 'callToolResult') return gated(method, (content) => ({ content, isError: true }))
      return value.bind(target)
    },
  })
}

/** Filter for `callModelInputFilter`: tools' results in the input taint the session, wherever they ran. */
export function readInput<Context = unknown>(
  source: SessionSource<Context>,
): <Data extends { input: readonly unknown[] }>(given: ModelInput<Data>) => Data {
  return ({ modelData, context }) => {
    read(sessionFor(source, context), modelData.input)
    return modelData
  }
}

/** Reports the user's words in these items to the session. Do not pass items that one agent writes to another. */
export function hear(session: GateSession, items: readonly unknown[]): void {
  new Reader(session).userMessages(items)
  read(session, items)
}

/** Items that hold the model's own words. */
const OWN_ITEMS: ReadonlySet<unknown> = new Set([
  ...['reasoning', 'function_call', 'computer_call', 'shell_call', 'apply_patch_call', 'tool_search_call', 'program'],
])
const OWN_PARTS: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'refusal', 'audio', 'image'])

/** Observes everything that is not known here to be somebody's own words. */
function read(session: GateSession, items: readonly unknown[]): void {
  const reader = new Reader(session)
  for (const item of items) {
    if (!isObject(item)) continue
    const { type = 'message', role, content, name, callId, output } = item
    if (type === 'message' && role === 'user') reader.attachments(content, OWN_PARTS)
    else if (type === 'message' && role === 'assistant') reader.quotes(content, OWN_PARTS)
    else if (type === 'message' && (role === 'system' || role === 'developer')) continue
    else if (/_call_(result|output)$/.test(String(type)))
      reader.answer(String(name ?? type), String(callId), output ?? '')
    else if (type === 'hosted_tool_call') {
      session.observe(String(name), output ?? '')
      // Some of these tools show their findings to the model alone.
      session.observeUnseen(String(name))
    } else if (!OWN_ITEMS.has(type)) reader.unknown(item)
  }
}

function refusalText(error: unknown): string {
  if (isRefusal(error)) return error.message
  throw error
}
