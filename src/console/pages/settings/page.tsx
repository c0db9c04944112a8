import { useConsole } from '../../data/console.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { PageHead } from '../../ui/page-head.tsx'
import { Empty } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ApiKeys } from './api-keys.tsx'
import { PlanAndUsage } from './usage.tsx'

const SECTIONS = [
  { path: 'api-keys', title: 'API Keys', needs: 'listKeys', Section: ApiKeys },
  { path: 'usage', title: 'Plan and usage', needs: 'usage', Section: PlanAndUsage },
] as const

export function SettingsPage() {
  const { may } = useConsole()
  const { path } = usePlace()
  const visible = SECTIONS.filter(({ needs }) => may(needs))
  const wanted = path[1] ?? visible[0]?.path
  const section = visible.find((each) => each.path === wanted)
  return (
    <>
      <PageHead title="Settings" tab={section ? `${section.title} · Settings` : 'Settings'} />
      <div class="stack">
        <Tabs
          label="Settings"
          tabs={visible.map((each) => ({
            title: each.title,
            to: addressOf(['settings', each.path]),
            isCurrent: each === section,
          }))}
        />
        {section ? <section.Section /> : <Empty title="There is no such page." />}
      </div>
    </>
  )
}
