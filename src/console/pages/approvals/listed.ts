import { useMemo } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { type Loaded, useLoad } from '../../data/load.ts'
import { type Pending, usePending } from '../../data/pending.ts'
import { chosenOf, type Filters } from './filters.ts'

/** Limit of past approvals in the list: those with the latest deadlines. */
const MOST_PAST = 500

export interface Listed {
  loaded: Loaded<Pending>
  /** The matching approvals, in order. */
  rows: readonly Approval[]
}

/** Pending or past approvals that match the filters. */
export function useListed(filters: Filters): Listed {
  const { who } = useConsole()
  const pending = usePending()
  const past = usePast(filters.status)
  const loaded = filters.status === 'pending' ? pending : past
  const items = loaded.data?.items
  const key = JSON.stringify(filters)
  const rows = useMemo(() => chosenOf(items ?? [], filters, who), [items, key, who])
  return { loaded, rows }
}

/** Fetches the end of the list, which the service orders by deadline, oldest first. */
function usePast(status: Approval['status']): Loaded<Pending> {
  const { gate } = useConsole()
  const past = useLoad(
    async (signal) => {
      if (status === 'pending') return { items: [], total: 0 }
      const { total } = (await gate.approvals.list({ status, limit: 1 }, { signal })).page
      const offset = Math.max(0, total - MOST_PAST)
      const { data, page } = await gate.approvals.list({ status, limit: MOST_PAST, offset }, { signal })
      return { items: data, total: page.total }
    },
    [status],
  )
  useChanges(['approval', 'killswitch'], () => status !== 'pending' && !past.isLoading && past.reload())
  return past
}
