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

/** Outputs of an exchange: the server, and answers to the client. */
export interface Channels {
  /** Aborted when nobody waits for an answer any more: a held call then does not run. */
  signal?: AbortSignal
  toServer(message: JsonObject): Promise<void>
  toClient(message: JsonObject): Promise<void>
}

export interface ExchangeListener {
  onDrift(drift: Drift): void
  /** Called for definitions that were not pinned yet. */
  onNewTools(): void
  /** Called for an unreadable message of the server, which the client does not get. */
  onUnreadable(why: string): void
}

/** Request that the server has not answered yet. */
interface PendingRequest {
  method: string
  tool: string | undefined
  finished(answer: Answer): Promise<void>
}

const TOOL_LIST = 'tools/list'
/** Requests whose answers describe the server. The model reads the answers of all others. */
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
/** Prefix of notifications that can carry results. */
const READ_NOTIFICATIONS = 'notifications/tasks'
/** Limit of open requests. Beyond it the oldest is dropped, and its answer will match none. */
const MAX_OPEN = 10_000

/** Connection between a client and a server. It passes on all but disallowed calls, and watches the answers. */
export class Exchange {
  readonly #gatekeeper: Gatekeeper
  readonly #book: ToolBook
  readonly #told: ExchangeListener
  /** Keyed by the text of the id: clients take an answer with the id 1 as one with the id "1". */
  readonly #open = new Map<string, PendingRequest>()
  readonly #held = new Map<string, AbortController>()
  readonly #finishing = new Set<Promise<void>>()

  constructor(options: { gatekeeper: Gatekeeper; book: ToolBook; listener: ExchangeListener }) {
    this.#gatekeeper = options.gatekeeper
    this.#book = options.book
    this.#told = options.listener
  }

  /** Handles a message of the client; settles once it was passed on or answered, which takes long for a held call. */
  async fromClient(read: ClientMessage, channels: Channels): Promise<void> {
    const { toServer, toClient } = channels
    if (read.kind === 'refused') return toClient(read.answer)
    if (read.kind === 'response') return toServer(read.message)
    if (read.kind === 'notification') {
      // A refusal would reach nobody, and a server may run it.
      if (read.method === TOOL_CALL || this.#isGivenUp(read.method, read.params)) return
      return toServer(read.message)
    }
    const { id, method, message } = read
    const name = String(id)
    if (this.#open.has(name) || this.#held.has(name) || this.#held.size >= MAX_OPEN)
      return toClient(errorAnswer('Its id is that of another request, or too many are held.', INVALID_REQUEST, id))
    if (method === TOOL_CALL) return this.#toolCall(read, channels)
    this.#opened(id, { method, tool: undefined, finished: async () => undefined })
    return toServer(withoutOwnMeta(message))
  }

  /** Handles a message of the server. @returns the text for the client; undefined for nothing */
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

  /** True once the agent has read something that others may have written. */
  get isTainted(): boolean {
    return this.#gatekeeper.isTainted
  }

  /** Cancels a call whose answer the client no longer waits for: if held, it does not run. */
  giveUp(id: Id): void {
    this.#held.get(String(id))?.abort()
  }

  /** Closes the connection and cancels held calls. Settles once the outcomes are recorded. */
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
    // A client may match an unknown answer to any request, and the server writes an error, whatever tool was called.
    if (error !== undefined || open === undefined)
      this.#gatekeeper.observe(undefined, [result ?? error ?? null, ...numbers])
    else if (!NOT_READ.includes(open.method)) this.#gatekeeper.observe(open.tool, [result ?? null, ...numbers])
    this.#finish(String(id), result ?? 'The server answered with an error.')
    return text
  }

  /** Answers the waiting request with an error. */
  #unreadable(ids: readonly Id[], why: string): string | undefined {
    this.#told.onUnreadable(why)
    const id = ids.find((one) => this.#open.has(String(one)))
    if (id === undefined) return undefined
    this.#finish(String(id), 'The answer of the server could not be read.')
    return JSON.stringify(errorAnswer(`The answer of the server cannot be read: ${why}`, INTERNAL_ERROR, id))
  }

  #opened(id: Id, open: PendingRequest): void {
    const [oldest] = this.#open.keys()
    if (this.#open.size >= MAX_OPEN && oldest !== undefined) this.#finish(oldest, 'The server did not answer in time.')
    this.#open.set(String(id), open)
  }

  #finish(name: string, answer: Answer): void {
    const open = this.#open.get(name)
    if (open === undefined) return
    this.#open.delete(name)
    const finished = open.finished(answer).finally(() => this.#finishing.delete(finished))
    this.#finishing.add(finished)
  }

  async #toolCall(
    request: ClientMessage & { kind: 'request' },
    { toServer, toClient, signal }: Channels,
  ): Promise<void> {
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
      // A client that gave up the call waits for no answer.
      if (held.signal.aborted) return
      throw error
    } finally {
      this.#held.delete(String(request.id))
    }
    if (!ruling.forward) return toClient(ruling.answer)
    const { name } = request.params
    const tool = typeof name === 'string' ? name : undefined
    this.#opened(request.id, { method: TOOL_CALL, tool, finished: ruling.finished })
    // Serializes the message that was decided on, so that the server gets nothing else.
    return toServer(withoutOwnMeta(request.message))
  }

  /** True for the cancellation of a held call, which the server has never received. */
  #isGivenUp(method: string, { requestId }: JsonObject): boolean {
    if (method !== 'notifications/cancelled') return false
    const held = this.#held.get(String(requestId))
    held?.abort()
    this.#finish(String(requestId), 'The client cancelled it before the server answered.')
    return held !== undefined
  }

  #progress = 0

  /** Smallest possible progress, so that the server's own is greater. Undefined when none was asked for. */
  #progressOf(request: Request, approvalId: string): JsonObject | undefined {
    const { progressToken } = metaOf(request)
    if (progressToken === undefined || progressToken === null) return undefined
    this.#progress += 1e-9
    const message = `People have to approve this call: ${approvalId}`
    const params = { progressToken, progress: this.#progress, message }
    return { jsonrpc: '2.0', method: 'notifications/progress', params }
  }

  /** @returns the reason why the client must not see the list */
  #seeTools(result: JsonObject): string | undefined {
    const tools = toolsIn(result)
    if (tools === undefined) return 'Its list of tools is ambiguous.'
    const { drifts, hasNew } = this.#book.see(tools)
    for (const drift of drifts) this.#told.onDrift(drift)
    if (hasNew) this.#told.onNewTools()
    return undefined
  }
}
