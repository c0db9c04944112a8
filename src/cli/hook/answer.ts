import { join } from 'node:path'
import { isId } from '../../base/id.ts'
import { parseJson } from '../../base/json.ts'
import { parseDuration } from '../../base/time.ts'
import { ActionRefused } from '../../client/index.ts'
import { type CallNotes, callNotes } from '../../files/call-notes.ts'
import {
  type AboutToCall,
  allowOutput,
  type Called,
  type CallName,
  type HookEvent,
  type OnAllow,
  refusalSentence,
  usualEvent,
} from '../../gate/claude-code.ts'
import { UsageError } from '../context.ts'
import { type GateClientOptions, gateClient } from '../gate-client.ts'
import { httpFetch } from '../http-fetch.ts'
import { readInput } from '../input.ts'
import { homeOf, type Io } from '../io.ts'
import { allow, block } from './blocking.ts'

export interface HookOptions extends GateClientOptions {
  approvalTimeout: string
  onAllow: OnAllow
  outcomes?: boolean
}

/** Size limit of a hook: one after a tool carries its output, maybe a large file. The sidecar's own limit is lower. */
const MAX_BYTES = 16 * 1024 * 1024
const LIMITS = { maxDepth: 64, maxValues: 1_000_000 }
/** Time limit of one request to the sidecar, retries included. */
const ASK_MS = 10_000
/** Limit for everything but the wait for people; a hook that Claude Code has to kill does not block. */
export const MORE_MS = 45_000

/** Answers one hook of Claude Code, and ends the process. */
export async function answerHook(options: HookOptions): Promise<void> {
  try {
    const approvalTimeout = parseDuration(options.approvalTimeout) ?? 0
    // An unref'd timer: without other work the process ends, which blocks as well.
    setTimeout(() => block(options.io, 'The sidecar did not answer in time.'), approvalTimeout + MORE_MS).unref()
    const event = await readEvent(options.io)
    if (event.kind === 'called') await tellOutcome(options, event)
    else await decide(options, event, approvalTimeout)
  } catch (error) {
    if (error instanceof ActionRefused) return block(options.io, reasonOf(error))
    block(options.io, error instanceof Error ? error.message : String(error))
  }
}

async function decide(options: HookOptions, { request, call }: AboutToCall, approvalTimeout: number): Promise<void> {
  const { io } = options
  const permit = await gateClient(options, { timeout: ASK_MS, fetch: httpFetch }).permit(request, { approvalTimeout })
  const { decisionId } = permit.decision
  if (!permit.isValid()) return block(io, `${request.action} was allowed, but the permit has expired: try again.`)
  if (options.outcomes && call !== undefined) note(io, (notes) => notes.put(nameOf(options, call), decisionId))
  allow(io, `${JSON.stringify(allowOutput(options.onAllow, request.action, permit.decision))}\n`)
}

function reasonOf({ action, decision, reason }: ActionRefused): string {
  return decision === undefined ? `${action} could not be decided: ${reason}` : refusalSentence(action, decision)
}

/** Reports the outcome. The call has been made, so no failure here may be reported as its failure. */
async function tellOutcome(options: HookOptions, { outcome, call }: Called): Promise<void> {
  const decisionId = call && note(options.io, (notes) => notes.take(nameOf(options, call)))
  try {
    if (decisionId !== undefined && isId(decisionId, 'decision'))
      await gateClient(options, { timeout: ASK_MS, fetch: httpFetch }).outcome({ decisionId, ...outcome })
  } finally {
    options.io.exit(0)
  }
}

/** @throws UsageError for input other than a hook of Claude Code about a tool */
async function readEvent(io: Io): Promise<HookEvent> {
  const bytes = await readInput(io, MAX_BYTES)
  if (bytes.byteLength > MAX_BYTES) throw new UsageError(`The input of the hook has more than ${MAX_BYTES} bytes.`)
  try {
    const payload = parseJson(bytes, LIMITS)
    return usualEvent(payload) ?? (await import('../../gate/claude-code-event.ts')).readHookEvent(payload)
  } catch (error) {
    throw new UsageError(`The input of the hook cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}

/** The name of a note, different for each sidecar: two that check one call have a decision each. */
function nameOf({ url = '', tenant = '' }: HookOptions, { session, toolUseId }: CallName): string[] {
  return [url, tenant, session, toolUseId]
}

/** Uses the notes that connect outcomes to decisions. Without a note, the sidecar records the outcome as missing. */
function note<T>(io: Io, work: (notes: CallNotes) => T): T | undefined {
  const { XDG_STATE_HOME: state = join(homeOf(io), '.local', 'state') } = io.env
  try {
    return work(callNotes(join(state, 'gate-sidecar', 'calls')))
  } catch {
    return undefined
  }
}
