import { isObject } from '../objects.ts'
import type { GateSession, ToolArgs } from '../session.ts'
import {
  callWithInput,
  hearUser,
  isRefusal,
  readAnswer,
  readAttachments,
  readQuotes,
  readUnknown,
  refusalBefore,
  type WaitingOptions,
} from './adapter.ts'

/* For the OpenAI Agents SDK (JavaScript). Nothing is imported from it: what is needed of its types is written here. */

export interface ToolOptions extends WaitingOptions {
  /** Whether a held call pauses the run, as an interruption, in place of waiting. */
  pause?: boolean
}

/** What `tool` of the SDK takes, as far as it is looked at. */
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

/** The part of an MCP server that is gated. */
interface McpServer {
  readonly name: string
  callTool(...call: McpCall): Promise<unknown>
  callToolResult?(...call: McpCall): Promise<unknown>
}

type McpCall = [tool: string, args: Record<string, unknown> | null, meta?: never, options?: { signal?: AbortSignal }]

/** What `callModelInputFilter` is given. */
export interface ModelInput<Data> {
  modelData: Data
}

/**
 * `tool` of the SDK, making tools that do not run before the gate allows the call. A refusal is the result that the model gets; of a tool
 * with an `outputSchema`, which no text would fit, it is what `errorFunction` is given.
 *
 * @example
 * const tool = gateTool(session, sdk.tool)
 */
export function gateTool<Make extends (definition: never) => { name: string }>(
  session: GateSession,
  make: Make,
  { pause = false, ...waiting }: ToolOptions = {},
): Make {
  const gated = (definition: Definition): { name: string } => {
    const { execute, needsApproval = false, errorFunction } = definition
    const guarded = async (input: unknown, context?: unknown, details?: Details): Promise<unknown> => {
      const callId = details?.toolCall?.callId
      const options = { ...waiting, ...(callId && { callId }), ...(details?.signal && { signal: details.signal }) }
      const run = (own: unknown): unknown => execute(own, context, details)
      const result = callWithInput(session, { toolName: made.name, input }, run, options)
      return definition.outputSchema === undefined ? result.catch(refusalText) : result
    }
    const isHeld = async (context: unknown, input: unknown, callId?: string): Promise<boolean> => {
      const theirs = typeof needsApproval === 'function' ? await needsApproval(context, input, callId) : needsApproval
      // A refusal for any other reason is told when the tool is called.
      const refusal = await refusalBefore(session, { toolName: made.name, input }, callId, waiting.onPending)
      return theirs || (refusal?.isHeld ?? false)
    }
    // What the model reads of an error is what this makes of it.
    const explained: typeof errorFunction =
      errorFunction &&
      (async (context, error, ...more) => {
        const said = await errorFunction(context, error, ...more)
        if (!isRefusal(error)) session.observe(made.name, said)
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
 * An MCP server, none of whose tools is called before the gate allows it. A refusal is the text that the model gets. To policies, and
 * among `trusted`, a tool has the name of the server too: `mcp_SERVER__TOOL`, as the SDK has it with `includeServerInToolNames`.
 */
export function gateMcpServer<Server extends McpServer>(
  session: GateSession,
  server: Server,
  waiting: WaitingOptions = {},
): Server {
  const gated = (call: McpServer['callTool'], refused: (content: object[]) => unknown): McpServer['callTool'] => {
    return (tool, args, ...more) => {
      const run = (own: ToolArgs): Promise<unknown> => call.call(server, tool, args && { ...own }, ...more)
      const [, { signal } = {}] = more
      return session
        .call(`mcp_${server.name}__${tool}`, args ?? {}, run, { ...waiting, ...(signal && { signal }) })
        .catch((error) => refused([{ type: 'text', text: refusalText(error) }]))
    }
  }
  return new Proxy(server, {
    get(target, name) {
      // Methods are called on the server itself, whose private members a proxy does not have.
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const method = value as McpServer['callTool']
      if (name === 'callTool') return gated(method, (content) => content)
      if (name === 'callToolResult') return gated(method, (content) => ({ content, isError: true }))
      return value.bind(target)
    },
  })
}

/** For `callModelInputFilter`: what the model is about to read of tools taints, those too that ran elsewhere. */
export function readInput(
  session: GateSession,
): <Data extends { input: readonly unknown[] }>(given: ModelInput<Data>) => Data {
  return ({ modelData }) => {
    read(session, modelData.input)
    return modelData
  }
}

/** Tells the session what the user says in these items. Not for items that an agent writes to another. */
export function hear(session: GateSession, items: readonly unknown[]): void {
  hearUser(session, items)
  read(session, items)
}

/** Items that say what the model says. */
const OWN_ITEMS: ReadonlySet<unknown> = new Set([
  ...['reasoning', 'function_call', 'computer_call', 'shell_call', 'apply_patch_call', 'tool_search_call', 'program'],
])
const OWN_PARTS: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'refusal', 'audio', 'image'])

/** All that is not known to be somebody's own words here. */
function read(session: GateSession, items: readonly unknown[]): void {
  for (const item of items) {
    if (!isObject(item)) continue
    const { type = 'message', role, content, name, callId, output } = item
    if (type === 'message' && role === 'user') readAttachments(session, content, OWN_PARTS)
    else if (type === 'message' && role === 'assistant') readQuotes(session, content, OWN_PARTS)
    else if (type === 'message' && (role === 'system' || role === 'developer')) continue
    else if (/_call_(result|output)$/.test(String(type)))
      readAnswer(session, String(name ?? type), String(callId), output ?? '')
    else if (type === 'hosted_tool_call') {
      session.observe(String(name), output ?? '')
      // Of what some have found, the model alone is told.
      session.observeUnseen(String(name))
    } else if (!OWN_ITEMS.has(type)) readUnknown(session, item)
  }
}

function refusalText(error: unknown): string {
  if (isRefusal(error)) return error.message
  throw error
}
