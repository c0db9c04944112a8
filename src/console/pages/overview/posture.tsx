import type { FailMode, Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Id } from '../../ui/copy.tsx'
import { Link } from '../../ui/link.tsx'
import { Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { Badge } from './trail.tsx'

/** The posture now: policies, stops, environment and version. */
export function PostureCard({
  of: { policies, killSwitch, environment, version, watching },
}: {
  of: Overview['posture']
}) {
  const { may } = useConsole()
  const { inForce, digest, loadedAt, current } = policies
  return (
    <section class="card">
      <h2>In force</h2>
      <dl class="facts">
        <dt>Policies</dt>
        <dd>
          {inForce ? <Badge isGood={current} text={current ? 'current' : 'not the newest'} /> : <Badge text="none" />}{' '}
          {loadedAt && (
            <>
              loaded <Ago at={loadedAt} />
            </>
          )}
          {may('listPolicies') && (
            <>
              {' '}
              <Link to={addressOf(['policies'])}>Policies</Link>
            </>
          )}
        </dd>
        <dt>Digest</dt>
        <dd>{digest === null ? '–' : <Id of={digest} what="the digest of the policies" />}</dd>
        <dt>Stop</dt>
        <dd>
          {killSwitch.active ? (
            <>
              <Badge text={killSwitch.level ?? ''} /> <Text of={killSwitch.scope ?? ''} />
            </>
          ) : (
            'none'
          )}
        </dd>
        <dt>Environment</dt>
        <dd>{environment}</dd>
        <dt>Version</dt>
        <dd>{version}</dd>
        <dt>Policy files</dt>
        <dd>
          {watching ? 'are watched: changes come into force by themselves' : 'are read when somebody asks for it'}
        </dd>
      </dl>
    </section>
  )
}

/** The behaviour when something is missing or broken. */
export function FailModes({ of }: { of: readonly FailMode[] }) {
  return (
    <section class="stack tight">
      <h2>Where something is missing or broken</h2>
      <p class="muted small">None of this can be set.</p>
      <Table
        caption="What happens where something is missing or broken"
        columns={[
          { head: 'Situation', cell: ({ situation }) => situation },
          { head: 'Behaviour', cell: ({ behaviour }) => behaviour },
        ]}
        rows={of}
        keyOf={({ situation }) => situation}
      />
    </section>
  )
}
