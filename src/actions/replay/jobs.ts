import { ownerOf } from '../../audit/chain.ts'
import type { QuotedDiagnostic } from '../../authoring/diagnostics/quote.ts'
import type { PolicySource } from '../../authoring/load/files.ts'
import { takeTurns } from '../../base/concurrency.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Change, ReplayReport, Side } from '../../replay/report.ts'
import { changedOf, type Limited, type ShownReplay, shownRange } from '../../replay/shown.ts'
import type { ExplainDeps } from '../decisions/explain.ts'
import type { Caller } from '../deps.ts'
import { withBefore } from './before.ts'
import { type Draft, type ReplayRequest, replayTrail } from './replay.ts'
import { headsOf, type Seal, sealReplay } from './seal.ts'

export const REPLAY_STATUSES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const

/** A draft that has been compiled; without a digest it has faults, and cannot be replayed. */
export interface OpenedDraft extends Draft {
  digest: string | null
  diagnostics: readonly QuotedDiagnostic[]
  /** Ends the thread that it is in. */
  close(): void
}

/** Compiles a draft where it is to be replayed. @throws an error with the reason why it cannot be compiled */
export type OpenDraft = (source: PolicySource, signal: AbortSignal) => Promise<OpenedDraft>

export interface JobDeps extends ExplainDeps {
  openDraft: OpenDraft
  /** Aborted when the service ends. */
  stopping: AbortSignal
}

interface Job {
  readonly id: string
  readonly request: ReplayRequest
  readonly createdMs: number
  readonly cancel: AbortController
  status: (typeof REPLAY_STATUSES)[number]
  read: number
  total: number
  policyDigest: string | null
  diagnostics: readonly QuotedDiagnostic[]
  /** State of the trail and of its policies when the replay began. */
  began: Pick<ShownReplay, 'at' | 'heads' | 'inForce'> | null
  report: ReplayReport | null
  /** Reason of a failure. */
  fault: string | null
  /** The entry in the trail, once somebody wants it there. */
  sealing: Promise<Seal> | null
  seal: Seal | null
}

/** Replays at once: each takes a thread, and a tenant has one of them. */
const AT_ONCE = 2
/** Jobs of one trail that are under way, its results that are kept, and those of all: each has some MB. */
const MAX_OPEN = 3
const MAX_KEPT = 2
const MAX_KEPT_IN_ALL = 20
/** Time for which a result is kept. */
const KEPT_MS = 3_600_000

export type Replays = ReturnType<typeof replays>

/** Replays of drafts for callers, in memory. Tenants take turns. */
export function replays(deps: JobDeps) {
  const jobs = new Map<string, Job>()
  const turns = takeTurns(AT_ONCE)
  const isOpen = ({ status }: Job): boolean => status === 'waiting' || status === 'running'
  const tidy = (): void => {
    // The newest first.
    const ended = [...jobs.values()].filter((job) => !isOpen(job)).reverse()
    const kept = new Map<string, number>()
    for (const [i, { id, createdMs, request }] of ended.entries()) {
      const ofTrail = (kept.get(request.trail) ?? 0) + 1
      kept.set(request.trail, ofTrail)
      const isOld = createdMs < deps.clock() - KEPT_MS
      if (isOld || ofTrail > MAX_KEPT || i >= MAX_KEPT_IN_ALL) jobs.delete(id)
    }
  }
  const jobOf = ({ chain }: Caller, id: string): Job => {
    const job = jobs.get(id)
    if (job?.request.trail === chain) return job
    throw new GateError('not_found', 'There is no such replay here; results are kept for an hour, by one process.')
  }

  return {
    /** @throws GateError `overloaded` while others of the tenant are under way */
    begin({ tenantId, chain }: Caller, source: PolicySource, request: Omit<ReplayRequest, 'trail'>) {
      tidy()
      if ([...jobs.values()].filter((job) => isOpen(job) && job.request.trail === chain).length >= MAX_OPEN)
        throw new GateError('overloaded', 'Too many replays of this tenant are under way; cancel one, or try again.')
      const job: Job = {
        ...{ id: deps.newId('replay'), request: { ...request, trail: chain }, createdMs: deps.clock() },
        ...{ cancel: new AbortController(), status: 'waiting', read: 0, total: 0 },
        ...{ policyDigest: null, diagnostics: [], began: null, report: null, fault: null, sealing: null, seal: null },
      }
      jobs.set(job.id, job)
      const signal = AbortSignal.any([job.cancel.signal, deps.stopping])
      void turns.run(tenantId, () => run(deps, job, source, signal), signal).catch((error) => end(job, error))
      return viewOf(job)
    },
    find: (caller: Caller, id: string) => viewOf(jobOf(caller, id)),
    /** Ends a replay that is under way, and forgets it. */
    cancel(caller: Caller, id: string) {
      const job = jobOf(caller, id)
      if (isOpen(job)) job.status = 'cancelled'
      job.cancel.abort(new Error('The replay was cancelled.'))
      jobs.delete(id)
      return viewOf(job)
    },
    /**
     * Records a replay in the trail, once, however often it is asked.
     *
     * @throws GateError `not_found` for one without a result; `forbidden` for a test key, since the trail of policies is
     * the live one
     */
    seal: (caller: Caller, id: string) => sealJob(deps, jobOf(caller, id), caller),
    changes(caller: Caller, id: string, query: ChangeQuery): { items: readonly Change[]; total: number } {
      const all = (jobOf(caller, id).report?.changes ?? []).filter((change) => isWanted(change, query))
      return { items: all.slice(query.offset, query.offset + query.limit), total: all.length }
    },
  }
}

async function run(deps: JobDeps, job: Job, source: PolicySource, signal: AbortSignal): Promise<void> {
  job.status = 'running'
  const draft = await deps.openDraft(source, signal)
  try {
    Object.assign(job, { policyDigest: draft.digest, diagnostics: draft.diagnostics })
    if (draft.digest === null) throw new GateError('invalid_request', 'The draft has faults.')
    const { trail } = job.request
    const { tenantId } = ownerOf(trail)
    const inForce = deps.store.state().policies.get(tenantId)?.digest ?? null
    job.began = { at: formatTimestamp(deps.clock()), heads: await headsOf(deps.store, trail), inForce }
    const report = await replayTrail(deps.store, job.request, draft, {
      signal,
      pause: deps.pause && (() => deps.pause?.(tenantId) ?? Promise.resolve()),
      onProgress: (read, total) => Object.assign(job, { read, total }),
    })
    Object.assign(job, { report: await withBefore(deps, report), status: 'done' })
  } finally {
    draft.close()
  }
}

async function sealJob(deps: JobDeps, job: Job, { environment, actor }: Caller) {
  if (environment === 'test')
    throw new GateError('forbidden', 'A test key cannot record in the live trail, which tells of policies.')
  const shown = shownOf(job)
  if (shown === undefined) throw new GateError('not_found', `The replay has no result to seal; it is ${job.status}.`)
  job.sealing ??= sealReplay(deps, shown, { given: viewOf(job).report ?? {}, actor })
  try {
    job.seal = await job.sealing
  } catch (error) {
    job.sealing = null
    throw error
  }
  return viewOf(job)
}

/** Ends a job that did not come to its end. */
function end(job: Job, cause: unknown): void {
  if (job.status === 'cancelled') return
  job.status = 'failed'
  job.fault = cause instanceof Error ? cause.message : String(cause)
}

/** Choice of changed decisions. */
export interface ChangeQuery {
  from?: Side['decision'] | undefined
  to?: Side['decision'] | undefined
  /** Rule that decided on either side. */
  rule?: string | undefined
  limit: number
  offset: number
}

function isWanted({ from, to }: Change, query: ChangeQuery): boolean {
  return (
    (query.from === undefined || from.decision === query.from) &&
    (query.to === undefined || to.decision === query.to) &&
    (query.rule === undefined || from.rule === query.rule || to.rule === query.rule)
  )
}

/** A replay as the trail tells of it; undefined before it is done. */
function shownOf({ request, policyDigest, began, report }: Job): Limited | undefined {
  if (report === null || began === null || policyDigest === null) return undefined
  const { trail, action, sample, history } = request
  const chosen = { ...(action && { action: action.text }), ...(sample !== undefined && { sample }) }
  return { trail, ...shownRange(request), policyDigest, ...began, ...chosen, history, report, limits: [] }
}

/** `data` of the routes of a replay. */
function viewOf(job: Job) {
  const { id, status, createdMs, request, read, total, policyDigest, diagnostics, report, fault, seal } = job
  const { history, action, sample } = request
  const { changes, ...summary } = report ?? { changes: [] }
  return {
    ...{ id, status, createdAt: formatTimestamp(createdMs), read, total, policyDigest, diagnostics, fault },
    ...{ ...shownRange(request), history, action: action?.text ?? null, sample: sample ?? null, seal },
    report: report === null ? null : { ...(summary as Omit<ReplayReport, 'changes'>), changed: changedOf(report) },
  }
}
