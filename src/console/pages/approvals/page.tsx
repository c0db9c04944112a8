import { PageHead } from '../../ui/page-head.tsx'

export function ApprovalsPage() {
  return <PageHead title="Approvals" />
}
