import type { FailMode, Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Id } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Link } from '../../ui/link.tsx'
import { StopScope } from '../../ui/stop-link.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
import { Badge } from './trail.tsx'

/** The posture now: policies, stops, environment and version. */
export function PostureCard({ of }: { of: Overview['posture'] }) {
  const { policies, environment, version, watching } = of
  const { digest } = policies
  return (
    <section class="card">
      <h2>In force</h2>
      <Facts
        of={{
          Policies: <Policies of={policies} />,
          Digest: digest === null ? '–' : <Id of={digest} what="the digest of the policies" />,
          Stop: <Stop />,
          Environment: environment,
          Version: version,
          'Policy files': watching ? 'are watched: changes come into force automatically' : 'are read only on request',
        }}
      />
    </section>
  )
}

function Policies({ of: { inForce, loadedAt, current } }: { of: Overview['posture']['policies'] }) {
  const { may } = useConsole()
  return (
    <>
      {inForce ? <Badge isGood={current} text={current ? 'current' : 'not the newest'} /> : <Badge text="none" />}{' '}
      {loadedAt && (
        <>
          loaded <Ago at={loadedAt} />
        </>
      )}{' '}
      {may('listPolicies') && <Link to={addressOf(['policies'])}>Policies</Link>}
    </>
  )
}

/** As the header knows it: the figures beside it are as old as their last load. */
function Stop() {
  const { data, isKnown } = useConsole().stops
  if (!isKnown) return <>unknown</>
  const [strongest] = data?.switches ?? []
  if (strongest === undefined) return <>none</>
  return (
    <>
      <Badge text={strongest.level} /> <StopScope {...strongest} />
    </>
  )
}

/** The behaviour when something is missing or broken. */
export function FailModes({ of }: { of: readonly FailMode[] }) {
  return (
    <section class="stack tight">
      <h2>If something is missing or broken</h2>
      <p class="muted small">None of this is configurable.</p>
      <Table
        caption="Behaviour if something is missing or broken"
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
