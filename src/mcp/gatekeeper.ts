import { isActionName } from '../base/glob.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { ActionRequest, Decision, GateClient, GateSession, OutcomeRequest, Verdict } from '../client/index.ts'
import { metaOf, type Request, refusalOf, USER_REQUEST_META } from './message.ts'
import type { ToolBook } from './tool-book.ts'

export interface GatekeeperOptions {
  client: GateClient
  book: ToolBook
  /** Stands before the name of a tool in the name of its action. */
  prefix: string
  /** Tools whose results only the user and their own systems write. */
  trusted: ReadonlySet<string>
  /** Milliseconds that a held call waits for people. */
  approvalTimeout: number
  /** Refuses calls of a tool whose definition has changed; else policies are told. */
  refusesDrift: boolean
  /** Nobody knows what the agent has read before. */
  startsTainted?: boolean
  /** Told what could not be recorded. */
  onUnrecorded(decisionId: string, error: unknown): void
}

export interface RulingOptions {
  /** Aborted when the client gives up the call. */
  signal: AbortSignal
  /** Told, now and then, that people have not decided yet. */
  onPending(approvalId: string): void
}

/** What came back for a call: its result, or a sentence about why there is none. */
export type Answer = JsonObject | string

/** What becomes of a call: it goes to the server, or is answered here. */
export type Ruling = { forward: true; finished(answer: Answer): Promise<void> } | { forward: false; answer: JsonObject }

export interface Gatekeeper {
  /** @throws what `signal` was aborted with */
  rule(request: Request, rulingOptions: RulingOptions): Promise<Ruling>
  /** The server has said something that the model reads; the tool is not known of what nobody asked for. */
  observe(tool: string | undefined, said: Json): void
  /** True once the agent has read what others can have written. */
  readonly isTainted: boolean
}

/** Rules on the tool calls of one connection: each is asked of the sidecar, and what is not allowed never reaches the server. */
export function gatekeeper(options: GatekeeperOptions): Gatekeeper {
  const { client, book, prefix, trusted } = options
  const saidOf = (tool: string) => ({ ...book.hints(tool), changed: book.objection(tool) !== undefined })
  const session = client.session({
    userRequest: '',
    actionOf: (tool) => `${prefix}${tool}`,
    contextOf: (tool) => ({ mcp: saidOf(tool) }),
  })
  if (options.startsTainted) session.observeUnseen('')
  const listen = (request: Request): void => {
    const text = metaOf(request)[USER_REQUEST_META]
    if (typeof text === 'string') session.userSays(text)
  }
  /** A failure to record is none of the call's. */
  const record = async (decisionId: string, outcome: Omit<OutcomeRequest, 'decisionId'>): Promise<void> => {
    try {
      await client.outcome({ decisionId, ...outcome }, { signal: AbortSignal.timeout(RECORD_MS) })
    } catch (error) {
      options.onUnrecorded(decisionId, error)
    }
  }
  return {
    async rule(request, rulingOptions) {
      listen(request)
      const { name } = request.params
      if (typeof name !== 'string' || !isActionName(`${prefix}${name}`))
        return refused(request, 'The name of the tool cannot be the name of an action.', undefined)
      const objection = book.objection(name)
      if (objection !== undefined && options.refusesDrift)
        return refused(request, `${objection} Who runs the relay has to look at it and accept it.`, undefined)
      const action = requestOf(session, name, request.params)
      if (action === undefined) return refused(request, 'Its arguments are no object.', undefined)
      const before = JSON.stringify(saidOf(name))
      const verdict = await ask(client, action, rulingOptions, options.approvalTimeout)
      // While people decided, the server may have shown another tool.
      if (verdict.allowed && (book.objection(name) !== objection || JSON.stringify(saidOf(name)) !== before)) {
        await record(verdict.decision.decisionId, { status: 'not_run', error: CHANGED_MEANWHILE })
        return refused(request, `What the server says of ${name} has changed since it was asked about.`, undefined)
      }
      if (!verdict.allowed) return refused(request, verdict.reason, verdict.decision)
      const { decisionId } = verdict.decision
      if (!verdict.isValid()) {
        await record(decisionId, { status: 'not_run', error: TOO_LATE })
        return refused(request, TOO_LATE, verdict.decision)
      }
      const startedMs = performance.now()
      return {
        forward: true,
        finished(answer) {
          const durationMs = Math.round(performance.now() - startedMs)
          if (typeof answer === 'string') return record(decisionId, { status: 'failed', durationMs, error: answer })
          return record(decisionId, { status: answer.isError === true ? 'failed' : 'succeeded', durationMs })
        },
      }
    },
    observe(tool, said) {
      const isTrusted = tool !== undefined && trusted.has(tool)
      session.observe(tool ?? '', said, { trusted: isTrusted })
    },
    get isTainted() {
      return session.isTainted
    },
  }
}

const CHANGED_MEANWHILE = 'The definition of the tool changed meanwhile.'
const TOO_LATE = 'What the gate allowed could not be started in time.'
/** A relay that ends waits no longer for what was done to be recorded. */
const RECORD_MS = 5000
/** How often a client that asked for progress is told that a call is still held. */
const PROGRESS_MS = 5000

/** What is asked of the gate; undefined for a call that is none. */
function requestOf(session: GateSession, tool: string, params: JsonObject): ActionRequest | undefined {
  const { name: _, arguments: args = {}, _meta, ...others } = params
  if (!isJsonObject(args)) return undefined
  const { action, context } = session.request(tool, args)
  // Such as what the user answered in an earlier round of the same call: it decides what the tool does, and so it is decided on.
  return { action, context: Object.keys(others).length === 0 ? context : { ...context, params: others } }
}

async function ask(
  client: GateClient,
  request: ActionRequest,
  { signal, onPending }: RulingOptions,
  approvalTimeout: number,
): Promise<Verdict> {
  let reminder: NodeJS.Timeout | undefined
  try {
    return await client.permit(request, {
      approvalTimeout,
      signal,
      onPending({ approvalId }) {
        const remind = (): void => onPending(approvalId ?? '')
        remind()
        reminder = setInterval(remind, PROGRESS_MS)
      },
    })
  } finally {
    clearInterval(reminder)
  }
}

/** What the model is told. */
function refused(request: Request, reason: string, decision: Decision | undefined): Ruling {
  const { decisionId, approvalId, retry, decision: effect } = decision ?? {}
  const told = {
    decision: effect ?? null,
    decisionId: decisionId ?? null,
    approvalId: approvalId ?? null,
    retry: retry ?? null,
  }
  return { forward: false, answer: refusalOf(request, `gate-sidecar did not allow this call: ${reason}`, told) }
}
