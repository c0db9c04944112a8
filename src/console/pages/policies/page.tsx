import { PageHead } from '../../ui/page-head.tsx'

export function PoliciesPage() {
  return <PageHead title="Policies" />
}
