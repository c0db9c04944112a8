import { useEffect } from 'preact/hooks'
import type { ShadowState } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { useLoad } from '../../data/load.ts'
import { addressOf } from '../../data/place.ts'
import { Code } from '../../ui/code.tsx'
import { Id } from '../../ui/copy.tsx'
import { Diagnostics } from '../../ui/diagnostics.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Link } from '../../ui/link.tsx'
import { countText, shareText } from '../../ui/numbers.ts'
import { Await, Empty } from '../../ui/states.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { Matrix } from './matrix.tsx'

/** Interval between two looks, and while a long trail is still counted. */
const LOOK_MS = 5000
const COUNTING_MS = 500

/** The set in shadow, and the running comparison with what is decided. */
export function ShadowPage({ isObserved }: { isObserved: boolean }) {
  const { gate } = useConsole()
  const state = useLoad((signal) => gate.policies.shadow({ signal }), [])
  const { data, reload } = state
  useChanges(['policy'], reload)
  useEffect(() => {
    const timer = setTimeout(reload, data?.comparison?.complete === false ? COUNTING_MS : LOOK_MS)
    return () => clearTimeout(timer)
  }, [data, reload])
  return (
    <Await of={state} what="the set in shadow">
      {(shown) => <Shown of={shown} isObserved={isObserved} />}
    </Await>
  )
}

function Shown({ of, isObserved }: { of: ShadowState; isObserved: boolean }) {
  const { digest, faults, diagnostics } = of
  return (
    <>
      {faults.length > 0 && (
        <section class="card" role="alert">
          <h2>The folder for the set in shadow has faults</h2>
          <p>Until they are fixed, no set of it is in shadow. The policies in force decide as before.</p>
          <Diagnostics of={diagnostics} isInForce={false} />
        </section>
      )}
      {digest === null ? (
        <Empty title="No set is in shadow.">
          A set in shadow is asked at each check, and decides nothing. Put it into a folder beside that of the tenant,
          with the ending <code>.shadow</code>, or write <code>mode: shadow</code> in a rule.
        </Empty>
      ) : (
        <Compared digest={digest} of={of} isObserved={isObserved} />
      )}
    </>
  )
}

interface ComparedProps {
  digest: string
  of: ShadowState
  /** True where the policies are only observed: every decision is an allow then. */
  isObserved: boolean
}

function Compared({ digest, of: { origin, since, rules, comparison }, isObserved }: ComparedProps) {
  const matrix = comparison?.matrix ?? []
  const decisions = comparison?.decisions ?? 0
  const differing = matrix.reduce((sum, { from, to, count }) => sum + (from === to ? 0 : count), 0)
  return (
    <section class="card">
      <h2>
        {decisions === 0
          ? 'Nothing was asked yet'
          : differing === 0
            ? `The set in shadow agrees with all ${countText(decisions)} decisions`
            : `${countText(differing)} of ${countText(decisions)} decisions would change (${shareText(differing, decisions)})`}
      </h2>
      {comparison?.complete === false && <p role="status">Older decisions are still counted.</p>}
      <Matrix
        of={matrix}
        caption="Decisions by what was decided, and by what the set in shadow would have decided"
        corner="decided ↓ shadow →"
        changed={(from, to, count) => (
          <Link to={addressOf(['decisions'], { decision: isObserved ? '' : from, shadow: to, from: since ?? '' })}>
            {count}
          </Link>
        )}
      />
      <Facts
        of={{
          Set: <Id of={digest} what="the digest" />,
          From: origin === 'folder' ? 'a folder of its own' : 'rules in shadow of the set in force',
          Rules: rules.length > 0 && (
            <ul class="row names">
              {rules.map((rule) => (
                <li key={rule}>
                  <Code of={rule} />
                </li>
              ))}
            </ul>
          ),
          Since: since !== null && (
            <>
              <Ago at={since} />, <Time at={since} />
            </>
          ),
          'No answer': comparison !== null && comparison.failed.length > 0 && (
            <ul>
              {comparison.failed.map(({ why, count }) => (
                <li key={why}>
                  {countText(count)}: {FAILURES[why]}
                </li>
              ))}
            </ul>
          ),
        }}
      />
      <p class="muted small">
        <code>gate-sidecar policies promote</code> puts it in force, and records these numbers.
      </p>
    </section>
  )
}

const FAILURES = {
  error: 'its evaluation ended with an error',
  work: 'its evaluation took too much work',
  time: 'its evaluation took too long',
} as const satisfies Record<NonNullable<ShadowState['comparison']>['failed'][number]['why'], string>
