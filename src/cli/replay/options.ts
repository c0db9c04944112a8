import type { Environment } from '../../base/environment.ts'
import type { Glob } from '../../base/glob.ts'
import { DAY_MS, formatTimestamp, LAST_TIME_MS } from '../../base/time.ts'
import type { HistoryChoice } from '../../replay/decide.ts'
import type { ChangeLimit } from '../../replay/limits.ts'
import { timeOf } from '../audit/list.ts'
import { type CommonOptions, UsageError } from '../context.ts'

export interface ReplayOptions extends CommonOptions {
  since?: number
  from?: string
  to?: string
  tenant?: string
  environment: Environment
  action?: Glob
  sample?: number
  history: HistoryChoice
  failOn?: readonly ChangeLimit[]
  seal?: boolean
  format: 'text' | 'json' | 'junit' | 'markdown'
  verbose?: boolean
}

export interface Range {
  fromMs: number
  toMs: number
}

/**
 * The range of the options; of an input all of it, unless they say otherwise.
 *
 * @throws UsageError for a range that is backwards, or given twice
 */
export function rangeOf({ since, from, to }: Pick<ReplayOptions, 'since' | 'from' | 'to'>, isInput: boolean): Range {
  const nowMs = Date.now()
  if (since !== undefined && from !== undefined) throw new UsageError('Give either --since or --from.')
  const toText = timeOf('--to', to, DAY_MS)
  const toMs = toText === undefined ? LAST_TIME_MS : Date.parse(toText)
  const fromText = timeOf('--from', from, 0)
  const sinceMs = isInput && since === undefined ? 0 : Math.min(nowMs, toMs) - (since ?? DAY_MS)
  const fromMs = fromText === undefined ? sinceMs : Date.parse(fromText)
  if (fromMs >= toMs) throw new UsageError(`The range ends at ${formatTimestamp(toMs)}, before it begins.`)
  return { fromMs, toMs }
}
