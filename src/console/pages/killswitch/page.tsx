import { useConsole } from '../../data/console.ts'
import { PageHead } from '../../ui/page-head.tsx'
import { History } from './history.tsx'
import { InForce } from './in-force.tsx'
import { Trigger } from './trigger.tsx'

export function KillSwitchPage() {
  const { may } = useConsole()
  return (
    <>
      <PageHead title="Kill switch" />
      <div class="stack kill-switch">
        <InForce />
        {may('trigger') && <Trigger />}
        {may('killSwitchHistory') && <History />}
      </div>
    </>
  )
}
