import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { oneLine, visible } from '../../base/visible.ts'
import { RESERVED_KEYS } from '../yaml/node.ts'

/** A tool of an agent, as its framework or an MCP server lists it. All of it is untrusted text. */
export interface Tool {
  name: string
  description?: string | undefined
  /** JSON Schema of the arguments, in whatever dialect. */
  schema?: JsonObject | undefined
  /** The tool's own annotations (MCP): hints, which need not be true. */
  readOnly?: boolean | undefined
  destructive?: boolean | undefined
}

export type ToolList = { tools: readonly Tool[]; notes: readonly string[] } | { fault: string }

const MAX_TOOLS = 1000
const MAX_NAME = 500

/**
 * Reads a tool list: names, or objects as OpenAI, Anthropic and MCP have them, or an answer to `tools/list` of MCP.
 * Members that do not matter to policies are ignored; those that do must have their form.
 */
export function readTools(value: Json): ToolList {
  if (Array.isArray(value)) return readItems(value)
  if (!isJsonObject(value)) return { fault: 'A tool list is a JSON array, or an object with the member tools.' }
  if (isJsonObject(value.error))
    return { fault: `The answer is an error: ${oneLine(String(value.error.message), 200)}.` }
  const holder = isJsonObject(value.result) ? value.result : value
  if (!Array.isArray(holder.tools)) return { fault: 'The object has no array called tools.' }
  const list = readItems(holder.tools)
  if ('fault' in list || typeof holder.nextCursor !== 'string') return list
  return { ...list, notes: ['The list goes on: it has a nextCursor. Tools of the further pages are not covered.'] }
}

/** Reads a plain list: one name a line. Empty lines and lines that begin with `#` do not count. */
export function readToolLines(text: string): ToolList {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const fault = lines.findIndex((line) => /\s/.test(line) && !line.startsWith('#'))
  if (fault >= 0)
    return {
      fault: `Line ${fault + 1} is ${shownName(lines[fault] ?? '')}; a list that is not JSON has one name a line.`,
    }
  const names = lines.filter((line) => line !== '' && !line.startsWith('#'))
  return names.length === 0 ? { fault: 'The list has no names.' } : readItems(names)
}

function readItems(items: readonly Json[]): ToolList {
  if (items.length > MAX_TOOLS) return { fault: `There are ${items.length} tools; at most ${MAX_TOOLS} are taken.` }
  const tools: Tool[] = []
  for (const [i, item] of items.entries()) {
    const tool = readTool(item)
    if (typeof tool === 'string') return { fault: `Tool ${i + 1} of the list ${tool}.` }
    tools.push(tool)
  }
  return { tools, notes: [] }
}

/** The tool, or its fault as a predicate. */
function readTool(item: Json): Tool | string {
  if (typeof item === 'string') return readTool({ name: item })
  if (!isJsonObject(item)) return 'is neither a name nor an object'
  // OpenAI wraps the description of a function.
  if (isJsonObject(item.function)) return readTool(item.function)
  const { name, description = null, annotations = null } = item
  if (typeof name !== 'string' || name === '') return 'has no name'
  if (name.length > MAX_NAME) return `has a name of more than ${MAX_NAME} characters`
  if (description !== null && typeof description !== 'string') return 'has a description that is not a text'
  const schema = item.inputSchema ?? item.input_schema ?? item.parameters ?? null
  if (schema !== null && !isJsonObject(schema)) return 'has a schema that is not an object'
  if (annotations !== null && !isJsonObject(annotations)) return 'has annotations that are not an object'
  const { readOnlyHint = null, destructiveHint = null } = annotations ?? {}
  for (const hint of [readOnlyHint, destructiveHint])
    if (hint !== null && typeof hint !== 'boolean') return 'has a hint that is neither true nor false'
  return {
    name,
    description: description ?? undefined,
    schema: schema ?? undefined,
    readOnly: typeof readOnlyHint === 'boolean' ? readOnlyHint : undefined,
    destructive: typeof destructiveHint === 'boolean' ? destructiveHint : undefined,
  }
}

/** A tool with the action under which its calls are checked. */
export interface NamedTool extends Tool {
  action: string
}

/** Gives each tool its action: its name, as far as an action may have it. Two tools must not share an action. */
export function nameActions(tools: readonly Tool[]): readonly NamedTool[] | { fault: string } {
  const known = new Map<string, string>()
  const named: NamedTool[] = []
  for (const tool of tools) {
    const action = actionOf(tool.name)
    const shown = shownName(tool.name)
    if (action === '') return { fault: `The tool ${shown} has no name that an action can have; rename it.` }
    const other = known.get(action)
    if (other === tool.name) return { fault: `The tool ${shown} is listed twice; an action has one declaration.` }
    if (other !== undefined) {
      const both = `The tools ${shownName(other)} and ${shown}`
      return { fault: `${both} would both be the action ${action}; rename one of them.` }
    }
    known.set(action, tool.name)
    named.push({ ...tool, action })
  }
  return named
}

/** A name in quotes, cut where it is long. */
export function shownName(name: string): string {
  return `"${visible(name).slice(0, 200)}"`
}

/** The name with `_` in place of characters that no action's name has (ACTION_PATTERN). */
function actionOf(name: string): string {
  const action = name
    .replace(/[^A-Za-z0-9_.:/-]+/g, '_')
    .replace(/^[.:/-]+/, '')
    .slice(0, 128)
  return RESERVED_KEYS.has(action) ? `_${action}` : action
}
