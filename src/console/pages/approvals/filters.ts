import type { Approval, SignedIn } from '../../../client/api.ts'
import { STATUSES as WORDS } from '../../ui/decision-words.ts'
import { hasVoted } from './obstacles.ts'

export const STATUSES = [
  ['pending', WORDS.pending],
  ['approved', `${WORDS.approved}, not used`],
  ['rejected', WORDS.rejected],
  ['expired', WORDS.expired],
  ['cancelled', WORDS.cancelled],
  ['consumed', WORDS.consumed],
] as const satisfies readonly (readonly [Approval['status'], string])[]

export const ORDERS = [
  ['soonest', 'expires soonest'],
  ['riskiest', 'riskiest'],
  ['newest', 'newest'],
] as const

export const RISKS = [
  ['', 'any'],
  ['40', '40 or more'],
  ['70', '70 or more'],
] as const

/** Filters of approvals, as the address holds them. */
export interface Filters {
  /** Text in the action, requester, rule or reason. */
  text: string
  agent: string
  /** Beginning of the action, such as `payment.`. */
  action: string
  risk: (typeof RISKS)[number][0]
  /** `yes`: neither requested nor voted for by this key. */
  mine: '' | 'yes'
  status: Approval['status']
  order: (typeof ORDERS)[number][0]
}

/** The default order of a list. */
function usualOrder(status: Approval['status']): Filters['order'] {
  return status === 'pending' ? 'soonest' : 'newest'
}

export function filtersOf(query: URLSearchParams): Filters {
  const text = (name: string): string => query.get(name) ?? ''
  const status = optionOf(STATUSES, text('status')) ?? 'pending'
  return {
    text: text('text'),
    agent: text('agent'),
    action: text('action'),
    risk: optionOf(RISKS, text('risk')) ?? '',
    mine: text('mine') === 'yes' ? 'yes' : '',
    status,
    order: optionOf(ORDERS, text('order')) ?? usualOrder(status),
  }
}

function optionOf<T extends string>(options: readonly (readonly [T, string])[], text: string): T | undefined {
  return options.find(([value]) => value === text)?.[0]
}

/** The query for an address, without defaults. */
export function queryOf(filters: Filters): Record<string, string> {
  return {
    ...filters,
    status: filters.status === 'pending' ? '' : filters.status,
    order: filters.order === usualOrder(filters.status) ? '' : filters.order,
  }
}

/** The number of filters in use. */
export function countOf({ text, agent, action, risk, mine }: Filters): number {
  return [text, agent, action, risk, mine].filter((value) => value !== '').length
}

/** The relation of the signed-in user to an approval: requester, voter, or neither (`open`). */
export function standingOf(approval: Approval, who: SignedIn): 'asked' | 'voted' | 'open' {
  if (hasVoted(approval, who)) return 'voted'
  return approval.requestedBy === who.principal ? 'asked' : 'open'
}

/** The matching approvals, in order. */
export function chosenOf(approvals: readonly Approval[], filters: Filters, who: SignedIn): Approval[] {
  const text = filters.text.toLowerCase()
  const agent = filters.agent.toLowerCase()
  const has = (whole: string | null, part: string): boolean => whole?.toLowerCase().includes(part) ?? false
  return approvals
    .filter(
      (approval) =>
        approval.riskScore >= Number(filters.risk) &&
        approval.action.startsWith(filters.action) &&
        has(approval.requestedBy, agent) &&
        [approval.action, approval.requestedBy, approval.rule, approval.reason].some((part) => has(part, text)) &&
        (filters.mine === '' || standingOf(approval, who) === 'open'),
    )
    .sort(ORDER_BY[filters.order])
}

const MINUTE_MS = 60_000
const minuteOf = ({ expiresAt }: Approval): number => Math.floor(Date.parse(expiresAt) / MINUTE_MS)
const newestFirst = (a: Approval, b: Approval): number => (a.id < b.id ? 1 : -1)

/** Ids are ordered by time. Deadlines in the same minute count as equal, so that the riskiest is first. */
const ORDER_BY: Record<Filters['order'], (a: Approval, b: Approval) => number> = {
  soonest: (a, b) => minuteOf(a) - minuteOf(b) || b.riskScore - a.riskScore || -newestFirst(a, b),
  riskiest: (a, b) => b.riskScore - a.riskScore || minuteOf(a) - minuteOf(b) || -newestFirst(a, b),
  newest: newestFirst,
}
