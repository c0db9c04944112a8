import type { FailMode, Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Id } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Link } from '../../ui/link.tsx'
import { Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { Badge } from './trail.tsx'

/** The posture now: policies, stops, environment and version. */
export function PostureCard({ of }: { of: Overview['posture'] }) {
  const { policies, killSwitch, environment, version, watching } = of
  const { digest } = policies
  return (
    <section class="card">
      <h2>In force</h2>
      <Facts
        of={{
          Policies: <Policies of={policies} />,
          Digest: digest === null ? '–' : <Id of={digest} what="the digest of the policies" />,
          Stop: <Stop of={killSwitch} />,
          Environment: environment,
          Version: version,
          'Policy files': watching
            ? 'are watched: changes come into force by themselves'
            : 'are read when somebody asks for it',
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

function Stop({ of: { active, level, scope } }: { of: Overview['posture']['killSwitch'] }) {
  if (!active) return <>none</>
  return (
    <>
      <Badge text={level ?? ''} /> <Text of={scope ?? ''} />
    </>
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
