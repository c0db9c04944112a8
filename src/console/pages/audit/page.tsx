import { PageHead } from '../../ui/page-head.tsx'

export function AuditPage() {
  return <PageHead title="Audit" />
}
