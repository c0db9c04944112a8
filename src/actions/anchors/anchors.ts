import { formatTimestamp } from '../../base/time.ts'
import type { Anchor, Claim } from '../../evidence/anchor.ts'
import type { Store } from '../../store/store.ts'
import type { Delivery, StoredCheckpoint } from '../../store/submission.ts'
import type { Deps } from '../deps.ts'

export const SINKS = ['file', 'webhook'] as const
type SinkName = (typeof SINKS)[number]

/** An external sink of checkpoints, from which this service cannot take them back. */
export interface AnchorSink {
  /** Shown by probes and metrics. */
  readonly name: SinkName
  /** Resolves when the sink holds all of them durably. @throws SinkFailure */
  take(anchors: readonly Anchor[], signal: AbortSignal): Promise<void>
}

/** The contents of a sink that can be read back. @throws SinkFailure when it cannot be read */
export interface AnchorRecord {
  /** Changes with every write to the sink. */
  version(): Promise<string>
  newest(): Promise<NewestAnchors>
}

export interface NewestAnchors {
  /** The last claim of each chain, by the chain's name. */
  newest: ReadonlyMap<string, Claim>
  /** Lines that hold no checkpoint. */
  malformed: number
}

/** The reason why a sink failed, in words that anybody may read. */
export class SinkFailure extends Error {
  override readonly name = 'SinkFailure'
}

export interface SinkState {
  sink: SinkName
  /** False if the last attempt failed. */
  ok: boolean
  /** Time of the last delivery; null before the first. */
  lastAt: string | null
  failure: string | null
  /** Failed attempts of this process. */
  failures: number
}

const BATCH = 500
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** Time limit of an attempt, after which the sink counts as failing, such as a file on a dead network mount. */
const SLOW_MS = 15_000
/** Time limit for sinks when the service stops. */
const LAST_MS = 3000

export interface DeliveryDeps extends Pick<Deps, 'store' | 'clock'> {
  sink: AnchorSink
  /** Runs before each attempt; the sink gets nothing while it fails or returns false. */
  prepare(): Promise<boolean>
  /** Called once when delivery begins to fail, and once when it recovers (null). */
  onChange(failure: string | null, cause: unknown): void
}

export type AnchorDelivery = ReturnType<typeof anchorDelivery>

/**
 * Delivers committed checkpoints to a sink, in the order of their signing. Records a delivery after the sink took it,
 * so that a crash leads to a duplicate, never to a gap.
 */
export function anchorDelivery({ store, clock, sink, prepare, onChange }: DeliveryDeps) {
  const stopping = new AbortController()
  const pause = pauses()
  const { step, deliverAgain } = steps({ store, clock, sink })
  let failure: string | null = null
  let failures = 0
  let underWay: Promise<void> | undefined
  let sinceMs = 0

  const state = async (): Promise<SinkState> => {
    const last = (await store.deliveries()).find((delivery) => delivery.sink === sink.name)
    return { sink: sink.name, ok: failure === null, lastAt: last?.at ?? null, failure, failures }
  }
  const settle = (now: string | null, cause?: unknown): void => {
    const isChange = (failure === null) !== (now === null)
    failure = now
    if (isChange) onChange(failure, cause)
  }
  const fail = (cause: unknown): void => {
    failures += 1
    pause.longer()
    settle(cause instanceof SinkFailure ? cause.message : 'It failed; see the log.', cause)
  }
  const attempt = async (): Promise<void> => {
    try {
      if (!(await prepare())) return
      do sinceMs = performance.now()
      while (await step(stopping.signal))
      pause.none()
      settle(null)
    } catch (cause) {
      if (!stopping.signal.aborted) fail(cause)
    }
  }
  const begin = (): Promise<void> => {
    sinceMs = performance.now()
    underWay ??= attempt().finally(() => {
      underWay = undefined
    })
    return underWay
  }
  return {
    /** Runs the preparation of an attempt alone, so that its faults show before the first delivery. */
    async prepare() {
      try {
        await prepare()
      } catch (cause) {
        fail(cause)
      }
    },
    /** Starts an attempt when one is due, without waiting for it. */
    tend() {
      if (underWay === undefined && pause.isOver()) void begin()
      else if (underWay !== undefined && failure === null && performance.now() - sinceMs > SLOW_MS)
        fail(new SinkFailure(`It has not taken anchors for ${SLOW_MS / 1000} s.`))
    },
    deliverAgain,
    state,
    /** Tries once more, for a short while. */
    close: () =>
      within(LAST_MS, stopping, async () => {
        await underWay
        await begin()
      }),
  }
}

/** Aborts the work at the time limit. */
async function within(limitMs: number, stopping: AbortController, work: () => Promise<void>): Promise<void> {
  const timer = setTimeout(() => stopping.abort(), limitMs)
  const aborted = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()))
  await Promise.race([work(), aborted])
  clearTimeout(timer)
  stopping.abort()
}

function steps({ store, clock, sink }: Pick<DeliveryDeps, 'store' | 'clock' | 'sink'>) {
  let unrecorded: Delivery | undefined
  let hasLost = false
  /** A retry repeats the same batch, by which receivers recognise it. */
  let lastOfBatch = Number.POSITIVE_INFINITY

  /** Delivers the checkpoints; returns the time at which the sink took them. */
  const give = async (checkpoints: readonly StoredCheckpoint[], signal: AbortSignal): Promise<string> => {
    const at = formatTimestamp(clock())
    const anchors = checkpoints.map(({ note }) => ({ at, checkpoint: note }))
    if (anchors.length > 0) await sink.take(anchors, signal)
    // The store may be closed by then.
    signal.throwIfAborted()
    return at
  }
  const record = async (): Promise<void> => {
    if (unrecorded === undefined) return
    await store.commit({ guards: [], writes: [{ kind: 'anchored', delivery: unrecorded }], entries: [] })
    unrecorded = undefined
  }
  return {
    /** Starts again with the newest checkpoint of each chain that the sink had taken and lost. */
    deliverAgain(): void {
      hasLost = true
    },
    /** False when there is nothing more to deliver. */
    async step(signal: AbortSignal): Promise<boolean> {
      await record()
      const recorded = (await store.deliveries()).find((delivery) => delivery.sink === sink.name)?.number ?? 0
      if (hasLost) await give(await newestUpTo(store, recorded), signal)
      hasLost = false
      const pending = await store.checkpointsAfter(recorded, BATCH)
      const batch = recorded < lastOfBatch ? pending.filter(({ number }) => number <= lastOfBatch) : pending
      const last = batch.at(-1)
      if (last === undefined) return false
      lastOfBatch = last.number
      unrecorded = { sink: sink.name, number: last.number, at: await give(batch, signal) }
      lastOfBatch = Number.POSITIVE_INFINITY
      return true
    },
  }
}

/** The number of the newest checkpoint that some sink holds; 0 without one. */
export async function takenUpTo(store: Store): Promise<number> {
  return (await store.deliveries()).reduce((newest, { number }) => Math.max(newest, number), 0)
}

/** The newest checkpoint of each chain, of those up to this number. */
export async function newestUpTo(store: Store, number: number): Promise<StoredCheckpoint[]> {
  const newest: StoredCheckpoint[] = []
  for (const chain of await store.chains()) {
    const last = await store.lastCheckpointUpTo(chain, number)
    if (last !== undefined) newest.push(last)
  }
  return newest
}

/** Delays between failed attempts: each twice as long as the one before. */
function pauses() {
  let pauseMs = 0
  let untilMs = 0
  return {
    isOver: () => performance.now() >= untilMs,
    none(): void {
      pauseMs = 0
      untilMs = 0
    },
    longer(): void {
      pauseMs = pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      untilMs = performance.now() + pauseMs
    },
  }
}

/** Entries of all chains beyond every checkpoint that a sink holds. */
export async function unanchoredEntries(store: Store): Promise<number> {
  const newest = await takenUpTo(store)
  const lengths = await store.lengths(await store.chains())
  let entries = 0
  for (const length of lengths.values()) entries += length
  for (const { size } of await newestUpTo(store, newest)) entries -= size
  return entries
}
