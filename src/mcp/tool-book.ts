import { canonicalJson } from '../base/canonical.ts'
import { digestOf } from '../base/digest.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { twinOf } from './ambiguous.ts'

/** Digests of the definitions of tools, by name. */
export type Pins = Readonly<Record<string, string>>

export type Tool = JsonObject & { name: string }

/** Path to the argument that each header of a tool carries, by the header's name in lower case. */
type HeaderPaths = ReadonlyMap<string, readonly string[]>

export const PARAM_HEADER = 'mcp-param-'
const MARK = 'x-mcp-header'

/** Hints that make a tool more dangerous. Servers are not trusted, so hints of safety are ignored. */
export type Hints = {
  /** False when the server has not listed the tool. */
  listed: boolean
  destructive: boolean
  openWorld: boolean
  notIdempotent: boolean
}

/** Definition that differs from the one seen before. */
export interface Drift {
  tool: string
  before: string
  now: string
}

const MAX_TOOLS = 10_000
/** Longer than any action name, so no call can use it. */
const MAX_NAME = 256

/**
 * Definitions of the tools of one server. The first definition of a tool is kept. A later one that differs is a drift:
 * the person who chose the tool has not read it.
 */
export class ToolBook {
  readonly #pins: Map<string, string>
  readonly #known = new Map<string, { hints: Hints; headers: HeaderPaths; digest: string; edition: number }>()
  readonly #changed = new Map<string, Drift>()

  constructor(pins: Pins) {
    this.#pins = new Map(Object.entries(pins))
  }

  /** Adds a list of tools. @returns drifts that were not reported yet, and whether there are new tools */
  see(tools: readonly Tool[]): { drifts: Drift[]; hasNew: boolean } {
    const drifts: Drift[] = []
    let hasNew = false
    for (const tool of tools) {
      const { name } = tool
      const now = definitionDigest(tool)
      const before = this.#pins.get(name)
      if (before === undefined) {
        if (this.#isFull || name.length > MAX_NAME) continue
        this.#pins.set(name, now)
        hasNew = true
      } else drifts.push(...this.#compare(name, before, now))
      const known = this.#known.get(name)
      this.#known.set(name, {
        digest: now,
        edition: (known?.edition ?? 0) + (known?.digest === now ? 0 : 1),
        hints: raised(this.hints(name), tool.annotations),
        headers: headerPathsOf(tool.inputSchema),
      })
    }
    return { drifts, hasNew }
  }

  /** Adds pins of others for the same server, which came first. @returns drifts as `see` */
  agree(pins: Pins): Drift[] {
    return Object.entries(pins).flatMap(([name, pinned]) => {
      const own = this.#pins.get(name)
      this.#pins.set(name, pinned)
      return own === undefined ? [] : this.#compare(name, pinned, own)
    })
  }

  /** Grows with each change of the definition, also with a change back to an earlier one; 0 for an unlisted tool. */
  edition(tool: string): number {
    return this.#known.get(tool)?.edition ?? 0
  }

  hints(tool: string): Hints {
    return this.#known.get(tool)?.hints ?? NO_HINTS
  }

  /** Argument that each header carries; undefined when no definition of the tool was seen. */
  headers(tool: string): HeaderPaths | undefined {
    return this.#known.get(tool)?.headers
  }

  /** Sentence about why the definition cannot be relied on. A change stays one, even when the server reverts it. */
  objection(tool: string): string | undefined {
    const drift = this.#changed.get(tool)
    if (drift !== undefined)
      return `The definition of the tool ${tool} is not the one that was seen first (${drift.before}, now ${drift.now}).`
    return this.#isFull && !this.#pins.has(tool)
      ? `The server has more than ${MAX_TOOLS} tools, and ${tool} is not among those that are kept.`
      : undefined
  }

  pins(): Pins {
    return Object.fromEntries(this.#pins)
  }

  get #isFull(): boolean {
    return this.#pins.size >= MAX_TOOLS
  }

  #compare(tool: string, before: string, now: string): Drift[] {
    if (before === now || this.#changed.get(tool)?.now === now) return []
    const drift = { tool, before, now }
    this.#changed.set(tool, drift)
    return [drift]
  }
}

/**
 * Tools that a result lists, if any. Undefined when two readers could see different lists, or a name cannot be kept.
 */
export function toolsIn(result: JsonObject): Tool[] | undefined {
  const { tools = [] } = result
  if (!Array.isArray(tools) || twinOf(Object.keys(result), ['tools']) !== undefined) return undefined
  return tools.every(isTool) ? tools : undefined
}

function isTool(tool: Json): tool is Tool {
  if (!isJsonObject(tool) || typeof tool.name !== 'string') return false
  return tool.name.isWellFormed() && tool.name !== '__proto__' && twinOf(Object.keys(tool)) === undefined
}

const NO_HINTS: Hints = { listed: false, destructive: false, openWorld: false, notIdempotent: false }

/** Adds hints; a hint once given stays. */
function raised(known: Hints, annotations: Json | undefined): Hints {
  const { destructiveHint, openWorldHint, idempotentHint } = isJsonObject(annotations) ? annotations : {}
  return {
    listed: true,
    destructive: known.destructive || destructiveHint === true,
    openWorld: known.openWorld || openWorldHint === true,
    notIdempotent: known.notIdempotent || idempotentHint === false,
  }
}

/**
 * Digests the plain JSON when there is no canonical form, such as for half a character or a number beyond JavaScript's.
 */
function definitionDigest(tool: JsonObject): string {
  try {
    return digestOf(canonicalJson(tool))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return digestOf(
      JSON.stringify(tool, (_, value) => (Number.isFinite(value) || typeof value !== 'number' ? value : String(value))),
    )
  }
}

/**
 * Headers that clients send with a tool call (MCP 2026-07-28, Custom Headers from Tool Parameters). They stand for
 * marked properties of its schema that `properties` alone lead to.
 */
function headerPathsOf(inputSchema: Json | undefined): HeaderPaths {
  return new Map(marked(inputSchema, []))
}

function* marked(schema: Json | undefined, path: readonly string[]): Generator<[string, readonly string[]]> {
  if (!isJsonObject(schema)) return
  const { [MARK]: name, properties } = schema
  if (typeof name === 'string' && path.length > 0) yield [`${PARAM_HEADER}${name.toLowerCase()}`, path]
  if (!isJsonObject(properties)) return
  for (const [member, inner] of Object.entries(properties)) yield* marked(inner, [...path, member])
}
