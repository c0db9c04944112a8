import { PageHead } from '../../ui/page-head.tsx'

export function OverviewPage() {
  return <PageHead title="Overview" />
}
