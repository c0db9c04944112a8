import { useState } from 'preact/hooks'
import type { PolicyState } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { type Loaded, useLoad } from '../../data/load.ts'
import { usePlace } from '../../data/place.ts'
import { PageHead } from '../../ui/page-head.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import { DryRunPage } from './dry-run.tsx'
import { useDryRun } from './dry-run-state.ts'
import { ReloadButton, type Reloaded, ReloadNotice } from './reload.tsx'
import { SourceView, type Texts } from './source.tsx'
import { NotCurrent, StateView } from './state.tsx'
import { PARTS, PolicyTabs } from './tabs.tsx'

/** The policies in force, their texts, and dry runs. */
export function PoliciesPage() {
  const { gate, may } = useConsole()
  const state = useLoad((signal) => gate.policies.list({ signal }), [])
  const texts = useLoad(async (signal) => (may('policySource') ? gate.policies.source({ signal }) : undefined), [])
  const [reloaded, setReloaded] = useState<Reloaded | undefined>()
  // Kept here, so that its state survives a visit to the source.
  const dryRun = useDryRun(texts.data)
  useChanges(['policy'], () => {
    state.reload()
    texts.reload()
  })
  const done = (now: Reloaded): void => {
    setReloaded(now)
    if (!('data' in now)) return
    state.replace(now.data)
    texts.reload()
  }
  return (
    <>
      <PageHead title="Policies">{may('reloadPolicies') && <ReloadButton onDone={done} />}</PageHead>
      <div class="stack policies">
        {reloaded && <ReloadNotice of={reloaded} onClose={() => setReloaded(undefined)} />}
        <PolicyTabs dryRun={dryRun} />
        <Shown {...{ state, texts, dryRun }} />
      </div>
    </>
  )
}

interface ShownProps {
  state: Loaded<PolicyState>
  texts: Texts
  dryRun: ReturnType<typeof useDryRun>
}

function Shown({ state, texts, dryRun }: ShownProps) {
  const { may } = useConsole()
  const { path } = usePlace()
  const wanted = path[1] ?? ''
  const tab = PARTS.find(({ segment }) => segment === wanted)
  if (tab === undefined) return <Empty title="There is no such page." />
  if (!may(tab.needs)) return <Empty title={`Your key may not see this.`}>Its roles do not allow it.</Empty>
  if (tab.segment === '') {
    return (
      <Await of={state} what="the policies">
        {(data) => <StateView of={data} />}
      </Await>
    )
  }
  return (
    <>
      {state.data && <NotCurrent of={state.data} />}
      {tab.segment === 'source' ? (
        <SourceView of={texts} />
      ) : (
        <DryRunPage state={dryRun} actions={state.data?.actions ?? []} texts={texts.data} />
      )}
    </>
  )
}
