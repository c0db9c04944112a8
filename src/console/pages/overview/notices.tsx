import type { ComponentChildren } from 'preact'
import type { Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

/** Current problems, above everything else. */
export function Notices({ of: { posture, audit } }: { of: Overview }) {
  const notices = [...ofStop(posture), ...ofPolicies(posture), ...ofTrail(audit), ...ofAnchors(audit)]
  if (notices.length === 0) return null
  return (
    <section aria-label="What is wrong now">
      <ul class="stack tight notices">
        {notices.map(({ name, content }) => (
          <li key={name} class="notice line wrong">
            {content}
          </li>
        ))}
      </ul>
    </section>
  )
}

interface Notice {
  name: string
  content: ComponentChildren
}

function ofStop({ killSwitch: { active, level, scope } }: Overview['posture']): Notice[] {
  if (!active) return []
  const content = (
    <>
      <p>
        <strong>
          Stopped: {level} <Text of={scope ?? ''} />
        </strong>
        <span>Every action that the stop covers is denied, or waits until it ends.</span>
      </p>
      <To path="kill-switch" needs="killSwitchStatus">
        Kill switch
      </To>
    </>
  )
  return [{ name: 'stop', content }]
}

function ofPolicies({ policies: { inForce, current, faults } }: Overview['posture']): Notice[] {
  if (inForce && current) return []
  const content = (
    <>
      <p>
        <strong>{inForce ? 'The newest policies are not in force' : 'No policies are in force'}</strong>
        <span>
          {faults > 0 && `They have ${faults === 1 ? 'a fault' : `${faults} faults`}. `}
          {inForce ? 'Those before them still decide.' : 'Every action is denied.'}
        </span>
      </p>
      <To path="policies" needs="listPolicies">
        {faults > 0 ? 'See the faults' : 'Policies'}
      </To>
    </>
  )
  return [{ name: 'policies', content }]
}

function ofTrail({ fault, lastVerified }: Overview['audit']): Notice[] {
  const notices: Notice[] = []
  if (fault !== null) {
    const content = (
      <>
        <p>
          <strong>The audit trail is not written, and nothing is decided</strong>
          <Text of={fault} severalLines />
        </p>
        <To path="audit" needs="auditChain">
          Audit
        </To>
      </>
    )
    notices.push({ name: 'fault', content })
  }
  if (lastVerified?.valid === false) {
    const content = (
      <>
        <p>
          <strong>The audit trail did not verify</strong>
          <span>
            The service verified its chains <Ago at={lastVerified.at} />, and at least one has been altered.
          </span>
        </p>
        <To path="audit" needs="auditChain">
          Verify it
        </To>
      </>
    )
    notices.push({ name: 'unverified', content })
  }
  return notices
}

function ofAnchors({ sinks, unanchoredEntries }: Overview['audit']): Notice[] {
  return sinks
    .filter(({ ok }) => !ok)
    .map(({ sink, lastAt }) => {
      const content = (
        <>
          <p>
            <strong>External anchors fail: nothing can be written to “{sink}”</strong>
            <span>
              {lastAt === null ? (
                'Nothing was written there since the service started. '
              ) : (
                <>
                  Last written <Ago at={lastAt} />.{' '}
                </>
              )}
              {unanchoredEntries !== null && `${countText(unanchoredEntries)} entries are in no anchor yet.`}
            </span>
          </p>
          <To path="audit" needs="auditChain">
            Audit
          </To>
        </>
      )
      return { name: `sink ${sink}`, content }
    })
}

interface ToProps {
  path: string
  needs: Parameters<ReturnType<typeof useConsole>['may']>[0]
  children: ComponentChildren
}

/** A link to the page that solves the problem, for users with permission to see it. */
function To({ path, needs, children }: ToProps) {
  const { may } = useConsole()
  if (!may(needs)) return null
  return (
    <Link to={addressOf([path])} class="button small">
      {children}
    </Link>
  )
}
