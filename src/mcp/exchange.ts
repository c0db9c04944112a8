import type { JsonObject } from '../base/json.ts'
import type { Answer, Gatekeeper, Ruling } from './gatekeeper.ts'
import {
  type ClientMessage,
  errorAnswer,
  type Id,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  metaOf,
  type Request,
  TOOL_CALL,
  withoutOwnMeta,
} from './message.ts'
import { readServerMessage, type ServerMessage } from './server-message.ts'
import { type Drift, type ToolBook, toolsIn } from './tool-book.ts'

/** Where a message of the client goes on to, and where what it is answered here goes. */
export interface Channels {
  /** Aborted when nobody waits for an answer any more: what is held then does not run. */
  signal?: AbortSignal
  toServer(message: JsonObject): Promise<void>
  toClient(message: JsonObject): Promise<void>
}

export interface ExchangeListener {
  onDrift(drift: Drift): void
  /** There are definitions that were not pinned yet. */
  onNewTools(): void
  /** The server sent what nobody can read; the client does not get it. */
  onUnreadable(why: string): void
}

/** A request that is at the server. */
interface Open {
  method: string
  tool: string | undefined
  finished(answer: Answer): Promise<void>
}

const TOOL_LIST = 'tools/list'
/** Requests whose answers say what a server is and has. Any other answer is something that the model reads. */
const NOT_READ = [
  'initialize',
  'server/discover',
  'ping',
  TOOL_LIST,
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'logging/setLevel',
  'completion/complete',
]
/** Notifications that can carry results. */
const READ_NOTIFICATIONS = 'notifications/tasks'
/** Requests at the server at once. An answer to one that was left longer than so many is one to nobody. */
const MAX_OPEN = 10_000

/**
 * One connection between a client and a server: passes everything on but tool calls that the gate does not allow, and watches what
 * comes back.
 */
export class Exchange {
  readonly #gatekeeper: Gatekeeper
  readonly #book: ToolBook
  readonly #told: ExchangeListener
  /** By the text of the id: clients take the answer with the id 1 for that with the id "1". */
  readonly #open = new Map<string, Open>()
  readonly #held = new Map<string, AbortController>()
  readonly #finishing = new Set<Promise<void>>()

  constructor(options: { gatekeeper: Gatekeeper; book: ToolBook; listener: ExchangeListener }) {
    this.#gatekeeper = options.gatekeeper
    this.#book = options.book
    this.#told = options.listener
  }

  /** A message of the client; settles once it has been passed on or answered, which a held call is late. */
  async fromClient(read: ClientMessage, channels: Channels): Promise<void> {
    const { toServer, toClient } = channels
    if (read.kind === 'refused') return toClient(read.answer)
    if (read.kind === 'response') return toServer(read.message)
    if (read.kind === 'notification') {
      // Nobody could be told that it was refused, and a server may run it.
      if (read.method === TOOL_CALL || this.#isGivenUp(read.method, read.params)) return
      return toServer(read.message)
    }
    const { request, message } = read
    const name = String(request.id)
    if (this.#open.has(name) || this.#held.has(name) || this.#held.size >= MAX_OPEN)
      return toClient(
        errorAnswer('Its id is that of another request, or too many are held.', INVALID_REQUEST, request.id),
      )
    if (request.method === TOOL_CALL) return this.#toolCall(request, message, channels)
    this.#opened(request.id, { method: request.method, tool: undefined, finished: async () => undefined })
    return toServer(withoutOwnMeta(message))
  }

  /** A message of the server. @returns what the client gets of it; undefined where it gets nothing */
  fromServer(source: string): string | undefined {
    const read = readServerMessage(source)
    if (read.kind === 'unreadable') return this.#unreadable(read.ids, read.why)
    if (read.kind === 'other') {
      if (read.method.startsWith(READ_NOTIFICATIONS))
        this.#gatekeeper.observe(undefined, [read.params ?? null, ...read.numbers])
      return read.text
    }
    return this.#answered(read)
  }

  /** True once the agent has read what others can have written. */
  get isTainted(): boolean {
    return this.#gatekeeper.isTainted
  }

  /** The client waits no longer for the answer to its call: it does not run if it is held. */
  giveUp(id: Id): void {
    this.#held.get(String(id))?.abort()
  }

  /** The connection is over: whatever is held is given up. Settles once what was done is recorded. */
  async close(): Promise<void> {
    for (const held of this.#held.values()) held.abort()
    for (const name of [...this.#open.keys()]) this.#finish(name, 'The connection ended before the server answered.')
    await Promise.all(this.#finishing)
  }

  #answered({ id, result, error, text, numbers }: ServerMessage & { kind: 'answer' }): string | undefined {
    const open = this.#open.get(String(id))
    if (open?.method === TOOL_LIST || (open === undefined && result !== undefined && 'tools' in result)) {
      const fault = result && this.#seeTools(result)
      if (fault !== undefined) return this.#unreadable(id === null ? [] : [id], fault)
    }
    // An answer to nothing that is known may be read as that to anything, and an error is of the server, whatever tool was called.
    if (error !== undefined || open === undefined)
      this.#gatekeeper.observe(undefined, [result ?? error ?? null, ...numbers])
    else if (!NOT_READ.includes(open.method)) this.#gatekeeper.observe(open.tool, [result ?? null, ...numbers])
    this.#finish(String(id), result ?? 'The server answered with an error.')
    return text
  }

  /** Whoever waits for it is told that there is no answer. */
  #unreadable(ids: readonly Id[], why: string): string | undefined {
    this.#told.onUnreadable(why)
    const id = ids.find((one) => this.#open.has(String(one)))
    if (id === undefined) return undefined
    this.#finish(String(id), 'The answer of the server could not be read.')
    return JSON.stringify(errorAnswer(`The answer of the server cannot be read: ${why}`, INTERNAL_ERROR, id))
  }

  #opened(id: Id, open: Open): void {
    const [oldest] = this.#open.keys()
    if (this.#open.size >= MAX_OPEN && oldest !== undefined)
      this.#finish(oldest, 'The server has not answered for long.')
    this.#open.set(String(id), open)
  }

  #finish(name: string, answer: Answer): void {
    const open = this.#open.get(name)
    if (open === undefined) return
    this.#open.delete(name)
    const finished = open.finished(answer).finally(() => this.#finishing.delete(finished))
    this.#finishing.add(finished)
  }

  async #toolCall(request: Request, message: JsonObject, { toServer, toClient, signal }: Channels): Promise<void> {
    const held = new AbortController()
    signal?.addEventListener('abort', () => held.abort(), { once: true })
    this.#held.set(String(request.id), held)
    let ruling: Ruling
    try {
      ruling = await this.#gatekeeper.rule(request, {
        signal: held.signal,
        onPending: (approvalId) => {
          const progress = this.#progressOf(request, approvalId)
          if (progress !== undefined) void toClient(progress)
        },
      })
    } catch (error) {
      // Whoever gave up the call waits for no answer.
      if (held.signal.aborted) return
      throw error
    } finally {
      this.#held.delete(String(request.id))
    }
    if (!ruling.forward) return toClient(ruling.answer)
    const { name } = request.params
    const tool = typeof name === 'string' ? name : undefined
    this.#opened(request.id, { method: TOOL_CALL, tool, finished: ruling.finished })
    // What was decided on is what is sent: written anew from what was read.
    return toServer(withoutOwnMeta(message))
  }

  /** True for the word that a held call is given up: the server has not heard of it. */
  #isGivenUp(method: string, { requestId }: JsonObject): boolean {
    if (method !== 'notifications/cancelled') return false
    const held = this.#held.get(String(requestId))
    held?.abort()
    this.#finish(String(requestId), 'The client gave it up before the server answered.')
    return held !== undefined
  }

  #progress = 0

  /** As little as there can be, so that what the server tells later is more. Undefined for who did not ask for any. */
  #progressOf(request: Request, approvalId: string): JsonObject | undefined {
    const { progressToken } = metaOf(request)
    if (progressToken === undefined || progressToken === null) return undefined
    this.#progress += 1e-9
    const message = `People have to approve this call: ${approvalId}`
    const params = { progressToken, progress: this.#progress, message }
    return { jsonrpc: '2.0', method: 'notifications/progress', params }
  }

  /** @returns why nobody should see the list */
  #seeTools(result: JsonObject): string | undefined {
    const tools = toolsIn(result)
    if (tools === undefined) return 'Its list of tools can be read in more than one way.'
    const { drifts, hasNew } = this.#book.see(tools)
    for (const drift of drifts) this.#told.onDrift(drift)
    if (hasNew) this.#told.onNewTools()
    return undefined
  }
}
