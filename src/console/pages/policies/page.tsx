import { useState } from 'preact/hooks'
import type { PolicyState } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { failure, type Loaded, useLoad } from '../../data/load.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { draftAddress } from '../../data/policy-address.ts'
import { Button } from '../../ui/button.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { Await, Empty, Failure } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { DryRunPage } from './dry-run.tsx'
import { type DryRunState, useDryRun } from './dry-run-state.ts'
import { ReplayPage } from './replay.tsx'
import { ShadowPage } from './shadow.tsx'
import { SourceView, type Texts } from './source.tsx'
import { NotCurrent, StateView } from './state.tsx'

/** The parts of the page, by segment of the address. */
const PARTS = [
  { segment: '', title: 'In force', needs: 'listPolicies' },
  { segment: 'source', title: 'Source', needs: 'policySource' },
  { segment: 'dry-run', title: 'Dry run', needs: 'dryRun' },
  { segment: 'replay', title: 'Try on yesterday', needs: 'replayPolicies' },
  { segment: 'shadow', title: 'In shadow', needs: 'shadowPolicies' },
] as const

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

/** The parts that the roles allow. */
function PolicyTabs({ dryRun }: { dryRun: DryRunState }) {
  const { may } = useConsole()
  const { path } = usePlace()
  const tabs = PARTS.filter(({ needs }) => may(needs)).map(({ segment, title }) => ({
    title,
    // Returns to the draft in progress.
    to:
      segment === 'dry-run' && dryRun.isDraft
        ? draftAddress(dryRun.form.standsFor)
        : addressOf(['policies', ...(segment === '' ? [] : [segment])]),
    isCurrent: (path[1] ?? '') === segment,
  }))
  return <Tabs label="Policies" tabs={tabs} />
}

function Shown({ state, texts, dryRun }: { state: Loaded<PolicyState>; texts: Texts; dryRun: DryRunState }) {
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
      {tab.segment === 'source' && <SourceView of={texts} />}
      {tab.segment === 'dry-run' && (
        <DryRunPage state={dryRun} actions={state.data?.actions ?? []} texts={texts.data} />
      )}
      {tab.segment === 'shadow' && <ShadowPage isObserved={state.data?.mode === 'observe'} />}
      {tab.segment === 'replay' && <ReplayPage dryRun={dryRun} texts={texts.data} />}
    </>
  )
}

type Reloaded = { data: PolicyState } | { error: GateError }

function ReloadButton({ onDone }: { onDone: (reloaded: Reloaded) => void }) {
  const { gate } = useConsole()
  const [isBusy, setIsBusy] = useState(false)
  const reload = async (): Promise<void> => {
    if (isBusy) return
    setIsBusy(true)
    try {
      onDone({ data: await gate.policies.reload() })
    } catch (error) {
      onDone({ error: failure(error) })
    } finally {
      setIsBusy(false)
    }
  }
  return <Button text={isBusy ? 'Reading the files…' : 'Reload'} aria-disabled={isBusy} onClick={() => void reload()} />
}

function ReloadNotice({ of, onClose }: { of: Reloaded; onClose: () => void }) {
  if ('error' in of) return <Failure error={of.error} />
  const { current, digest } = of.data
  return (
    <div class={`notice reloaded ${current ? 'good' : ''}`} role="status">
      <p>
        {current ? (
          <>
            The files were read and are in force: <code>{digest}</code>
          </>
        ) : digest === null ? (
          'The files were read, but do not come into force. No policies are in force: every action is denied.'
        ) : (
          'The files were read, but do not come into force: the previous policies still decide.'
        )}
      </p>
      <Button text="✕" look="quiet" aria-label="Close" onClick={onClose} />
    </div>
  )
}
