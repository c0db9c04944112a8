import { globMatches } from '../../base/glob.ts'
import { formatTimestamp, LAST_TIME_MS } from '../../base/time.ts'
import { tenantsIn } from '../../files/policies.ts'
import type { Part, Recorded } from '../../replay/recorded.ts'
import { replayOf } from '../../replay/replay.ts'
import type { ShownReplay } from '../../replay/shown.ts'
import { UsageError } from '../context.ts'
import { policiesRoot, validSet } from '../tenant-folders.ts'
import type { Range, ReplayOptions } from './options.ts'
import { inputOf } from './read-input.ts'

/** Replays the requests of an input with the policies of one tenant; needs no data file. */
export async function ofInput(path: string, options: ReplayOptions, range: Range): Promise<ShownReplay> {
  const { environment, action, history, sample, io } = options
  if (sample !== undefined) throw new UsageError('--sample is about the trail; an input is decided as a whole.')
  const root = policiesRoot(options)
  const set = validSet(root, options.tenant ?? onlyTenant(root))
  const { fromMs, requests, unread } = await inputOf(path, set.tenant, io)
  const { take, report } = replayOf({ set, environment, keys: new Map(), countsIn: 'chain', history, fromMs })
  const partOf = ({ tsMs, action: name }: Recorded): Part | undefined => {
    if (tsMs >= range.toMs) return undefined
    if (tsMs < range.fromMs) return 'before'
    return action === undefined || globMatches(action, name) ? 'reported' : 'leftOut'
  }
  for await (const recorded of requests) {
    const part = partOf(recorded)
    if (part !== undefined) await take(recorded, part)
  }
  return {
    trail: path,
    from: range.fromMs === 0 ? null : formatTimestamp(range.fromMs),
    to: range.toMs === LAST_TIME_MS ? null : formatTimestamp(range.toMs),
    ...{ policyDigest: set.digest, history, report: report(), unread },
  }
}

/** @throws UsageError when the folder has several tenants */
function onlyTenant(root: string): string {
  const [only, ...others] = tenantsIn(root)
  if (only !== undefined && others.length === 0) return only
  throw new UsageError('Name the tenant whose policies decide, with --tenant.')
}
