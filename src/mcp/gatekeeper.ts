import { isActionName } from '../base/glob.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import {
  ActionRefused,
  type ActionRequest,
  type Decision,
  type GateClient,
  type GateSession,
  type OutcomeRequest,
  type Permit,
} from '../client/index.ts'
import { observedSentence } from '../gate/observe.ts'
import { metaOf, type Request, refusalOf, USER_REQUEST_META } from './message.ts'
import type { ToolBook } from './tool-book.ts'

export interface GatekeeperOptions {
  client: GateClient
  book: ToolBook
  /** Prefix of the name of a tool in the name of its action. */
  prefix: string
  /** Tools whose results only the user and their own systems write. */
  trusted: ReadonlySet<string>
  /** Time that a held call waits for people, in ms. */
  approvalTimeout: number
  /** True refuses calls of a tool whose definition has changed; false leaves them to the policies. */
  refusesDrift: boolean
  /** True when what the agent has read before is unknown. */
  startsTainted?: boolean
  /** Receives calls that ran only because the policies are observed, not enforced. */
  onObserved(sentence: string): void
  /** Receives outcomes that could not be recorded. */
  onUnrecorded(decisionId: string, error: unknown): void
}

interface RulingOptions {
  /** Aborted when the client gives up the call. */
  signal: AbortSignal
  /** Called repeatedly while people have not decided yet. */
  onPending(approvalId: string): void
}

/** Result of a call, or a sentence about why there is none. */
export type Answer = JsonObject | string

/** Decision about a call: it is forwarded to the server, or answered here. */
export type Ruling = { forward: true; finished(answer: Answer): Promise<void> } | { forward: false; answer: JsonObject }

export type Gatekeeper = ReturnType<typeof gatekeeper>

/** Decides the tool calls of one connection: it asks the sidecar about each, and forwards only allowed ones. */
export function gatekeeper(options: GatekeeperOptions) {
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
  /** A failure to record does not fail the call. */
  const record = async (decisionId: string, outcome: Omit<OutcomeRequest, 'decisionId'>): Promise<void> => {
    try {
      await client.outcome({ decisionId, ...outcome }, { signal: AbortSignal.timeout(RECORD_MS) })
    } catch (error) {
      options.onUnrecorded(decisionId, error)
    }
  }
  return {
    /** @throws the reason of `signal` */
    async rule(request: Request, rulingOptions: RulingOptions): Promise<Ruling> {
      listen(request)
      const { name } = request.params
      if (typeof name !== 'string' || !isActionName(`${prefix}${name}`))
        return refused(request, 'The name of the tool is not a valid action name.')
      const objection = book.objection(name)
      if (objection !== undefined && options.refusesDrift)
        return refused(request, `${objection} The operator of the relay must review and accept it.`)
      const action = requestOf(session, name, request.params)
      if (action === undefined) return refused(request, 'Its arguments are not an object.')
      const edition = book.edition(name)
      const permit = await ask(client, action, rulingOptions, options.approvalTimeout)
      if (permit instanceof ActionRefused) return refused(request, permit.reason, permit.decision)
      const { decisionId } = permit.decision
      // The server may have changed the tool while people decided.
      if (book.objection(name) !== objection || book.edition(name) !== edition) {
        await record(decisionId, { status: 'not_run', error: CHANGED_MEANWHILE })
        return refused(request, `The definition of ${name} has changed since the check.`)
      }
      if (!permit.isValid()) {
        await record(decisionId, { status: 'not_run', error: TOO_LATE })
        return refused(request, TOO_LATE, permit.decision)
      }
      const observed = observedSentence(name, permit.decision.observed, permit.decision.reason)
      if (observed !== undefined) options.onObserved(observed)
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
    /** Observes text of the server that the model reads; `tool` is undefined when it answers no known call. */
    observe(tool: string | undefined, said: Json): void {
      session.observe(tool ?? '', said, { trusted: tool !== undefined && trusted.has(tool) })
    },
    /** True once the agent has read something that others may have written. */
    get isTainted(): boolean {
      return session.isTainted
    },
  }
}

const CHANGED_MEANWHILE = 'The definition of the tool changed meanwhile.'
const TOO_LATE = 'The allowed action could not be started in time.'
/** Time limit of recording an outcome, which a closing relay waits for. */
const RECORD_MS = 5000
/** Interval of progress notifications to a client whose call is held, when it asked for progress. */
const PROGRESS_MS = 5000

/** Request to the gate; undefined when the call has no usable arguments. */
function requestOf(session: GateSession, tool: string, params: JsonObject): ActionRequest | undefined {
  const { name: _, arguments: args = {}, _meta, ...others } = params
  if (!isJsonObject(args)) return undefined
  const { action, context } = session.request(tool, args)
  // Policies see further members too, such as the user's answers in an earlier round: they decide what the tool does.
  return { action, context: Object.keys(others).length === 0 ? context : { ...context, params: others } }
}

async function ask(
  client: GateClient,
  request: ActionRequest,
  { signal, onPending }: RulingOptions,
  approvalTimeout: number,
): Promise<Permit | ActionRefused> {
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
  } catch (error) {
    if (error instanceof ActionRefused) return error
    throw error
  } finally {
    clearInterval(reminder)
  }
}

/** Refusal that the model reads. */
function refused(request: Request, reason: string, taken: Partial<Decision> = {}): Ruling {
  const { decision = null, decisionId = null, approvalId = null, retry = null } = taken
  const told = { decision, decisionId, approvalId, retry }
  return { forward: false, answer: refusalOf(request, `gate-sidecar did not allow this call: ${reason}`, told) }
}
