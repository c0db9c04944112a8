import { UNKNOWN, type UnknownReason } from './decide.ts'
import type { From, ReplayReport } from './report.ts'

/** Decisions of which no more than this number may change, as `--fail-on` states them. */
export interface ChangeLimit {
  /** As it was given. */
  text: string
  /** Changes that count: of these decisions, or by name. */
  of: { from: string; to: string } | CountedWhat
  most: number
  /** True where `most` is in percent of the decided requests. */
  isShare: boolean
}

/** Counts by name: changed decisions, facts that the draft newly misses, requests that could not be decided again. */
const COUNTED = ['changed', 'unevaluable', 'unknown'] as const
type CountedWhat = (typeof COUNTED)[number]

const FORM = /^(?:([a-z_]+|\*)->([a-z_]+|\*)|([a-z]+))>(\d{1,12}(?:\.\d{1,6})?)(%?)$/
const FROM = ['allow', 'deny', 'require_approval', 'none', '*']
const TO = ['allow', 'deny', 'require_approval', '*']

export const LIMIT_FORM = `FROM->TO>N, with ${TO.join(', ')}, or ${COUNTED.join(', ')} as in changed>N, and N or N%`

/** Parses `allow->deny>0`, `*->allow>1%` or `changed>10`; undefined for another text. */
export function changeLimitOf(text: string): ChangeLimit | undefined {
  const [found, from, to, name, number = '', percent = ''] = FORM.exec(text.replaceAll(' ', '')) ?? []
  if (found === undefined) return undefined
  const [most, isShare] = [Number(number), percent === '%']
  if (!isShare && !Number.isInteger(most)) return undefined
  const what = COUNTED.find((one) => one === name)
  if (what !== undefined) return { text, of: what, most, isShare }
  if (from === undefined || to === undefined || !FROM.includes(from) || !TO.includes(to)) return undefined
  return { text, of: { from, to }, most, isShare }
}

/** Number of changes that a limit counts. */
function countOf({ of }: ChangeLimit, report: Pick<ReplayReport, 'matrix' | 'unevaluable' | 'unknown'>): number {
  if (of === 'unknown')
    return (Object.keys(UNKNOWN) as UnknownReason[]).reduce((sum, why) => sum + report.unknown[why], 0)
  if (of === 'unevaluable') return report.unevaluable.decisions
  const { from, to } = of === 'changed' ? { from: '*', to: '*' } : of
  const isFrom = (decision: From): boolean => from === decision || (from === '*' && decision !== 'none')
  return report.matrix
    .filter((cell) => cell.from !== cell.to && isFrom(cell.from) && [cell.to, '*'].includes(to))
    .reduce((sum, { count }) => sum + count, 0)
}

/** A limit with what a replay found. */
export interface LimitResult {
  limit: string
  count: number
  exceeded: boolean
}

export function limitsOf(limits: readonly ChangeLimit[], report: ReplayReport): LimitResult[] {
  return limits.map((limit) => {
    const count = countOf(limit, report)
    const most = limit.isShare ? (limit.most / 100) * report.decided : limit.most
    return { limit: limit.text, count, exceeded: count > most }
  })
}
