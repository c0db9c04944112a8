import { setTimeout as sleep } from 'node:timers/promises'
import { type Caller, type Deps, isStillActive } from '../deps.ts'
import { streams } from '../waiters.ts'
import { type Days, dayRange, type RangeInputs, verifyDays } from './verify-range.ts'

/** Poll interval, and so the shortest time between two reports of progress. */
const POLL_MS = 250
/** Interval after which unchanged progress is reported again. */
const REPEAT_MS = 10_000

interface VerificationEvent {
  event: { type: string; json: string }
}

/**
 * Verifies these days as `verifyRange` does and streams its progress: `progress` from the start on, `verified` at the
 * end. A reader that goes ends the work where a thread does it.
 * The iteration throws GateError before its first item: `invalid_request` for unusable days, `overloaded` when the key
 * has too many streams
 */
export function verificationStream(
  deps: Deps,
  caller: Caller,
  days: Days,
  inputs: RangeInputs,
  isGone: () => boolean,
): { items: AsyncIterable<VerificationEvent>; isOver(): boolean; ends: boolean } {
  const isOver = (): boolean => isGone() || !isStillActive(deps, caller)
  return { items: verification(deps, caller, days, inputs, isOver), isOver, ends: true }
}

async function* verification(
  { store }: Deps,
  { chain, key }: Caller,
  days: Days,
  inputs: RangeInputs,
  isOver: () => boolean,
): AsyncGenerator<VerificationEvent> {
  const release = streams.take(store, key.id)
  const over = new AbortController()
  try {
    const range = await dayRange(store, chain, days)
    const of = range.end - range.first
    yield eventOf('progress', { checked: 0, of })
    let checked = 0
    const onProgress = (now: number): void => {
      checked = now
    }
    const work = verifyDays(store, chain, { ...days, range }, inputs, onProgress, over.signal)
    // A failure after the reader has gone concerns nobody.
    work.catch(() => undefined)
    let told = { checked, atMs: performance.now() }
    while (!isOver()) {
      const verified = await Promise.race([work, sleep(POLL_MS)])
      if (verified !== undefined) {
        yield eventOf('verified', verified)
        return
      }
      if (checked === told.checked && performance.now() - told.atMs < REPEAT_MS) continue
      told = { checked, atMs: performance.now() }
      yield eventOf('progress', { checked, of })
    }
  } finally {
    over.abort(new Error('nobody waits for the verification any more'))
    release()
  }
}

function eventOf(type: string, data: object): VerificationEvent {
  return { event: { type, json: JSON.stringify(data) } }
}
