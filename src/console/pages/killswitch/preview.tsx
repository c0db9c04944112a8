import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { KillSwitchLevel, KillSwitchPreview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { useLoad } from '../../data/load.ts'
import { Button } from '../../ui/button.tsx'
import { Text } from '../../ui/text.tsx'
import { Covered } from './covered.tsx'
import { nearestOf } from './nearest.ts'

/** Pause in typing before the scope counts as entered. */
const SETTLED_MS = 250

interface PreviewProps {
  level: KillSwitchLevel
  /** Empty if nothing has been entered. */
  scope: string
  /** Names compared with a mistyped scope: those of the policies come first, since agents may have requested any other. */
  declared: readonly string[]
  known: readonly string[]
  /** Called with the suggestion that the user accepts. */
  onMeant: (scope: string) => void
}

/** The coverage of the stop as entered. It only informs: the stop never waits for it. */
export function Preview({ level, scope: entered, declared, known, onMeant }: PreviewProps) {
  const { gate } = useConsole()
  const needsScope = level === 'L1' || level === 'L2'
  const scope = useSettled(entered)
  const isMissing = needsScope && scope === ''
  const preview = useLoad(
    async (signal) => {
      if (isMissing) return undefined
      return gate.killSwitch.preview({ level, ...(needsScope && { scope }) }, { signal })
    },
    [level, needsScope ? scope : ''],
  )
  // Ignores approvals: agents create as many as they like.
  useChanges(['policy'], preview.reload)
  const { data, error } = preview
  const meant = <DidYouMean nearest={nearestOf(scope, declared) ?? nearestOf(scope, known)} onMeant={onMeant} />
  return (
    <section class="card preview" aria-labelledby="preview">
      <h3 id="preview">Coverage of this stop</h3>
      <div role="status" class="stack">
        {data !== undefined && data.level === level ? (
          <Shown preview={data} meant={meant} />
        ) : error ? (
          <div class="stack tight">
            <p>
              <Text of={error.message} severalLines />
            </p>
            {error.code === 'invalid_request' && meant}
            <p class="muted small">The coverage of the stop cannot be shown. You can still stop.</p>
          </div>
        ) : isMissing ? (
          <p class="muted">
            {level === 'L1'
              ? 'Enter an action, or a pattern such as payment.*, to see its coverage.'
              : 'Choose a domain to see its coverage.'}
          </p>
        ) : (
          <p class="muted">Checking… You can stop meanwhile.</p>
        )}
      </div>
      {error && (
        <div>
          <Button text="Check again" look="small" onClick={preview.reload} />
        </div>
      )}
    </section>
  )
}

/** The service also stops unknown names, so this is only a question. */
function DidYouMean({ nearest, onMeant }: { nearest: string | undefined; onMeant: (scope: string) => void }) {
  if (nearest === undefined) return null
  return (
    <p class="row">
      Did you mean
      <Button look="small" onClick={() => onMeant(nearest)}>
        <span class="mono">
          <Text of={nearest} />
        </span>
        ?
      </Button>
    </p>
  )
}

function Shown({ preview, meant }: { preview: KillSwitchPreview; meant: ComponentChildren }) {
  const { level, covers, warning, approvals, cancels, moreApprovals, allowed, refusal } = preview
  const least = moreApprovals ? 'at least ' : ''
  return (
    <>
      {!allowed && (
        <p class="notice">
          <strong>This key may not do it.</strong> <Text of={refusal ?? ''} />
        </p>
      )}
      {warning ? (
        <div class="notice stack tight">
          <p>
            <strong>Mistyped?</strong> <Text of={warning} />
          </p>
          {meant}
        </div>
      ) : (
        <Covered actions={covers} />
      )}
      {level === 'L4' && <p>And every action of every other tenant.</p>}
      <p class="muted small">
        {approvals === 0 && cancels === 0 && !moreApprovals
          ? 'No open approvals are affected.'
          : `Approvals: ${least}${approvals} that ${approvals === 1 ? 'waits is' : 'wait are'} paused and ${
              approvals === 1 ? 'keeps its' : 'keep their'
            } time; ${least}${cancels} approved and not used ${cancels === 1 ? 'is' : 'are'} cancelled.`}
      </p>
    </>
  )
}

/** A text after it has stayed unchanged for a while. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
