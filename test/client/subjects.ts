import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { ActionRefused, GateClient, GateError, type Observed, type Permit } from '../../src/client/index.ts'
import { plainFetch } from '../declared.ts'
import { PYTHON_FOLDER } from '../python.ts'
import type { Call } from './cases.ts'

/** One client, in the language in which it is. */
export interface Subject {
  name: string
  run(job: Job): Promise<Done>
  close(): void
}

/** A call, and the options of the client that makes it. */
export interface Job extends Call {
  options: { tenantId: string; apiKey: string; baseUrl: string; timeout?: number; retries?: number; mode?: string }
}

export interface Done {
  value?: unknown
  error?: Record<string, unknown>
  ran: number
  observed: string[]
  unrecorded: number
}

/** The client of this repository, from its source. */
export const typescript: Subject = {
  name: 'TypeScript',
  async run({ options, call, with: given = {} }) {
    const done: Done = { ran: 0, observed: [], unrecorded: 0 }
    try {
      const gate = new GateClient({
        ...(options as ConstructorParameters<typeof GateClient>[0]),
        // Answers are not held to the API document: many are broken on purpose.
        fetch: plainFetch,
        onObserved: ({ action, reason }: Observed) => void done.observed.push(`${action}: ${reason}`),
        onUnrecorded() {
          done.unrecorded += 1
        },
      })
      done.value = await CALLS[call]?.(gate, given, done)
    } catch (error) {
      done.error = told(error)
    }
    return done
  },
  close: () => undefined,
}

/** A client of python/, in a process that takes a job on each line and answers on one. */
export function python(name: string, ...args: string[]): Subject {
  const process = spawn('python3', ['-m', 'tests.case_runner', ...args], {
    cwd: PYTHON_FOLDER,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: process.stdout })
  const ended = once(process, 'exit').then(([code]) => new Error(`the process ended with ${code}`))
  return {
    name,
    async run(job) {
      process.stdin.write(`${JSON.stringify(job)}\n`)
      const answered = await Promise.race([once(lines, 'line'), ended])
      if (answered instanceof Error) throw answered
      return JSON.parse(answered[0]) as Done
    },
    close: () => void process.stdin.end(),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the table says what each call is given
type Given = any

function guarded(gate: GateClient, { request, returns, throws, ...options }: Given, done: Done): Promise<unknown> {
  const act = (): unknown => {
    done.ran += 1
    if (throws !== undefined) throw new Error(throws)
    return returns
  }
  return gate.guard(request, act, options)
}

const CALLS: Record<string, (gate: GateClient, given: Given, done: Done) => unknown> = {
  decide: (gate, { wait, explain, ...request }) => gate.decide(request, { wait, explain }),
  async decideInTurns(gate, { request, turns }) {
    const results: string[][] = []
    const decided = (): Promise<string> =>
      gate.decide(request).then(
        ({ decision }) => decision,
        (error: GateError) => error.code,
      )
    for (const { calls, afterMs } of turns) {
      await setTimeout(afterMs)
      results.push((await Promise.all(Array.from({ length: calls }, decided))).sort())
    }
    return results
  },
  guard: guarded,
  guardTwice: (gate, given, done) => Promise.all([guarded(gate, given, done), guarded(gate, given, done)]),
  async permit(gate, { request, ...options }) {
    let pending = 0
    const onPending = (): void => {
      pending += 1
    }
    return { ...toldPermit(await gate.permit(request, { ...options, onPending })), pending }
  },
  async sessionCall(gate, { method, args }, done) {
    const session = gate.session({ userRequest: '' })
    const run = (own: unknown): unknown => {
      done.ran += 1
      return own
    }
    if (method === 'request') return session.request('email.send', args)
    if (method === 'decide') return session.decide('email.send', args)
    if (method === 'permit') return toldPermit(await session.permit('email.send', args))
    return method === 'call'
      ? session.call('email.send', args, run)
      : session.guard('email.send', args, () => run(args))
  },
  async conversation(gate, { userRequest, trusted, says, calls, next }, done) {
    const session = gate.session({ userRequest, trusted })
    for (const text of says) session.userSays(text)
    for (const { tool, args, returns, throws, changes, asks } of calls) {
      const given = structuredClone(args)
      const run = (own: Record<string, unknown>): unknown => {
        done.ran += 1
        if (asks !== undefined) return gate.guard({ action: asks, context: {} }, () => undefined)
        if (changes) (own.list as string[]).push('changed')
        if (throws !== undefined) throw new Error(throws)
        return returns
      }
      await session.call(tool, args, run).catch(() => undefined)
      if (JSON.stringify(args) !== JSON.stringify(given)) throw new Error('the arguments of the caller have changed')
    }
    return session.request('next', next).context
  },
  risk: (gate, request) => gate.risk(request),
  outcome: (gate, outcome) => gate.outcome(outcome),
  waitForApproval: (gate, { id, ...options }) => gate.waitForApproval(id, options),
  async events(gate, { count, lastEventId }) {
    const taken: unknown[] = []
    for await (const { position: _, ...event } of gate.events({ lastEventId })) {
      taken.push(event)
      if (taken.length === count) break
    }
    return taken
  },
  'approvals.list': (gate, query) => gate.approvals.list(query),
  'approvals.get': (gate, { id }) => gate.approvals.get(id),
  'approvals.background': (gate, { id }) => gate.approvals.background(id),
  'approvals.approve': (gate, { id, ...vote }) => gate.approvals.approve(id, vote),
  'approvals.reject': (gate, { id, ...vote }) => gate.approvals.reject(id, vote),
  'approvals.cancel': (gate, { id }) => gate.approvals.cancel(id),
  'audit.chain': (gate, query) => gate.audit.chain(query),
  'audit.verify': (gate, range) => gate.audit.verify(range),
  async 'audit.verifyLive'(gate, range) {
    const told: unknown[] = []
    for await (const event of gate.audit.verifyLive(range)) told.push(event)
    // Between them, as much progress as the trail has chains.
    return [told[0], told.at(-1)]
  },
  'audit.log': (gate, entry) => gate.audit.log(entry),
  'decisions.list': (gate, query) => gate.decisions.list(query),
  'decisions.timeline': (gate, { id }) => gate.decisions.timeline(id),
  'decisions.get': (gate, { id }) => gate.decisions.get(id),
  'evidence.bundle': (gate, { id, ...query }) => gate.evidence.bundle(id, query),
  'evidence.policyChange': (gate, { id }) => gate.evidence.policyChange(id),
  'evidence.verify': (gate, { bundle }) => gate.evidence.verify(bundle),
  'killSwitch.status': (gate) => gate.killSwitch.status(),
  'killSwitch.history': (gate, query) => gate.killSwitch.history(query),
  'killSwitch.preview': (gate, stop) => gate.killSwitch.preview(stop),
  'killSwitch.trigger': (gate, stop) => gate.killSwitch.trigger(stop),
  'killSwitch.recover': (gate, recovery) => gate.killSwitch.recover(recovery),
  'keys.list': (gate) => gate.keys.list(),
  'keys.create': (gate, key) => gate.keys.create(key),
  'keys.rotate': (gate, { id, ...overlap }) => gate.keys.rotate(id, overlap),
  'keys.revoke': (gate, { id }) => gate.keys.revoke(id),
  'sessions.current': (gate) => gate.sessions.current(),
  'sessions.signInLink': (gate) => gate.sessions.signInLink(),
  'policies.list': (gate) => gate.policies.list(),
  'policies.validate': (gate, texts) => gate.policies.validate(texts),
  'policies.reload': (gate) => gate.policies.reload(),
  'service.usage': (gate) => gate.service.usage(),
  'policies.source': (gate) => gate.policies.source(),
  'policies.shadow': (gate) => gate.policies.shadow(),
  'policies.dryRun': (gate, question) => gate.policies.dryRun(question),
  'replays.begin': (gate, draft) => gate.replays.begin(draft),
  'replays.get': (gate, { id }) => gate.replays.get(id),
  'replays.changes': (gate, { id, ...query }) => gate.replays.changes(id, query),
  'replays.cancel': (gate, { id }) => gate.replays.cancel(id),
  'replays.seal': (gate, { id }) => gate.replays.seal(id),
  'service.health': (gate) => gate.service.health(),
  'service.readiness': (gate) => gate.service.readiness(),
  'service.metrics': (gate) => gate.service.metrics(),
  'service.openApi': (gate) => gate.service.openApi(),
  'service.overview': (gate, query) => gate.service.overview(query),
}

export const CALL_NAMES: readonly string[] = Object.keys(CALLS)

function toldPermit({ decision, isValid }: Permit): Record<string, unknown> {
  return { decision: decision.decision, isValid: isValid() }
}

/** An error in words that are the same in every language. */
function told(error: unknown): Record<string, unknown> {
  if (error instanceof GateError) {
    const { name, code, status, message, details, retryAfterMs } = error
    return { name, code, status, message, details, retryAfterMs }
  }
  if (error instanceof ActionRefused) {
    const { name, action, reason, decision, cause } = error
    return {
      name,
      action,
      reason,
      decision: decision?.decision ?? null,
      cause: cause instanceof GateError ? cause.code : null,
    }
  }
  return {
    // Other errors have other names in each language.
    name: error instanceof Error ? 'Error' : 'no error',
    message: error instanceof Error ? error.message : String(error),
  }
}
