import { PageHead } from '../../ui/page-head.tsx'

export function DecisionsPage() {
  return <PageHead title="Decisions" />
}
