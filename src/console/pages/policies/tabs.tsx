import { useConsole } from '../../data/console.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { draftAddress } from '../../data/policy-address.ts'
import { Tabs } from '../../ui/tabs.tsx'
import type { DryRunState } from './dry-run-state.ts'

/** The parts of the page, by segment of the address. */
export const PARTS = [
  { segment: '', title: 'In force', needs: 'listPolicies' },
  { segment: 'source', title: 'Source', needs: 'policySource' },
  { segment: 'dry-run', title: 'Dry run', needs: 'dryRun' },
] as const

/** The parts that the roles allow. */
export function PolicyTabs({ dryRun }: { dryRun: DryRunState }) {
  const { may } = useConsole()
  const { path } = usePlace()
  const tabs = PARTS.filter(({ needs }) => may(needs)).map(({ segment, title }) => ({
    title,
    // Returns to the draft in progress.
    to:
      segment === 'dry-run' && dryRun.isDraft
        ? draftAddress(dryRun.form.standsFor)
        : addressOf(['policies', ...(segment === '' ? [] : [segment])]),
    isCurrent: (path[1] ?? '') === segment,
  }))
  return <Tabs label="Of the policies" tabs={tabs} />
}
