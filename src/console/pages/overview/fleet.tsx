import type { Overview, Sidecar } from '../../../client/api.ts'
import { Id } from '../../ui/copy.tsx'
import { countText } from '../../ui/numbers.ts'
import { type Column, Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { Badge } from './trail.tsx'

type Fleet = NonNullable<Overview['fleet']>

/** The sidecars that share the store, with the policies that decide at each. */
export function FleetTable({ of: { live, sidecars, sidecarsLeftOut } }: { of: Fleet }) {
  return (
    <section class="stack tight">
      <h2>Sidecars</h2>
      <p class="muted small">
        {countText(live)} live. Sidecars that were not heard of for ten seconds stay listed for an hour.
        {sidecarsLeftOut > 0 && ` ${countText(sidecarsLeftOut)} more are not listed.`}
      </p>
      <Table
        caption="Sidecars that share the store"
        columns={COLUMNS}
        rows={sidecars}
        keyOf={({ lane }) => String(lane)}
      />
    </section>
  )
}

const COLUMNS: readonly Column<Sidecar>[] = [
  { head: 'Lane', cell: ({ lane }) => lane, class: 'number' },
  { head: 'Name', cell: (sidecar) => <Name of={sidecar} /> },
  { head: 'State', cell: (sidecar) => <State of={sidecar} /> },
  { head: 'Policies', cell: ({ policyDigest }) => <Policies digest={policyDigest} /> },
  { head: 'Version', cell: ({ version }) => <Text of={version} /> },
  { head: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
]

function Name({ of: { name, isSelf } }: { of: Sidecar }) {
  return (
    <span>
      {name === '' ? <span class="muted">none</span> : <Text of={name} />}
      {isSelf && <span class="muted"> (answers here)</span>}
    </span>
  )
}

function State({ of: { isLive, heardAt } }: { of: Sidecar }) {
  return (
    <span>
      <Badge isGood={isLive} text={isLive ? 'live' : 'dead'} /> heard <Ago at={heardAt} />
    </span>
  )
}

function Policies({ digest }: { digest: string | null }) {
  return digest === null ? <Badge text="none" /> : <Id of={digest} what="the digest of the policies" />
}
