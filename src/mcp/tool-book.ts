import { canonicalJson } from '../base/canonical.ts'
import { digestOf } from '../base/digest.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { twinOf } from './ambiguous.ts'
import { type HeaderPaths, headerPathsOf } from './tool-headers.ts'

/** Digests of the definitions of tools, by name. */
export type Pins = Readonly<Record<string, string>>

/** The definition of a tool in a list of a server. */
export type Tool = JsonObject & { name: string }

/** What a server says of a tool, as far as it makes it more dangerous. Servers are not trusted: what would make it less so counts nothing. */
export type Hints = {
  /** False where the server has not been seen to say anything of it. */
  listed: boolean
  destructive: boolean
  openWorld: boolean
  notIdempotent: boolean
}

/** A definition that is not the one that was seen before. */
export interface Drift {
  tool: string
  before: string
  now: string
}

interface Known {
  hints: Hints
  headers: HeaderPaths
}

const MAX_TOOLS = 10_000
/** Longer than the name of any action, so that it cannot be called. */
const MAX_NAME = 256

/**
 * What is known of the tools of one server. The first definition of a tool that is seen is kept; another one later is a drift, since
 * nobody has read it who decided to use the tool.
 */
export class ToolBook {
  readonly #pins: Map<string, string>
  readonly #known = new Map<string, Known>()
  readonly #changed = new Map<string, Drift>()

  constructor(pins: Pins) {
    this.#pins = new Map(Object.entries(pins))
  }

  /** Takes in a list of tools. @returns what differs from before, and was not told yet */
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
      this.#known.set(name, {
        hints: raised(this.hints(name), tool.annotations),
        headers: headerPathsOf(tool.inputSchema),
      })
    }
    return { drifts, hasNew }
  }

  /** Takes in what others have pinned of the same server; theirs was first. @returns as `see` */
  agree(pins: Pins): Drift[] {
    return Object.entries(pins).flatMap(([name, pinned]) => {
      const own = this.#pins.get(name)
      this.#pins.set(name, pinned)
      return own === undefined ? [] : this.#compare(name, pinned, own)
    })
  }

  hints(tool: string): Hints {
    return this.#known.get(tool)?.hints ?? NO_HINTS
  }

  /** Which argument each header carries; undefined where no definition of the tool was seen. */
  headers(tool: string): HeaderPaths | undefined {
    return this.#known.get(tool)?.headers
  }

  /** Why its definition cannot be relied on, as a sentence. A change stays one, also when the server takes it back. */
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
 * The tools that a result lists; none where it lists none. Undefined when two readers could see two lists in it, or a name is none
 * that can be kept.
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

/** A hint that was given once stays. */
function raised(known: Hints, annotations: Json | undefined): Hints {
  const { destructiveHint, openWorldHint, idempotentHint } = isJsonObject(annotations) ? annotations : {}
  return {
    listed: true,
    destructive: known.destructive || destructiveHint === true,
    openWorld: known.openWorld || openWorldHint === true,
    notIdempotent: known.notIdempotent || idempotentHint === false,
  }
}

/** Of what has no canonical form, such as half a character, or a number that is none to JavaScript, as it came. */
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
