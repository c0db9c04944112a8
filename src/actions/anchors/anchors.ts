import { formatTimestamp } from '../../base/time.ts'
import type { Anchor, Claim } from '../../evidence/anchor.ts'
import type { Store } from '../../store/store.ts'
import type { Delivery, StoredCheckpoint } from '../../store/submission.ts'
import type { Deps } from '../deps.ts'

export const SINKS = ['file', 'webhook'] as const
export type SinkName = (typeof SINKS)[number]

/** Where checkpoints are put so that this service cannot take them back. */
export interface AnchorSink {
  /** Probes and metrics show it. */
  readonly name: SinkName
  /** Ends when the sink has all of them for good. @throws SinkFailure */
  take(anchors: readonly Anchor[], signal: AbortSignal): Promise<void>
}

/** What lies in a sink that can be read back. @throws SinkFailure when it cannot be read */
export interface AnchorRecord {
  /** Another text when something was written since. */
  version(): Promise<string>
  newest(): Promise<NewestAnchors>
}

export interface NewestAnchors {
  /** The last one of each chain, by the chain's name. */
  newest: ReadonlyMap<string, Claim>
  /** Lines that hold no checkpoint. */
  malformed: number
}

/** Why a sink did not do what it was asked, in words that anybody may read. */
export class SinkFailure extends Error {
  override readonly name = 'SinkFailure'
}

export interface SinkState {
  sink: SinkName
  /** False from an attempt that failed to the next one that succeeds. */
  ok: boolean
  /** When it took anchors last. */
  lastAt: string | null
  failure: string | null
  /** Attempts that failed, of this process. */
  failures: number
}

const BATCH = 500
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** A sink that has not ended by then counts as failing, such as a file on a network that is down. */
const SLOW_MS = 15_000
/** How long a service that ends waits for its sinks. */
const LAST_MS = 2000

export interface DeliveryDeps extends Pick<Deps, 'store' | 'clock'> {
  sink: AnchorSink
  /** Done before each attempt; the sink is given nothing while it fails, or answers false. */
  prepare(): Promise<boolean>
  /** Told once when it begins to fail, and once when that is over (null). */
  onChange(failure: string | null, cause: unknown): void
}

export interface AnchorDelivery {
  /** Does what comes before each attempt, so that what is amiss shows before the first. */
  prepare(): Promise<void>
  /** Begins an attempt when one is due, and waits for none. */
  tend(): void
  /** Begins with the newest of each chain that the sink had taken and has lost. */
  deliverAgain(): void
  state(): Promise<SinkState>
  /** Tries once more, for a short while. */
  close(): Promise<void>
}

/**
 * Gives a sink the checkpoints that it has not taken yet, in the order in which they were signed, after they were committed here.
 * What was taken is recorded after it was taken, so that a crash leads to a duplicate, never to a gap.
 */
export function anchorDelivery({ store, clock, sink, prepare, onChange }: DeliveryDeps): AnchorDelivery {
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
    async prepare() {
      try {
        await prepare()
      } catch (cause) {
        fail(cause)
      }
    },
    tend() {
      if (underWay === undefined && pause.isOver()) void begin()
      else if (underWay !== undefined && failure === null && performance.now() - sinceMs > SLOW_MS)
        fail(new SinkFailure(`It has not taken anchors for ${SLOW_MS / 1000} s.`))
    },
    deliverAgain,
    state,
    close: () =>
      within(LAST_MS, stopping, async () => {
        await underWay
        await begin()
      }),
  }
}

/** Aborts what is not done by then. */
async function within(limitMs: number, stopping: AbortController, work: () => Promise<void>): Promise<void> {
  const timer = setTimeout(() => stopping.abort(), limitMs)
  const aborted = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()))
  await Promise.race([work(), aborted])
  clearTimeout(timer)
  stopping.abort()
}

/** The next batch, again and again. */
function steps({ store, clock, sink }: Pick<DeliveryDeps, 'store' | 'clock' | 'sink'>) {
  let unrecorded: Delivery | undefined
  let hasLost = false
  /** Retries are of the same batch, by which a receiver knows them. */
  let lastOfBatch = Number.POSITIVE_INFINITY

  /** When they were taken. */
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

/** Between attempts that fail: twice as long each time. */
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

/** Entries of all chains that no sink holds a checkpoint of. */
export async function unanchoredEntries(store: Store): Promise<number> {
  const newest = await takenUpTo(store)
  const lengths = await store.lengths(await store.chains())
  let entries = 0
  for (const length of lengths.values()) entries += length
  for (const { size } of await newestUpTo(store, newest)) entries -= size
  return entries
}
