import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { Caller, Deps } from '../deps.ts'
import { type Stream, type StreamItem, streamFor } from '../waiters.ts'
import { type Days, dayRanges, type RangeInputs, verifyDays } from './verify-range.ts'

/** Poll interval, and so the shortest time between two reports of progress. */
const POLL_MS = 250
/** Interval after which unchanged progress is reported again. */
const REPEAT_MS = 10_000

/**
 * Verifies these days as `verifyRange` does and streams its progress: `progress` from the start on, `verified` at the
 * end. A reader that goes ends the work where a thread does it.
 * The iteration throws GateError `invalid_request` before its first item for unusable days.
 */
export function verificationStream(
  deps: Deps,
  caller: Caller,
  days: Days,
  inputs: RangeInputs,
  isGone: () => boolean,
): Stream {
  return streamFor(deps, caller, { isGone, ends: true }, (isOver) =>
    verification(deps.store, caller.chain, days, inputs, isOver),
  )
}

async function* verification(
  store: Store,
  trail: string,
  days: Days,
  inputs: RangeInputs,
  isOver: () => boolean,
): AsyncGenerator<StreamItem> {
  const over = new AbortController()
  try {
    const ranges = await dayRanges(store, trail, days)
    const of = [...ranges.values()].reduce((sum, { first, end }) => sum + end - first, 0)
    yield eventOf('progress', { checked: 0, of })
    let checked = 0
    const onProgress = (now: number): void => {
      checked = now
    }
    const work = verifyDays(store, days, ranges, inputs, onProgress, over.signal)
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
  }
}

function eventOf(type: string, data: object): StreamItem {
  return { event: { type, json: JSON.stringify(data) } }
}
