import { useState } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { Risk } from '../../ui/badges.tsx'
import { Scroll } from '../../ui/scroll.tsx'
import { Text, TextAfter } from '../../ui/text.tsx'
import { ArgumentLine, Arguments, amountOf } from './arguments.tsx'
import type { Result } from './vote.ts'

/** Limit of characters of each argument in its line. */
const LONG = 48

interface BatchItemsProps {
  approvals: readonly Approval[]
  /** Reasons for the approvals that are left out. */
  skipped: ReadonlyMap<string, string>
  results: ReadonlyMap<string, Result>
}

/** The approvals of a batch, each with its request and its result. */
export function BatchItems({ approvals, skipped, results }: BatchItemsProps) {
  return (
    <Scroll label="Selected approvals" class="box batch-items">
      <ul>
        {approvals.map((approval) => {
          const result = results.get(approval.id)
          const reason = result === undefined ? skipped.get(approval.id) : undefined
          return (
            <li key={approval.id} class={reason !== undefined ? 'skipped' : (result?.state ?? '')}>
              <div class="batch-item">
                <span>
                  <Text of={approval.action} />
                  <span class="muted small">
                    {' requested by '}
                    <Text of={approval.requestedBy} />
                  </span>
                </span>
                <Risk score={approval.riskScore} isInList />
              </div>
              <ArgumentLine approval={approval} most={LONG} />
              <All approval={approval} />
              {result !== undefined && (
                <p class="small batch-result">
                  <strong>{RESULTS[result.state]}</strong> <Text of={result.text} />
                </p>
              )}
              {reason !== undefined && (
                <p class="small">
                  <strong>Left out.</strong> {reason}
                </p>
              )}
            </li>
          )
        })}
      </ul>
    </Scroll>
  )
}

const RESULTS = { sending: '', done: 'Done.', voted: 'Done.', refused: 'Refused.' } as const

/** All arguments, drawn on demand: there may be hundreds of approvals. */
function All({ approval }: { approval: Approval }) {
  const [isOpen, setIsOpen] = useState(false)
  const { digest, unbound } = approval
  return (
    <details class="small" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>All of it: {amountOf(approval)}</summary>
      {isOpen && (
        <>
          <Arguments approval={approval} />
          <p class="muted">
            {'Bound as '}
            <code title={digest}>{shortDigest(digest)}</code>
            <TextAfter words=", but not " of={unbound.length > 0 ? unbound.join(', ') : null} />
          </p>
        </>
      )}
    </details>
  )
}

/** The beginning of a digest, enough to tell two apart. */
function shortDigest(digest: string): string {
  return `${digest.replace(/^sha256:/, '').slice(0, 12)}…`
}
