import type { PolicyTexts, Replay } from '../../../client/api.ts'
import { useAct } from '../../data/act.ts'
import { useConsole } from '../../data/console.ts'
import { go } from '../../data/place.ts'
import { draftAddress } from '../../data/policy-address.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Diagnostics } from '../../ui/diagnostics.tsx'
import { Choice, TextField } from '../../ui/field.tsx'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { Segments } from '../../ui/segments.tsx'
import { Await, Empty, Failure } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import type { DryRunState } from './dry-run-state.ts'
import { ReplayReportView } from './replay-report.tsx'
import {
  isUnderWay,
  RANGES,
  type Range,
  replayAddress,
  useReplay,
  useReplayForm,
  useReplayPlace,
} from './replay-state.ts'

interface ReplayPageProps {
  dryRun: DryRunState
  texts: PolicyTexts | undefined
}

/** Tries the draft on recorded requests. */
export function ReplayPage({ dryRun, texts }: ReplayPageProps) {
  const { id } = useReplayPlace()
  return (
    <>
      <Question dryRun={dryRun} texts={texts} />
      {id === '' ? (
        <Empty title="The result appears here.">
          Recorded requests are decided again with the draft: what changes, and why. Nothing is recorded, and nothing
          runs.
        </Empty>
      ) : (
        <Result key={id} id={id} />
      )}
    </>
  )
}

function Question({ dryRun, texts }: ReplayPageProps) {
  const { form } = dryRun
  const { range, setRange, history, setHistory, action, setAction, error, isBusy, begin } = useReplayForm(form, texts)
  const hasDraft = form.draft.trim() !== ''
  const submit = (event: Event): void => {
    event.preventDefault()
    if (hasDraft && !isBusy) void begin()
  }
  return (
    <form class="card replay-question" onSubmit={submit} noValidate>
      <h2>What would have been decided?</h2>
      <p>
        {hasDraft ? (
          <>
            By the draft, which replaces {form.standsFor === '' ? 'all files' : <Text of={form.standsFor} />}.{' '}
            <Link to={draftAddress(form.standsFor)}>Edit the draft</Link>
          </>
        ) : (
          <>
            There is no draft yet. <Link to={draftAddress()}>Write a draft</Link>, then come back.
          </>
        )}
      </p>
      <div class="row">
        <span>Requests of the last</span>
        <Segments
          legend="Range"
          options={(Object.keys(RANGES) as Range[]).map((name) => ({
            name,
            isChosen: name === range,
            onChoose: () => setRange(name),
          }))}
        />
      </div>
      <div class="replay-fields">
        <Choice
          label="Earlier actions, for limits over time"
          value={history}
          options={[
            ['recorded', 'those that were allowed then'],
            ['draft', 'those that the draft would have allowed'],
          ]}
          onValue={setHistory}
        />
        <TextField
          label="Action (optional)"
          value={action}
          placeholder="payment.*"
          maxLength={128}
          autoComplete="off"
          isMono
          onValue={setAction}
        />
      </div>
      <div class="row">
        <Button text="Try the draft" type="submit" look="primary" aria-disabled={!hasDraft || isBusy} />
        <span class="muted small">Nothing is recorded.</span>
      </div>
      {error && <Failure error={error} />}
    </form>
  )
}

function Result({ id }: { id: string }) {
  const replay = useReplay(id)
  return (
    <Await of={replay} what="the replay">
      {(data) => (
        <>
          <Progress of={data} />
          {data.report && <ReplayReportView replay={data} of={data.report} />}
          {data.report && <Seal of={data} onSealed={replay.reload} />}
          <Findings of={data} />
        </>
      )}
    </Await>
  )
}

/** The way to have the trail tell that the draft was tried, which may be required before it comes into force. */
function Seal({ of: { id, seal }, onSealed }: { of: Replay; onSealed: () => void }) {
  const { gate } = useConsole()
  const { run, isBusy, error } = useAct(async () => {
    await gate.replays.seal(id)
    onSealed()
  })
  if (seal !== null)
    return (
      <section class="card" role="status">
        <p>
          The trail tells of this result: entry <Code of={seal.entryId} />.
        </p>
      </section>
    )
  return (
    <section class="card">
      <div class="row">
        <Button text="Record in the trail" aria-disabled={isBusy} onClick={() => void run()} />
        <span class="muted small">An auditor sees then that the draft was tried, on what, and with what result.</span>
      </div>
      {error && <Failure error={error} />}
    </section>
  )
}

/** Faults of the draft, which keep it from being replayed, or its warnings. */
function Findings({ of: { diagnostics, policyDigest } }: { of: Replay }) {
  if (diagnostics.length === 0) return null
  const hasFaults = policyDigest === null
  return (
    <section class="card">
      <h2>{hasFaults ? 'The draft has faults, so it decides nothing' : 'Warnings about the draft'}</h2>
      <Diagnostics of={diagnostics} isInForce={false} />
    </section>
  )
}

/** The status in words, for screen readers too, with a bar while the replay is under way. */
function Progress({ of }: { of: Replay }) {
  const { status, read, total, fault } = of
  return (
    <div role="status">
      {isUnderWay(of) && (
        <section class="card row between">
          <label class="replay-progress">
            {status === 'waiting' ? 'Waiting for its turn…' : `${countText(read)} of ${countText(total)} entries read`}
            <progress max={Math.max(1, total)} value={read} />
          </label>
          <CancelButton id={of.id} />
        </section>
      )}
      {status === 'failed' && of.policyDigest !== null && (
        <p class="failure">
          The replay failed: <Text of={fault ?? ''} />
        </p>
      )}
    </div>
  )
}

function CancelButton({ id }: { id: string }) {
  const { gate } = useConsole()
  const cancel = async (): Promise<void> => {
    await gate.replays.cancel(id)
    go(replayAddress())
  }
  return <Button text="Cancel" onClick={() => void cancel()} />
}
