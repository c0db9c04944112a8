import { sweep } from '../actions/audit/sweep.ts'
import type { Deps } from '../actions/deps.ts'
import { formatTimestamp } from '../base/time.ts'
import type { Background } from './repeat.ts'
import type { Trail } from './trail.ts'
import type { watchVerifications } from './verification.ts'

/** Interval of the check whether a sweep is due. */
const POLL_INTERVAL_MS = 1000
/** Delay of the first sweep, which leaves the start to more urgent work. */
const FIRST_AFTER_MS = 5000
/** Pause after a sweep that could not be carried out. */
const RETRY_MS = 600_000
/** Local hour at which all chains are verified. */
const NIGHT_HOUR = 3

/** Verifies all chains in the background after the start and each night. */
export function keepSweeping(
  deps: Deps,
  { isWriting, readAnchors }: Pick<Trail, 'isWriting' | 'readAnchors'>,
  verification: Pick<ReturnType<typeof watchVerifications>, 'allVerified'>,
  { config, log, tasks }: Background,
): void {
  let nextMs = Date.now() + FIRST_AFTER_MS
  const run = async (): Promise<void> => {
    nextMs = Date.now() + RETRY_MS
    const swept = await sweep(deps, await readAnchors())
    nextMs = nextNight(Date.now())
    verification.allVerified({ at: formatTimestamp(deps.clock()), valid: swept.valid, chains: swept.chains.length })
    const entries = swept.chains.reduce((sum, { entriesChecked }) => sum + entriesChecked, 0)
    if (swept.valid) log.info({ chains: swept.chains.length, entries }, 'the audit trail was verified')
  }
  // The record of a sweep belongs to no tenant: those that serve all make it.
  if (config.sweep === 'off' || deps.store.tenant !== undefined) return
  tasks.every('verify the audit trail', POLL_INTERVAL_MS, async () => {
    if (isWriting() && Date.now() >= nextMs) await run()
  })
}

function nextNight(nowMs: number): number {
  const night = new Date(nowMs)
  night.setHours(NIGHT_HOUR, 0, 0, 0)
  if (night.getTime() <= nowMs) night.setDate(night.getDate() + 1)
  return night.getTime()
}
