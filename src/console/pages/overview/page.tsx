import { useEffect, useRef } from 'preact/hooks'
import type { Overview } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { usePlace } from '../../data/place.ts'
import { usePoll } from '../../data/poll.ts'
import { Button } from '../../ui/button.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { ApprovalsCard } from './approvals.tsx'
import { DecisionsCard } from './decisions.tsx'
import { DenialsCard } from './denials.tsx'
import { Figures } from './figures.tsx'
import { FirstSteps, isNew } from './first-steps.tsx'
import { FleetTable } from './fleet.tsx'
import { Notices } from './notices.tsx'
import { FailModes, PostureCard } from './posture.tsx'
import { RangeChoice, rangeOf } from './range.tsx'
import { TrailCard } from './trail.tsx'

/** Kinds of events that change the figures. */
const KINDS = ['gate', 'approval', 'killswitch', 'policy'] as const

/** The start page of operators and auditors: problems, decisions, and enforcement. */
export function OverviewPage() {
  const { gate } = useConsole()
  const range = rangeOf(usePlace().query)
  const loaded = useLoad(
    async (signal) => ({ of: await gate.service.overview({ hours: range.hours }, { signal }), atMs: Date.now() }),
    [range.name],
  )
  usePoll(KINDS, loaded.poll)
  // Figures of the previous range stay, dimmed, until new ones arrive: nothing jumps.
  const last = useRef(loaded.data)
  useEffect(() => {
    if (loaded.data !== undefined) last.current = loaded.data
  }, [loaded.data])
  const shown = loaded.data ?? last.current
  return (
    <>
      <PageHead title="Overview">
        <RangeChoice range={range} />
      </PageHead>
      {loaded.error && shown && <Stale error={loaded.error} sinceMs={shown.atMs} retry={loaded.reload} />}
      {shown ? (
        <div class={`stack overview ${loaded.data ? '' : 'other-time'}`} aria-busy={loaded.data === undefined}>
          <Parts of={shown.of} rangeLabel={range.label} />
        </div>
      ) : loaded.error ? (
        <Failure error={loaded.error} retry={loaded.reload} />
      ) : (
        <Loading what="the overview" />
      )}
    </>
  )
}

function Parts({ of, rangeLabel }: { of: Overview; rangeLabel: string }) {
  const { posture, fleet } = of
  return (
    <>
      <Notices of={of} />
      {isNew(of) && <FirstSteps of={of} />}
      <Figures of={of} />
      <DecisionsCard of={of} rangeLabel={rangeLabel} />
      <div class="columns">
        <DenialsCard of={of} />
        <ApprovalsCard of={of} />
      </div>
      <div class="columns">
        <TrailCard of={of.audit} />
        <PostureCard of={posture} />
      </div>
      {fleet && <FleetTable of={fleet} />}
      <FailModes of={posture.failModes} />
    </>
  )
}

/** A notice that a refresh failed: the age of the figures, and the reason. */
function Stale({ error, sinceMs, retry }: { error: GateError; sinceMs: number; retry: () => void }) {
  return (
    <div class="notice line stale" role="status">
      <p>
        <strong>These figures are old:</strong> they are from <Ago at={new Date(sinceMs).toISOString()} />.{' '}
        <Text of={error.message} /> <span class="muted small">({error.code})</span>
      </p>
      <Button look="small" onClick={retry}>
        Try again
      </Button>
    </div>
  )
}
