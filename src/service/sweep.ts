import { type Sweep, sweep } from '../actions/audit/sweep.ts'
import type { TrailDeps, Verified } from '../actions/audit/trail-state.ts'
import type { RangeInputs } from '../actions/audit/verify-range.ts'
import type { Deps } from '../actions/deps.ts'
import { formatTimestamp } from '../base/time.ts'
import type { Logger } from './log.ts'
import type { Background } from './repeat.ts'

/** Interval of the check whether a sweep is due. */
const POLL_INTERVAL_MS = 1000
/** Delay of the first sweep, which leaves the start to more urgent work. */
const FIRST_AFTER_MS = 5000
/** Local hour at which all chains are verified. */
const NIGHT_HOUR = 3

/** Verifies all chains in the background after the start and each night. Logs an error for each chain that fails. */
export function keepSweeping(
  deps: Deps,
  readAnchors: () => Promise<RangeInputs>,
  { config, log, tasks, isWriting }: Background & { isWriting: () => boolean },
): TrailDeps['sweeping'] {
  let last: Verified | null = null
  let nextMs = Date.now() + FIRST_AFTER_MS
  const run = async (): Promise<void> => {
    nextMs = nextNight(Date.now())
    const swept = await sweep(deps, await readAnchors())
    last = { at: formatTimestamp(deps.clock()), valid: swept.valid, chains: swept.chains.length }
    logResult(log, swept)
  }
  if (config.sweep === 'on') {
    tasks.every('verify the audit trail', POLL_INTERVAL_MS, async () => {
      if (isWriting() && Date.now() >= nextMs) await run()
    })
  }
  return { last: () => last }
}

function logResult(log: Logger, { valid, chains }: Sweep): void {
  const entries = chains.reduce((sum, { entriesChecked }) => sum + entriesChecked, 0)
  if (valid) log.info({ chains: chains.length, entries }, 'the audit trail was verified')
  for (const { chain, valid: isGood, status, firstBadSeq, fault } of chains) {
    if (!isGood) log.error({ chain, status, firstBadSeq, fault }, 'the audit trail was altered')
  }
}

function nextNight(nowMs: number): number {
  const night = new Date(nowMs)
  night.setHours(NIGHT_HOUR, 0, 0, 0)
  if (night.getTime() <= nowMs) night.setDate(night.getDate() + 1)
  return night.getTime()
}
