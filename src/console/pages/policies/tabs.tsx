import { useConsole } from '../../data/console.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { Tabs } from '../../ui/tabs.tsx'

/** What the page has, by the segment of the address. */
export const PARTS = [
  { segment: '', title: 'In force', needs: 'listPolicies' },
  { segment: 'source', title: 'Source', needs: 'policySource' },
  { segment: 'dry-run', title: 'Dry run', needs: 'dryRun' },
] as const

/** Those parts that the roles allow. */
export function PolicyTabs() {
  const { may } = useConsole()
  const { path } = usePlace()
  const tabs = PARTS.filter(({ needs }) => may(needs)).map(({ segment, title }) => ({
    title,
    to: addressOf(['policies', ...(segment === '' ? [] : [segment])]),
    isCurrent: (path[1] ?? '') === segment,
  }))
  return <Tabs label="Of the policies" tabs={tabs} />
}
