import { type Sweep, sweep } from '../actions/audit/sweep.ts'
import type { Verified } from '../actions/audit/trail-state.ts'
import type { RangeInputs } from '../actions/audit/verify-range.ts'
import type { Deps } from '../actions/deps.ts'
import { formatTimestamp } from '../base/time.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'
import type { Tasks } from './repeat.ts'

/** How often it is looked whether it is time. */
const POLL_MS = 1000
/** After the start, others have their turn first. */
const FIRST_AFTER_MS = 5000
/** The hour of the local day at which all chains are verified. */
const NIGHT_HOUR = 3

export interface Sweeping {
  /** Null before the first time. */
  last(): Verified | null
}

/** Verifies all chains after the start and each night, where nobody waits for it, and says loudly when one does not hold. */
export function keepSweeping(
  deps: Deps,
  readAnchors: () => Promise<RangeInputs>,
  { config, log, tasks, isWriting }: { config: Config; log: Logger; tasks: Tasks; isWriting: () => boolean },
): Sweeping {
  let last: Verified | null = null
  let nextMs = Date.now() + FIRST_AFTER_MS
  const run = async (): Promise<void> => {
    nextMs = nextNight(Date.now())
    const swept = await sweep(deps, await readAnchors())
    last = { at: formatTimestamp(deps.clock()), valid: swept.valid, chains: swept.chains.length }
    tell(log, swept)
  }
  if (config.sweep === 'on') {
    tasks.every('verify the audit trail', POLL_MS, async () => {
      if (isWriting() && Date.now() >= nextMs) await run()
    })
  }
  return { last: () => last }
}

function tell(log: Logger, { valid, chains }: Sweep): void {
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
