import { PageHead } from '../../ui/page-head.tsx'

export function SettingsPage() {
  return <PageHead title="Settings" />
}
