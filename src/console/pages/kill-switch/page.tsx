import { PageHead } from '../../ui/page-head.tsx'

export function KillSwitchPage() {
  return <PageHead title="Kill switch" />
}
