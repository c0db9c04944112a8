import { useState } from 'preact/hooks'
import type { PolicyState } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Id } from '../../ui/copy.tsx'
import { Diagnostics } from '../../ui/diagnostics.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { Empty } from '../../ui/states.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago, Time } from '../../ui/time.tsx'

export function StateView({ of }: { of: PolicyState }) {
  const { current, faults, diagnostics } = of
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning')
  return (
    <>
      {!current && (
        <section class="card not-current" role="alert">
          <h2>{of.digest === null ? 'No policies are in force' : 'The newest files are not in force'}</h2>
          <p>
            {of.digest === null ? 'Every action is denied.' : 'The previous policies still decide.'}
            {errors.length > 0 && ` Fix ${errors.length === 1 ? 'one fault' : `${errors.length} faults`}.`}
          </p>
          {faults.length > errors.length && <Faults of={faults} />}
          {errors.length > 0 && <Diagnostics of={errors} isInForce={false} />}
        </section>
      )}
      {of.digest === null ? <NoPolicies /> : <InForce of={of} />}
      {of.groupsWithoutKeys.length > 0 && (
        <section class="card" role="alert">
          <h2>Approver groups without keys</h2>
          <p>
            No active key belongs to these groups, so nobody can approve what waits for them. Create a key for each.
          </p>
          <Faults of={of.groupsWithoutKeys} />
        </section>
      )}
      {warnings.length > 0 && (
        <section class="card">
          <h2>Warnings</h2>
          <p class="muted small">They do not keep policies from coming into force.</p>
          <Diagnostics of={warnings} isInForce={current} />
        </section>
      )}
    </>
  )
}

/** Texts of which each has a line, such as faults without a place in a file. */
function Faults({ of }: { of: readonly string[] }) {
  return (
    <ul class="bullets">
      {of.map((fault, i) => (
        <li key={i}>
          <LongText of={fault} />
        </li>
      ))}
    </ul>
  )
}

function NoPolicies() {
  return (
    <Empty title="No policies yet.">
      The files in the folder of the tenant, inside the policies folder of the service, appear here once they are in
      force. To write a first rule, see “Writing policies” in the documentation.
    </Empty>
  )
}

const sourceOf = (file: string): string => addressOf(['policies', 'source'], { file })

function InForce({ of }: { of: PolicyState }) {
  const { may } = useConsole()
  const { digest, loadedAt, checkedAt, files, rules, factors, domains, actions, current, watching } = of
  return (
    <section class="card">
      <h2>In force</h2>
      <Facts
        of={{
          Digest: digest && <Id of={digest} what="the digest" />,
          State: (
            <>
              {current ? (
                <span class="badge allow">current</span>
              ) : (
                <span class="badge deny">not the newest files</span>
              )}{' '}
              {loadedAt && (
                <>
                  loaded <Ago at={loadedAt} />, <Time at={loadedAt} />
                </>
              )}
            </>
          ),
          'Files read': (
            <>
              {checkedAt ? <Ago at={checkedAt} /> : 'not yet'},{' '}
              {watching ? 'and watched: changes come into force automatically' : 'and only on request'}
            </>
          ),
          Rules: countText(rules),
          'Risk factors': countText(factors),
          Files: <Names of={files} none="none" to={may('policySource') && sourceOf} />,
          Domains: <Names of={domains} none="none" />,
          Actions: <Names of={actions} none="none declared" />,
        }}
      />
    </section>
  )
}

/** Limit of names shown before a click on more. */
const SHOWN = 40

interface NamesProps {
  of: readonly string[]
  none: string
  to?: ((name: string) => string) | false
}

function Names({ of, none, to = false }: NamesProps) {
  const [isWhole, setIsWhole] = useState(false)
  if (of.length === 0) return <span class="muted">{none}</span>
  const shown = isWhole ? of : of.slice(0, SHOWN)
  return (
    <>
      <ul class="row names links">
        {shown.map((name) => (
          <li key={name}>
            <code>
              {to ? (
                <Link to={to(name)}>
                  <Text of={name} />
                </Link>
              ) : (
                <Text of={name} />
              )}
            </code>
          </li>
        ))}
      </ul>
      {shown.length < of.length && (
        <button type="button" class="link small" onClick={() => setIsWhole(true)}>
          {countText(of.length - shown.length)} more
        </button>
      )}
    </>
  )
}

/** A notice on every part of the page. */
export function NotCurrent({ of: { current, digest } }: { of: PolicyState }) {
  if (current) return null
  return (
    <p class="notice line wrong">
      <span>
        {digest === null
          ? 'No policies are in force: every action is denied.'
          : 'The newest files are not in force. This page shows and uses the previous policies.'}
      </span>
      <Link to={addressOf(['policies'])} class="button small">
        See why
      </Link>
    </p>
  )
}
