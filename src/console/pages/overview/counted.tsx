import type { ComponentChildren } from 'preact'
import { addressOf } from '../../data/place.ts'
import { PermittedLink } from '../../ui/link.tsx'

/** Pages that list what is counted, with the operation that each needs. */
const LISTS = { audit: 'auditChain', approvals: 'listApprovals', decisions: 'listDecisions' } as const

interface CountedProps {
  in: keyof typeof LISTS
  query?: Readonly<Record<string, string>>
  children: ComponentChildren
}

/** A count, or its label, as a link to the counted items for users with permission to see them. */
export function Counted({ in: path, query = {}, children }: CountedProps) {
  return (
    <PermittedLink needs={LISTS[path]} to={addressOf([path], query)} class="counted">
      {children}
    </PermittedLink>
  )
}
