import type { PolicyState } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Id } from '../../ui/copy.tsx'
import { Diagnostics } from '../../ui/diagnostics.tsx'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { LongText } from '../../ui/text.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { Names } from './names.tsx'

/** The policies in force, and the faults of the newest files. */
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
            {of.digest === null ? 'Every action is denied.' : 'The policies before them still decide.'}
            {errors.length > 0 &&
              ` ${errors.length === 1 ? 'One fault has' : `${errors.length} faults have`} to be put right.`}
          </p>
          {faults.length > errors.length && <Faults of={faults} />}
          {errors.length > 0 && <Diagnostics of={errors} isInForce={false} />}
        </section>
      )}
      {of.digest === null ? <NoPolicies /> : <InForce of={of} />}
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

/** Faults of the newest files without a place in a text. */
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
    <div class="empty">
      <p class="empty-title">There are no policies yet.</p>
      <p class="muted">
        What is in the folder of the tenant, in the policies folder of the service, is shown here when it is in force.
        “Writing policies” in the documentation begins with a first rule.
      </p>
    </div>
  )
}

const sourceOf = (file: string): string => addressOf(['policies', 'source'], { file })

function InForce({ of }: { of: PolicyState }) {
  const { may } = useConsole()
  const { digest, loadedAt, checkedAt, files, rules, factors, domains, actions, current, watching } = of
  return (
    <section class="card">
      <h2>In force</h2>
      <dl class="facts">
        <dt>Digest</dt>
        <dd>{digest && <Id of={digest} what="the digest" />}</dd>
        <dt>State</dt>
        <dd>
          {current ? <span class="badge allow">current</span> : <span class="badge deny">not the newest files</span>}{' '}
          {loadedAt && (
            <>
              loaded <Ago at={loadedAt} />, <Time at={loadedAt} />
            </>
          )}
        </dd>
        <dt>Files read</dt>
        <dd>
          {checkedAt ? <Ago at={checkedAt} /> : 'not yet'},{' '}
          {watching ? 'and watched: changes come into force by themselves' : 'and only when somebody asks for it'}
        </dd>
        <dt>Rules</dt>
        <dd>{countText(rules)}</dd>
        <dt>Risk factors</dt>
        <dd>{countText(factors)}</dd>
        <dt>Files</dt>
        <dd>
          <Names of={files} none="none" to={may('policySource') && sourceOf} />
        </dd>
        <dt>Domains</dt>
        <dd>
          <Names of={domains} none="none" />
        </dd>
        <dt>Actions</dt>
        <dd>
          <Names of={actions} none="none is declared" />
        </dd>
      </dl>
    </section>
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
          : 'The newest files are not in force. Shown and asked here are those before them.'}
      </span>
      <Link to={addressOf(['policies'])} class="button small">
        See why
      </Link>
    </p>
  )
}
